"""pass@K is the share of K-subsets with a success, and nothing is made up where there are too few samples."""

import itertools
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.errors import InputError
from stepladder.evaluate.passk import bootstrap, crossed_interval, difference, in_words, pass_at_k, pass_matrix
from stepladder.scaling import Interval


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_the_estimate_is_the_share_of_all_subsets_that_hold_a_success(case):
    samples, correct, k = case
    outcomes = [True] * correct + [False] * (samples - correct)
    subsets = list(itertools.combinations(outcomes, k))
    assert pass_at_k(samples, correct, k) == pytest.approx(sum(map(any, subsets)) / len(subsets))


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_the_estimate_equals_the_formula_in_exact_fractions(case):
    samples, correct, k = case
    exact = 1 - Fraction(comb(samples - correct, k), comb(samples, k))
    assert pass_at_k(samples, correct, k) == pytest.approx(float(exact), abs=1e-9)


@pytest.mark.parametrize(("rate", "k"), [(0.05, 1), (0.05, 8), (0.3, 4)])
def test_the_estimate_is_unbiased_by_brute_force(rate, k):
    rng = np.random.default_rng(0)
    estimates = [pass_at_k(16, int(rng.binomial(16, rate)), k) for _ in range(20_000)]
    truth = 1 - (1 - rate) ** k
    assert abs(np.mean(estimates) - truth) < 4 * np.std(estimates) / np.sqrt(len(estimates))


@pytest.mark.parametrize("k", [0, -1, 65, 256])
def test_more_than_there_are_samples_is_refused_and_not_called_certain(k):
    with pytest.raises(InputError, match="64"):
        pass_at_k(64, 0, k)


def test_a_problem_without_a_success_has_pass_rate_zero_at_every_k():
    assert pass_matrix([(0, 64)], [1, 8, 64]).tolist() == [[0.0, 0.0, 0.0]]


@pytest.mark.parametrize("problems", [40, 200])
def test_the_interval_covers_the_mean_over_all_problems_in_95_percent_of_test_sets(problems):
    rng = np.random.default_rng(1)
    sets, covered = 1000, 0
    rates = rng.beta(0.6, 1.5, size=(sets, problems))
    for number in range(sets):
        values = rng.binomial(16, rates[number]) / 16
        found = bootstrap(values, seed=number)
        covered += found.low <= 0.6 / 2.1 <= found.high
    assert abs(covered / sets - 0.95) < 0.02


def test_one_problem_says_nothing_about_others():
    assert bootstrap(np.array([1.0])) == Interval(1.0, 0.0, 1.0)


def test_a_difference_is_taken_problem_by_problem():
    first, second = np.array([0.5, 1.0, 0.25]), np.array([0.25, 0.75, 0.0])
    assert difference(first, second) == Interval(0.25, 0.25, 0.25)
    with pytest.raises(InputError):
        difference(first, second[:2])


@pytest.mark.parametrize(
    ("gap", "said"),
    [
        (Interval(0.1, 0.02, 0.18), "A is better than B by 10.0 points [2.0, 18.0]"),
        (Interval(-0.1, -0.18, -0.02), "B is better than A by 10.0 points [2.0, 18.0]"),
        (Interval(0.1, -0.02, 0.18), "no difference between A and B is shown: +10.0 points [-2.0, 18.0]"),
    ],
)
def test_a_difference_is_claimed_only_where_the_interval_excludes_zero(gap, said):
    assert in_words("A", "B", gap) == said


@pytest.mark.parametrize(("seeds", "problems"), [(5, 60), (2, 30), (1, 60)])
def test_the_crossed_interval_holds_the_mean_of_new_seeds_and_problems_95_times_in_100(seeds, problems):
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(1000):
        by_seed = rng.normal(0, 0.05, (seeds, 1)) if seeds > 1 else 0.0
        cells = rng.normal(0, 0.1, (seeds, problems))
        found = crossed_interval(0.5 + by_seed + rng.normal(0, 0.2, (1, problems)) + cells)
        inside += found.low <= 0.5 <= found.high
    assert inside >= 930


def test_a_difference_on_a_single_problem_says_nothing_of_others():
    found = difference(np.array([1.0]), np.array([0.0]))
    assert (found.value, found.low, found.high) == (1.0, -1.0, 1.0)
