"""Facts of Def. 2, Cor. 2, Thm. "PART Behavior of Parity Class" and its lemma, all exact."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.errors import InputError
from stepladder.trees import MarkovChain, Parity, Part, Recall, Target, expected_reciprocal_product
from stepladder.trees.part import reciprocal_symmetric

SIZES = [(d, k) for d in range(1, 9) for k in range(d + 1)]


def paper_probability(d: int, picks: tuple[int, ...]) -> Fraction:
    """1 / (d (d-i_1+1) ... (d-i_k+1)), with the paper's indices counted from one."""
    return Fraction(1, d * math.prod(d - (pick + 1) + 1 for pick in picks))


def harmonic(d: int, power: int = 1) -> Fraction:
    return sum((Fraction(1, t**power) for t in range(1, d + 1)), Fraction(0))


# ---- the law of a path


def test_every_legal_pick_is_equally_likely(tree):
    for level in tree.chains():
        for picks, law in zip(level, Part(tree).probabilities(level), strict=True):
            legal = tree.legal(tuple(picks))
            expected = np.zeros(tree.d + 1)
            expected[list(legal)] = 1 / len(legal)
            assert np.abs(law - expected).max() < 1e-15


def test_the_probabilities_of_all_paths_sum_to_exactly_one(tree):
    paths = [tuple(row.tolist()) for level in list(tree.chains())[1:] for row in level]
    assert sum(Part(tree).path_probability(path) for path in paths) == 1


def test_the_probability_of_a_path_is_the_one_found_by_walking_the_tree(tree, part_law):
    for path, probability in part_law(tree).items():
        assert Part(tree).path_probability(path) == probability


@pytest.mark.parametrize("d", range(1, 9))
def test_a_parity_path_has_the_probability_of_the_papers_product(d):
    part = Part(Parity(d))
    for k in range(1, d + 1):
        for picks in itertools.combinations(range(d), k):
            assert part.path_probability(picks) == paper_probability(d, picks)


@given(st.from_type(Target))
def test_the_log_probability_is_the_logarithm_of_the_probability(target):
    part = Part(target.tree)
    exact = math.log(part.path_probability(target.picks))
    assert math.isclose(part.log_probability(target.picks), exact, rel_tol=1e-12, abs_tol=1e-12)


def test_the_log_probability_of_a_long_path_does_not_underflow():
    part, picks = Part(Parity(600)), tuple(range(300))
    assert float(part.path_probability(picks)) == 0
    expected = -math.log(600) - sum(math.log(600 - pick) for pick in picks)
    assert math.isclose(part.log_probability(picks), expected, rel_tol=1e-12)


# ---- Cor. 2


def test_the_success_probabilities_are_those_of_the_subtasks_own_paths(tree, part_law):
    law = part_law(tree)
    for path in law:
        expected = tuple(law[path[:depth]] for depth in range(1, len(path) + 1))
        assert Part(tree).success_probabilities(Target(tree, path)) == expected


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_success_probability_decays_as_d_to_the_minus_depth_plus_one(depth):
    for d in (8, 32, 128, 512):
        rate = Part(Parity(d)).success_probabilities(Target(Parity(d), (0, 1, 2)))[depth - 1]
        scaled = float(rate * d ** (depth + 1))
        assert 1 <= scaled <= (d / (d - depth)) ** (depth + 1)


@given(st.from_type(Target))
def test_each_further_pick_makes_success_no_likelier(target):
    # Equal only where the further pick and the closing EOS leave no choice.
    rates = Part(target.tree).success_probabilities(target)
    assert all(later <= earlier for earlier, later in itertools.pairwise(rates))


# ---- coverage coefficients


def prefix_policy(tree, law, target, depth, ends=False):
    """pi_depth over complete paths: the prefix surely, then PART (or EOS surely)."""
    prefix = target.picks[:depth]
    if ends:
        return {path: Fraction(path == prefix) for path in law}
    below = {path: mass for path, mass in law.items() if path[:depth] == prefix}
    total = sum(below.values())
    return {path: below.get(path, Fraction(0)) / total for path in law}


def supremum_ratio(policy, base):
    assert all(base[path] > 0 for path, mass in policy.items() if mass > 0)
    return max(mass / base[path] for path, mass in policy.items() if mass > 0)


def test_coverage_is_the_supremum_of_the_density_ratio_over_all_paths(tree, part_law):
    law = part_law(tree)
    part = Part(tree)
    for path in law:
        target = Target(tree, path)
        for depth in range(target.k + 1):
            for base_depth in range(depth + 1):
                base = prefix_policy(tree, law, target, base_depth)
                for ends in (False, True) if depth else (False,):
                    policy = prefix_policy(tree, law, target, depth, ends)
                    assert part.coverage(target, depth, base_depth, ends) == supremum_ratio(policy, base)


