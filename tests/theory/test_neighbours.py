"""The two theories the paper compares itself with: E2H's condition and UFT's node count."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.errors import InputError
from stepladder.theory.neighbours import EasyToHard, NodeExploration
from stepladder.trees import ModularSum, Parity, Recall, Target

FACTORS = st.floats(0.3, 3.0)

# ---- E2H


@given(st.integers(1, 40), FACTORS, FACTORS)
def test_the_closed_form_is_the_geometric_sum_of_the_earlier_stages(stages, accuracy, sensitivity):
    step = (accuracy * sensitivity) ** 2
    explicit = math.fsum(step**-j for j in range(1, stages))
    closed = EasyToHard(stages, accuracy, sensitivity, hardness=2.0).earlier_stages
    assert closed == pytest.approx(explicit, rel=1e-6, abs=1e-12)


@given(st.integers(1, 30), st.floats(0.5, 2.0))
def test_stages_that_get_harder_by_nothing_cost_one_each(stages, accuracy):
    assert EasyToHard(stages, accuracy, 1 / accuracy, 2.0).earlier_stages == pytest.approx(stages - 1, rel=1e-6)


@given(st.integers(2, 20), st.floats(-1e-3, 1e-3))
def test_the_sum_is_continuous_where_the_closed_form_divides_by_zero(stages, off):
    near = EasyToHard(stages, 1 + off, 1.0, 2.0).earlier_stages
    assert near == pytest.approx(stages - 1, rel=3 * stages * abs(off) + 1e-6)


@given(st.integers(1, 12), FACTORS, FACTORS, st.floats(1.01, 1e3), st.floats(0.1, 1.0), st.floats(0.1, 10))
def test_the_condition_compares_the_stage_costs_of_the_theorem(stages, e, ell, hardness, last, sensitivity):
    """M_CRL = sum_k eps_k^-2 L_k^2 against M_Direct = m eps_K^-2 L_K^2, with the remark's schedules."""
    costs = [
        (last * e ** (stages - k)) ** -2 * (sensitivity / ell ** (stages - k)) ** 2
        for k in range(1, stages + 1)
    ]
    direct = hardness * costs[-1]
    found = EasyToHard(stages, e, ell, hardness)
    if not math.isclose(math.fsum(costs), direct, rel_tol=1e-6):
        assert found.pays == (math.fsum(costs) < direct)


def test_one_stage_pays_exactly_when_direct_learning_is_harder_than_it():
    assert EasyToHard(1, 2.0, 1.0, 1.001).pays
    assert not EasyToHard(1, 2.0, 1.0, 1.0).pays


def test_earlier_stages_that_cost_more_than_floating_point_holds_never_pay():
    assert EasyToHard(1000, 0.1, 0.1, 1e300).pays is False


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ((0, 1.0, 1.0, 2.0), "stages"),
        ((3, 0.0, 1.0, 2.0), "accuracy"),
        ((3, 1.0, -1.0, 2.0), "sensitivity"),
        ((3, 1.0, 1.0, 0.0), "hardness"),
        ((3, math.nan, 1.0, 2.0), "accuracy"),
    ],
)
def test_parameters_without_meaning_are_refused(options, name):
    with pytest.raises(InputError, match=f"{name} must be between"):
        EasyToHard(*options)


# ---- UFT


@pytest.mark.parametrize(
    ("target", "direct", "curriculum"),
    [
        (Target(Parity(3), (0, 1)), 3 * 3 * 2 / 2, (3 + 3 + 2) / 2),
        (Target(Parity(8), (0, 1, 2)), 8 * 8 * 7 * 6 / 2, (8 + 8 + 7 + 6) / 2),
        (Target(Parity(8), (7,)), 8 * 1 / 2, (8 + 1) / 2),
        (Target(ModularSum(5, 7), (1, 3)), 5 * 4 * 2 / 2, (5 + 4 + 2) / 2),
        (Target(Recall(4, 3), (2, 0)), 4 * 4 * 3 / 2, (4 + 4 + 3) / 2),
    ],
    ids=lambda value: f"{value.tree.name}{list(value.picks)}" if isinstance(value, Target) else None,
)
def test_half_of_all_nodes_are_explored_at_once_or_level_by_level(target, direct, curriculum):
    nodes = NodeExploration.of_target(target)
    assert (nodes.direct, nodes.curriculum) == (direct, curriculum)
    assert nodes.ratio == direct / curriculum
