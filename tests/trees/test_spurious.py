"""Facts of the remark on spurious acceptance: how often a wrong chain ends right."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from stepladder.errors import InputError
from stepladder.trees import (
    CausalGraph,
    MarkovChain,
    ModularSum,
    Parity,
    Recall,
    Target,
    Translation,
    acceptance,
    family_spurious_rate,
    terminal_spurious_rate,
)

HALF = Fraction(1, 2)
NUMBERS = {"parity": (0, 2, 4), "sum": (0, 1, 3), "countdown": (2, 4, 0), "causal": (0, 1, 4)}
"""A target for the trees of conftest; the others take (2, 0, 1)."""


def paths(tree):
    return [tuple(row.tolist()) for level in list(tree.chains())[1:] for row in level]


def agreement(tree, one, other):
    """P_x(f_one(x) = f_other(x)) over all inputs of the tree."""
    inputs = tree.all_inputs()
    same = tree.same(Target(tree, one).value(inputs), Target(tree, other).value(inputs))
    return Fraction(int(same.sum()), len(inputs))


@pytest.mark.parametrize("d", range(2, 6))
def test_every_wrong_path_of_parity_is_accepted_with_probability_exactly_one_half(d):
    tree = Parity(d)
    for secret, wrong in itertools.permutations(paths(tree), 2):
        rate = acceptance(Target(tree, secret), wrong)
        assert rate.exact
        assert rate.value == HALF


@pytest.mark.parametrize("alphabet", range(2, 7))
def test_every_wrong_path_of_a_sum_is_accepted_with_probability_one_over_the_alphabet(alphabet):
    tree = ModularSum(3, alphabet)
    for secret, wrong in itertools.permutations(paths(tree), 2):
        rate = acceptance(Target(tree, secret), wrong)
        assert rate.exact
        assert rate.value == Fraction(1, alphabet)


def test_the_right_path_is_always_accepted(tree):
    for path in paths(tree)[:30]:
        assert acceptance(Target(tree, path), path).value == 1


def test_acceptance_over_the_letters_read_equals_acceptance_over_whole_inputs(tree):
    secret = NUMBERS.get(tree.name, (2, 0, 1))
    for path in paths(tree):
        assert acceptance(Target(tree, secret), path).value == agreement(tree, secret, path)


def test_an_illegal_path_has_no_acceptance():
    with pytest.raises(InputError, match="back from position 2 to 1"):
        acceptance(Target(Parity(4), (0, 1)), (2, 1))


def test_a_tree_states_one_rate_for_wrong_chains_exactly_where_they_all_have_the_same(tree):
    pairs = itertools.permutations(paths(tree)[:40], 2)
    rates = {acceptance(Target(tree, secret), wrong).value for secret, wrong in pairs}
    if tree.wrong_acceptance is None:
        assert len(rates) > 1
    else:
        assert rates == {tree.wrong_acceptance}


# ---- the sampled version


@pytest.mark.parametrize(
    ("tree", "truth"), [(Parity(40), 1 / 2), (ModularSum(40, 5), 1 / 5)], ids=["parity", "sum"]
)
def test_a_path_with_too_many_letters_to_enumerate_is_sampled_and_its_interval_covers_the_truth(tree, truth):
    target, wrong = Target(tree, tuple(range(0, 24, 2))), tuple(range(1, 24, 2))
    rate = acceptance(target, wrong, seed=1)
    assert not rate.exact
    assert rate.low <= truth <= rate.high
    assert rate.high - rate.low < 0.01


def test_the_sampled_interval_misses_the_truth_no_more_often_than_its_level_allows():
    target = Target(Parity(6), (0, 1))
    misses = 0
    for seed in range(200):
        rate = acceptance(target, (2, 3), enumerate_up_to=1, samples=500, seed=seed)
        misses += not rate.low <= 0.5 <= rate.high
    # At most 5% in the long run; more than this many of 200 has probability under 1e-4.
    assert misses <= binom.ppf(1 - 1e-4, 200, 0.05)


def test_the_sampled_value_depends_on_the_seed_alone():
    target = Target(Parity(6), (0, 1))
    once, again, other = (
        acceptance(target, (2, 3), enumerate_up_to=1, samples=1000, seed=seed) for seed in (4, 4, 5)
    )
    assert once == again != other


# ---- the family oracle


@pytest.mark.parametrize(
    ("tree", "secret", "rates"),
    [
        (Parity(5), (0, 1, 3), [HALF] * 3),
        (ModularSum(5, 7), (0, 1, 3), [Fraction(1, 7)] * 3),
        (Recall(4, 3), (2, 0, 1), [Fraction(1, 3)] * 3),
        (CausalGraph(5, 4), (0, 1, 3), [Fraction(1, 4)] * 3),
        (Translation(4, 5), (2, 0, 1), [Fraction(1, 5)] * 3),
    ],
    ids=["parity", "sum", "recall", "causal", "translation"],
)
def test_a_wrong_child_passes_the_family_oracle_with_one_over_the_alphabet(tree, secret, rates):
    target = Target(tree, secret)
    assert [family_spurious_rate(target, depth).value for depth in (1, 2, 3)] == rates


def test_a_wrong_child_of_a_markov_chain_always_passes_once_the_start_is_right():
    target = Target(MarkovChain(3, alphabet=4), (2, 0, 1))
    assert [family_spurious_rate(target, depth).value for depth in (1, 2, 3)] == [Fraction(1, 4), 1, 1]


def test_where_no_wrong_child_is_legal_nothing_is_accepted():
    target = Target(Parity(3), (1, 2))
    assert family_spurious_rate(target, 2).value == 0


def test_the_family_rate_is_the_best_wrong_child_by_enumeration(tree):
    secret = NUMBERS.get(tree.name, (2, 0, 1))
    target = Target(tree, secret)
    for depth in range(1, target.k + 1):
        history = secret[: depth - 1]
        wrong = set(tree.legal(history)) - {tree.eos, secret[depth - 1]}
        best = max((agreement(tree, secret[:depth], (*history, child)) for child in wrong), default=Fraction(0))
        assert family_spurious_rate(target, depth).value == best


# ---- the terminal oracle


@pytest.mark.parametrize(("tree", "rate"), [(Parity(4), HALF), (ModularSum(4, 3), Fraction(1, 3))])
def test_after_a_wrong_child_all_suffixes_together_pass_the_terminal_oracle_like_one(tree, rate):
    target = Target(tree, (0, 1))
    assert [terminal_spurious_rate(target, depth).value for depth in (1, 2)] == [rate, rate]


def test_the_terminal_rate_is_the_accepted_part_mass_of_wrong_suffixes_by_enumeration(tree, part_law):
    secret = NUMBERS.get(tree.name, (2, 0, 1))
    target, law = Target(tree, secret), part_law(tree)
    for depth in range(1, target.k + 1):
        masses = []
        for child in set(tree.legal(secret[: depth - 1])) - {tree.eos}:
            start = (*secret[: depth - 1], child)
            below = {path: mass for path, mass in law.items() if path[:depth] == start}
            accepted = sum(
                mass * agreement(tree, secret, path) for path, mass in below.items() if path != secret
            )
            masses.append(accepted / sum(below.values()))
        assert terminal_spurious_rate(target, depth).value == max(masses)


def test_letters_too_many_to_enumerate_are_refused_rather_than_sampled():
    tree = ModularSum(3, 1 << 11)
    with pytest.raises(InputError, match="too many letters"):
        terminal_spurious_rate(Target(tree, (0, 1)), 1)


@pytest.mark.parametrize("rate", [family_spurious_rate, terminal_spurious_rate])
@pytest.mark.parametrize("depth", [0, 3])
def test_a_rate_at_a_depth_the_target_does_not_have_is_refused(rate, depth):
    with pytest.raises(InputError, match=rf"between 1 and 2, got {depth}"):
        rate(Target(Parity(4), (0, 1)), depth)


def test_a_rollout_of_a_wrong_path_is_accepted_as_often_as_acceptance_says():
    # 20,000 uniform inputs; the count of agreements lies in the central 99.9% of its binomial.
    tree = ModularSum(6, 4)
    target, wrong = Target(tree, (0, 2, 5)), (1, 2)
    inputs = tree.draw_inputs(20_000, np.random.default_rng(9))
    seen = int((target.value(inputs) == Target(tree, wrong).value(inputs)).sum())
    low, high = binom.interval(0.999, 20_000, float(acceptance(target, wrong).value))
    assert low <= seen <= high
