"""Facts of Cor. 1 and its relaxed form: when stages are cheaper than learning the target directly."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.errors import InputError
from stepladder.theory.condition import CurriculumCost

COSTS = st.floats(1e-3, 1e12)
STAGES = st.lists(COSTS, min_size=1, max_size=8).map(tuple)
RATES = st.floats(1e-9, 1.0)


@given(st.floats(1.01, 1e4), st.integers(1, 8))
def test_stages_that_each_cost_the_root_save_the_factor_of_the_corollary(root, stages):
    cost = CurriculumCost(root**stages, (root,) * stages)
    assert cost.satisfies_root_condition(1 + 1e-9)
    assert cost.root == pytest.approx(root, rel=1e-9)
    assert cost.ratio == pytest.approx(root ** (stages - 1) / stages, rel=1e-9)
    assert cost.predicted_ratio == pytest.approx(cost.ratio, rel=1e-9)


@given(COSTS, STAGES)
def test_the_ratio_is_direct_cost_over_the_sum_of_the_stages(direct, stages):
    cost = CurriculumCost(direct, stages)
    assert cost.ratio == pytest.approx(direct / math.fsum(stages), rel=1e-9)
    assert (cost.ratio > 1) == (cost.total < direct)


@given(COSTS, STAGES)
def test_the_relaxed_estimate_never_exceeds_the_ratio_and_is_at_most_a_factor_of_the_stages_below(
    direct, stages
):
    cost = CurriculumCost(direct, stages)
    assert cost.predicted_ratio <= cost.ratio * (1 + 1e-12)
    assert cost.ratio <= len(stages) * cost.predicted_ratio * (1 + 1e-12)


@given(st.floats(1.5, 1e12), STAGES)
def test_every_stage_costs_the_root_to_the_power_of_its_exponent(direct, stages):
    cost = CurriculumCost(direct, stages)
    rebuilt = [cost.root**exponent for exponent in cost.exponents]
    assert rebuilt == pytest.approx(list(stages), rel=1e-6)


@given(st.floats(1.5, 1e12), STAGES)
def test_the_relaxed_estimate_is_the_papers_with_the_largest_exponent(direct, stages):
    cost = CurriculumCost(direct, stages)
    count = len(stages)
    printed = cost.root**count / (count * cost.root ** max(cost.exponents))
    assert cost.predicted_ratio == pytest.approx(printed, rel=1e-6)


@pytest.mark.parametrize("d", [8, 16, 32])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_theorem_2_satisfies_the_root_condition_with_root_d_squared(d, k):
    cost = CurriculumCost(float(d ** (2 * k + 2)), (float(d**2),) * (k + 1))
    assert cost.satisfies_root_condition(1 + 1e-9)
    assert cost.exponents == pytest.approx([1.0] * (k + 1))
    assert cost.ratio == pytest.approx(d ** (2 * k) / (k + 1))


def test_a_stage_beyond_the_factor_on_either_side_breaks_the_root_condition():
    fine = CurriculumCost(1000.0, (19.9, 10.0, 5.1))
    assert fine.satisfies_root_condition()
    assert not CurriculumCost(1000.0, (20.1, 10.0, 10.0)).satisfies_root_condition()
    assert not CurriculumCost(1000.0, (10.0, 10.0, 4.9)).satisfies_root_condition()
    assert not fine.satisfies_root_condition(1.5)


def test_one_stage_that_is_the_target_itself_gains_nothing():
    assert CurriculumCost(500.0, (500.0,)).ratio == 1


@given(RATES, st.lists(RATES, min_size=1, max_size=6))
def test_a_success_rate_costs_its_inverse(target, stages):
    cost = CurriculumCost.from_success_rates(target, stages)
    assert cost.direct == pytest.approx(1 / target)
    assert cost.stages == pytest.approx([1 / rate for rate in stages])


@given(st.lists(st.floats(0.01, 0.9), min_size=2, max_size=5))
def test_success_rates_that_multiply_up_to_the_target_make_the_direct_cost_the_product_of_the_stages(steps):
    cost = CurriculumCost.from_success_rates(math.prod(steps), steps)
    assert cost.direct == pytest.approx(math.prod(cost.stages), rel=1e-9)
    assert cost.ratio == pytest.approx(math.prod(cost.stages) / sum(cost.stages), rel=1e-9)


@pytest.mark.parametrize(
    ("direct", "stages"),
    [(0.0, (1.0,)), (-1.0, (1.0,)), (8.0, (2.0, 0.0)), (8.0, (2.0, -3.0)), (8.0, ())],
    ids=["no cost", "negative", "free stage", "negative stage", "no stage"],
)
def test_costs_that_mean_nothing_are_refused(direct, stages):
    with pytest.raises(InputError, match="costs must be positive, with at least one stage"):
        CurriculumCost(direct, stages)


@pytest.mark.parametrize(("direct", "stages"), [(math.nan, (1.0,)), (8.0, (1.0, math.nan))])
def test_a_cost_that_is_not_a_number_is_refused(direct, stages):
    with pytest.raises(InputError, match="costs must be positive"):
        CurriculumCost(direct, stages)


@pytest.mark.parametrize("rate", [0.0, -0.1, 1.1, math.nan])
def test_a_success_rate_outside_zero_to_one_is_refused(rate):
    with pytest.raises(InputError, match=r"must lie in \(0, 1\]"):
        CurriculumCost.from_success_rates(rate, [0.5])
    with pytest.raises(InputError, match=r"must lie in \(0, 1\]"):
        CurriculumCost.from_success_rates(0.5, [0.5, rate])


def test_a_direct_cost_of_one_has_no_exponents():
    with pytest.raises(InputError, match="must exceed 1"):
        CurriculumCost(1.0, (1.0, 2.0)).exponents