@given(st.from_type(Target))
def test_consecutive_coverage_coefficients_differ_by_the_branching_between(target):
    part = Part(target.tree)
    branching = [len(target.tree.legal(target.picks[:depth])) for depth in range(target.k + 1)]
    for depth in range(target.k):
        assert part.coverage(target, depth + 1) == branching[depth] * part.coverage(target, depth)
        assert part.coverage(target, depth + 1, depth) == branching[depth]
    assert part.branching(target) == tuple(branching)


@given(st.from_type(Target))
def test_coverage_of_the_ended_policy_is_one_over_the_success_probability(target):
    part = Part(target.tree)
    for depth, rate in enumerate(part.success_probabilities(target), start=1):
        assert part.coverage(target, depth, ends=True) == 1 / rate


def test_one_stage_of_a_curriculum_covers_d_where_the_whole_needs_d_to_the_k_plus_one():
    for d in (16, 64, 256):
        target = Target(Parity(d), (0, 1, 2))
        part = Part(target.tree)
        stages = [part.coverage(target, depth + 1, depth) for depth in range(3)]
        assert all(d - 3 < stage <= d for stage in stages)
        assert (d - 3) ** 4 < part.coverage(target, 3, ends=True) <= d**4


@pytest.mark.parametrize(("depth", "base_depth"), [(1, 2), (4, 0), (0, -1)])
def test_coverage_between_impossible_depths_is_refused(depth, base_depth):
    with pytest.raises(InputError, match=rf"{base_depth} and {depth}"):
        Part(Parity(5)).coverage(Target(Parity(5), (0, 1, 2)), depth, base_depth)


# ---- the number of picks


def test_the_length_distribution_is_that_of_the_enumerated_paths(tree, part_law):
    lengths = [Fraction(0)] * (tree.max_depth + 1)
    for path, mass in part_law(tree).items():
        lengths[len(path)] += mass
    while not lengths[-1]:
        lengths.pop()
    assert Part(tree).length_distribution() == tuple(lengths)


@pytest.mark.parametrize(("d", "k"), [(d, k) for d, k in SIZES if k])
def test_the_probability_of_k_picks_is_the_symmetric_polynomial_over_d(d, k):
    enumerated = sum(paper_probability(d, picks) for picks in itertools.combinations(range(d), k))
    assert Part(Parity(d)).length_distribution()[k] == enumerated == reciprocal_symmetric(d, k) / d


def test_a_chain_of_no_picks_never_occurs_because_the_root_offers_no_eos(tree):
    assert Part(tree).length_distribution()[0] == 0


@pytest.mark.parametrize("d", range(1, 9))
def test_the_length_distribution_of_parity_sums_to_one(d):
    assert sum(Part(Parity(d)).length_distribution()) == 1


def test_the_length_distribution_of_a_large_tree_is_exact_without_enumerating_its_paths():
    lengths = Part(Parity(40)).length_distribution()
    assert [float(p) for p in lengths[1:]] == pytest.approx(
        [float(reciprocal_symmetric(40, k) / 40) for k in range(1, 41)], rel=1e-12
    )
    # Markov: 1/5 of the walks end at every step, EOS being one of five picks.
    walks = Part(MarkovChain(4, alphabet=60)).length_distribution()
    assert walks[1:4] == (Fraction(1, 5), Fraction(4, 25), Fraction(16, 125))


def test_a_tree_with_too_many_chains_for_an_exact_length_distribution_is_refused():
    with pytest.raises(InputError, match="too many distinct chains"):
        Part(Recall(8)).length_distribution(limit=100)


# ---- the lemma on the expected reciprocal product


@pytest.mark.parametrize(("d", "k"), SIZES)
def test_the_expected_reciprocal_product_is_the_mean_over_all_subsets(d, k):
    subsets = list(itertools.combinations(range(d), k))
    mean = sum((paper_probability(d, picks) for picks in subsets), Fraction(0)) / len(subsets)
    assert expected_reciprocal_product(d, k) == mean


@pytest.mark.parametrize("d", range(3, 9))
def test_the_lemmas_first_instances_in_harmonic_numbers_are_right(d):
    one, two, three = (harmonic(d, power) for power in (1, 2, 3))
    assert expected_reciprocal_product(d, 1) == one / d**2
    assert expected_reciprocal_product(d, 2) == (one**2 - two) / (2 * d * math.comb(d, 2))
    cubic = one**3 - 3 * one * two + 2 * three
    assert expected_reciprocal_product(d, 3) == cubic / (6 * d * math.comb(d, 3))


@given(st.integers(1, 40), st.data())
def test_maclaurins_bound_holds(d, data):
    k = data.draw(st.integers(1, d))
    assert expected_reciprocal_product(d, k) <= Fraction(1, d) * (harmonic(d) / d) ** k


@pytest.mark.parametrize(("d", "k", "named"), [(0, 0, "d"), (3, 4, "k"), (3, -1, "k")])
def test_sizes_that_make_no_subset_are_refused(d, k, named):
    with pytest.raises(InputError, match=rf"^{named}\b"):
        expected_reciprocal_product(d, k)
