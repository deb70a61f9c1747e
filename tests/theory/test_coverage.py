"""Success rates, coverage and the cost of rejection sampling (Sec. "Success Rate and Sample Complexity")."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from stepladder.errors import InputError
from stepladder.estimate import Estimate
from stepladder.theory.coverage import SuccessRate
from stepladder.trees import ModularSum, Parity, Part, Target, TerminalOracle, rollout

RATES = st.floats(1e-6, 1 - 1e-6)


def known(rate):
    return SuccessRate(Estimate.known(rate))


def failure(rate, draws):
    """The probability that none of so many draws succeeds, exactly."""
    return (1 - Fraction(rate)) ** draws


# ---- trees


def test_coverage_is_the_largest_ratio_of_target_policy_to_base_policy_over_all_paths(tree, part_law):
    law = part_law(tree)
    for secret in law:
        ratios = [int(path == secret) / probability for path, probability in law.items()]
        coverage = SuccessRate.of_target(Target(tree, secret)).coverage
        assert coverage.exact
        assert coverage.value == pytest.approx(float(max(ratios)), rel=1e-12)


def test_the_success_rate_of_a_target_is_parts_probability_of_its_path_as_a_fraction(tree, part_law):
    for path, probability in part_law(tree).items():
        rate = SuccessRate.of_target(Target(tree, path)).rate
        assert rate == Estimate.known(probability)


# ---- the cost of rejection sampling


@given(st.fractions(Fraction(1, 500), Fraction(99, 100)), st.fractions(Fraction(1, 1000), Fraction(9, 10)))
def test_as_many_draws_as_the_cost_says_succeed_with_probability_one_minus_delta_and_fewer_do_not(rate, delta):
    cost = float(known(float(rate)).rejection_cost(float(delta)).value)
    draws = math.ceil(cost * (1 - 1e-9))
    assert failure(rate, draws) <= delta * Fraction(1 + 10**-6)
    if draws > 1:
        assert failure(rate, draws - 1) > delta * Fraction(1 - 10**-6)


@given(RATES, st.floats(1e-6, 0.5))
def test_the_rejection_cost_is_at_most_the_papers_order_and_less_by_the_success_rate_at_most(rate, delta):
    cost = float(known(rate).rejection_cost(delta).value)
    bound = math.log(1 / delta) / rate
    assert bound * (1 - rate) * (1 - 1e-9) <= cost <= max(1.0, bound) * (1 + 1e-9)


@pytest.mark.parametrize("delta", [0.5, 0.1, 0.01])
def test_drawing_from_the_base_model_succeeds_as_often_as_the_cost_promises(delta):
    # Parity d=4, secret (0,): rate 1/16. 2,000 searches of ceil(cost) draws; central 99.9% of the binomial.
    target = Target(Parity(4), (0,))
    draws = math.ceil(SuccessRate.of_target(target).rejection_cost(delta).value)
    rows = [part.follows(target) for part in rollout(Part(target.tree), 2_000 * draws, seed=3)]
    hits = np.random.default_rng(4).permutation(np.concatenate(rows)).reshape(2_000, draws)
    low, high = binom.interval(0.999, 2_000, 1 - (15 / 16) ** draws)
    assert low <= hits.any(axis=1).sum() <= high


def test_a_sure_success_costs_one_draw():
    assert known(1.0).rejection_cost(0.01).value == 1


@given(st.integers(0, 40), st.integers(1, 40), st.floats(0.001, 0.999))
def test_an_interval_of_a_cost_has_its_value_between_its_ends(successes, more, delta):
    seen = SuccessRate.measured(successes, successes + more - 1 if successes else more)
    for cost in (seen.coverage, seen.squared_margin_cost, seen.rejection_cost(delta)):
        assert cost.low <= cost.value <= cost.high


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, 1.5, math.nan])
def test_a_confidence_outside_zero_to_one_is_refused(delta):
    with pytest.raises(InputError, match="delta must lie strictly between 0 and 1"):
        known(0.5).rejection_cost(delta)


# ---- conversion


@given(RATES)
def test_telling_policies_apart_costs_the_square_of_the_coverage(rate):
    success = known(rate)
    assert success.coverage.value == pytest.approx(1 / rate)
    assert success.squared_margin_cost.value == pytest.approx(float(success.coverage.value) ** 2)


def test_the_ends_of_the_interval_change_places():
    seen = SuccessRate.measured(20, 100)
    for cost, at in ((seen.coverage, lambda p: 1 / p), (seen.squared_margin_cost, lambda p: p**-2)):
        assert (cost.low, cost.value, cost.high) == pytest.approx(
            (at(seen.rate.high), at(0.2), at(seen.rate.low))
        )
        assert not cost.exact


def test_no_success_leaves_the_cost_unbounded_above_and_bounded_below():
    coverage = SuccessRate.measured(0, 1000).coverage
    assert coverage.value == coverage.high == math.inf
    # Clopper-Pearson: no success in 1,000 trials excludes rates above 1 - 0.025^(1/1000).
    assert coverage.low == pytest.approx(1 / (1 - 0.025 ** (1 / 1000)))


# ---- measured rates


@pytest.mark.parametrize("spurious", [0.0, 0.2, 0.5])
@pytest.mark.parametrize("rate", [0.3, 0.6, 0.9])
def test_taking_out_spurious_acceptance_is_unbiased(rate, spurious):
    # The exact mean over the binomial law of 2,000 trials; no visible mass is cut off at 0 or 1.
    trials = 2_000
    seen = rate + (1 - rate) * spurious
    accepted = np.arange(trials + 1)
    mass = binom.pmf(accepted, trials, seen)
    likely = accepted[mass > 1e-15]
    values = [float(SuccessRate.measured(int(count), trials, spurious).rate.value) for count in likely]
    assert np.dot(values, mass[likely]) == pytest.approx(rate, abs=1e-9)


@pytest.mark.parametrize("spurious", [0.0, 0.5])
@pytest.mark.parametrize("rate", [0.0, 0.02, 0.3, 0.7, 1.0])
def test_the_interval_covers_the_true_rate_at_least_as_often_as_its_level_says(rate, spurious):
    trials, level = 120, 0.9
    mass = binom.pmf(np.arange(trials + 1), trials, rate + (1 - rate) * spurious)
    covered = 0.0
    for accepted, share in enumerate(mass):
        found = SuccessRate.measured(accepted, trials, spurious, level).rate
        covered += share * (found.low <= rate + 1e-12 and rate - 1e-12 <= found.high)
    assert covered >= level


@pytest.mark.parametrize("tree", [Parity(5), ModularSum(4, 3)], ids=lambda tree: tree.name)
def test_a_rate_measured_through_an_outcome_oracle_covers_the_exact_one(tree):
    # 400,000 rollouts judged by the terminal oracle, which accepts wrong chains with probability q.
    target = Target(tree, (0, 2))
    oracle = TerminalOracle(target)
    chunks = rollout(Part(tree), 400_000, seed=8)
    accepted = sum(int(oracle.judge(chunk.inputs, chunk.answers).sum()) for chunk in chunks)
    found = SuccessRate.measured(accepted, oracle.queries, float(tree.wrong_acceptance), level=0.999).rate
    exact = SuccessRate.of_target(target).rate.value
    assert found.low <= exact <= found.high
    assert found.high - found.low < exact


def test_fewer_accepted_than_luck_explains_is_a_rate_of_zero():
    found = SuccessRate.measured(480, 1000, spurious=0.5).rate
    assert found.value == found.low == 0
    assert 0 < found.high < 0.05


@pytest.mark.parametrize(("accepted", "trials"), [(5, 4), (-1, 4), (0, 0)])
def test_counts_that_are_no_proportion_are_refused(accepted, trials):
    with pytest.raises(InputError, match="is not a proportion"):
        SuccessRate.measured(accepted, trials)


@pytest.mark.parametrize("spurious", [-0.1, 1.0, math.nan])
def test_a_spurious_rate_that_leaves_nothing_to_measure_is_refused(spurious):
    with pytest.raises(InputError, match="spurious must be between 0 and"):
        SuccessRate.measured(1, 2, spurious)
