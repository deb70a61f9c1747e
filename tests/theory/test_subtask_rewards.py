"""Lemma stepwise_grad at the base model: its branches exactly, and erratum 3 on its printed closed form."""

import itertools
from fractions import Fraction

import pytest

from stepladder.errors import InputError
from stepladder.theory.subtask_rewards import branches, printed_acceptance
from stepladder.trees import ModularSum, Parity, Part, Recall, Target, rollout
from stepladder.trees.oracles import FamilyOracle

TREES = [Parity(d) for d in range(1, 7)] + [ModularSum(d, 3) for d in range(1, 5)]


def names(tree):
    return f"{tree.name}-d{tree.d}"


def secrets(d, longest=3):
    return [s for k in range(1, min(longest, d) + 1) for s in itertools.combinations(range(d), k)]


@pytest.mark.parametrize("tree", TREES, ids=names)
def test_the_branches_are_those_of_all_paths_and_all_inputs(tree, part_law, part):
    """U_r by its definition: r picks and then EOS, ending in the value of the subtask at depth r."""
    law = part_law(tree)
    for secret in secrets(tree.d):
        for depth in range(1, len(secret) + 1):
            judged = secret[:depth]
            true = now = before = accepted = Fraction(0)
            for path, mass in law.items():
                if len(path) != depth:
                    continue
                accepted += mass * part.agreement(tree.alphabet, path, judged)
                if path == judged:
                    true += mass
                elif path[:-1] == judged[:-1]:
                    now += mass
                else:
                    before += mass
            found = branches(Target(tree, secret), depth)
            assert (found.true_path, found.deviated_now, found.deviated_before) == (true, now, before)
            assert found.accepted == accepted


@pytest.mark.parametrize("tree", TREES, ids=names)
def test_the_three_branches_together_are_the_probability_of_that_length(tree):
    lengths = Part(tree).length_distribution()
    for secret in secrets(tree.d):
        for depth in range(1, len(secret) + 1):
            found = branches(Target(tree, secret), depth)
            assert found.true_path + found.deviated_now + found.deviated_before == lengths[depth]


def test_the_true_branch_is_parts_probability_of_the_subtask():
    target = Target(Parity(9), (1, 4, 8))
    for depth, probability in enumerate(Part(target.tree).success_probabilities(target), start=1):
        assert branches(target, depth).true_path == probability


def test_rollouts_stop_with_the_subtasks_answer_as_often_as_the_branches_say():
    # 200,000 rollouts; z-test at 4.5 standard errors.
    target, depth, count = Target(ModularSum(7, 3), (1, 3, 4)), 2, 200_000
    hits = 0
    for chunk in rollout(Part(target.tree), count, seed=5):
        right = FamilyOracle(target).judge(chunk.inputs, chunk.answers, depth)
        hits += int((right & (chunk.lengths == depth)).sum())
    expected = float(branches(target, depth).accepted)
    assert abs(hits / count - expected) < 4.5 * (expected * (1 - expected) / count) ** 0.5


# ---- erratum 3


def three_terms(d, r):
    """Eq. Ur_uniform_closed in its first form, term by term."""
    before = Fraction(1)
    for s in range(1, r):
        before /= d - s + 1
    stop = Fraction(1, d - r + 1)
    return before * stop**2 + before * (d - r) * stop**2 / 2 + (1 - before) * stop / 2


@pytest.mark.parametrize("d", range(4, 9))
def test_the_printed_closed_form_is_the_papers_two_forms_of_it(d):
    for depth in range(1, d + 1):
        assert printed_acceptance(d, depth) == three_terms(d, depth)


@pytest.mark.parametrize("d", range(4, 9))
def test_the_printed_closed_form_differs_from_the_exact_value_for_every_secret(d):
    for secret in secrets(d):
        for depth in range(1, len(secret) + 1):
            assert printed_acceptance(d, depth) != branches(Target(Parity(d), secret), depth).accepted


@pytest.mark.parametrize("d", range(4, 9))
def test_the_chance_of_a_path_takes_the_positions_picked_where_the_printed_one_takes_depths(d):
    for secret in secrets(d):
        by_position = Fraction(1, d)
        for position in secret:
            by_position /= d - (position + 1) + 1
        assert branches(Target(Parity(d), secret), len(secret)).true_path == by_position


@pytest.mark.parametrize("d", range(4, 9))
def test_the_printed_chance_of_the_papers_secret_is_right_for_one_pick_only(d):
    """Its first position and its first depth are both 1; every later pick is one depth ahead."""
    for k in (1, 2, 3):
        by_depth = Fraction(1, d - k + 1)
        for s in range(1, k + 1):
            by_depth /= d - s + 1
        exact = branches(Target(Parity(d), tuple(range(k))), k).true_path
        assert (by_depth == exact) == (k == 1)


@pytest.mark.parametrize("d", [4, 8, 16, 32, 64])
def test_the_printed_value_falls_short_by_more_and_more(d):
    """The exact chance of one pick is near log(d)/(2d), the printed one near 1/(2d)."""
    ratio = branches(Target(Parity(d), (0,)), 1).accepted / printed_acceptance(d, 1)
    harmonic = sum(Fraction(1, t) for t in range(1, d + 1))
    assert ratio == (harmonic + Fraction(1, d)) / (1 + Fraction(1, d))


# ---- refused


@pytest.mark.parametrize("depth", [0, 3])
def test_a_depth_the_target_does_not_have_is_refused(depth):
    with pytest.raises(InputError, match="depth must be between 1 and 2"):
        branches(Target(Parity(5), (0, 1)), depth)


def test_a_tree_whose_wrong_chains_differ_in_acceptance_is_refused():
    with pytest.raises(InputError, match="wrong chains"):
        branches(Target(Recall(4, 3), (0, 1)), 1)


def test_the_printed_form_is_refused_beyond_d():
    with pytest.raises(InputError, match="depth must be between 1 and 4"):
        printed_acceptance(4, 5)
