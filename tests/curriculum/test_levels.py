"""Level schedules: the shares that the formulas of the paper and of E2H give, computed here a second time."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.curriculum.levels import (
    LevelScheduleName,
    e2h_balanced,
    e2h_classic,
    e2h_cosine,
    e2h_gaussian,
    e2h_window,
    e2h_window_printed,
    level_schedule,
)
from stepladder.errors import InputError

NAMES = LevelScheduleName.__args__
progresses = st.floats(0, 1)
counts = st.integers(1, 12)


def trained_on(schedule, levels, steps=1000):
    """The share of all rows of a run that each level gets; step t has progress t / steps."""
    totals = [0.0] * levels
    for step in range(steps):
        for level, share in enumerate(schedule(step / steps, levels)):
            totals[level] += share / steps
    return totals


@given(st.sampled_from(NAMES), progresses, counts)
def test_shares_are_never_negative_and_sum_to_one(name, progress, levels):
    weights = level_schedule(name)(progress, levels)
    assert len(weights) == levels
    assert min(weights) >= 0
    assert sum(weights) == pytest.approx(1, abs=1e-12)


@given(st.sampled_from(NAMES), st.floats(1, 5), st.floats(-5, 0), counts)
def test_progress_outside_0_to_1_means_the_nearer_end(name, after, before, levels):
    schedule = level_schedule(name)
    assert schedule(after, levels) == schedule(1.0, levels)
    assert schedule(before, levels) == schedule(0.0, levels)


@pytest.mark.parametrize("levels", [2, 3, 4, 5])
def test_the_printed_window_never_trains_on_the_last_level(levels):
    shares = trained_on(e2h_window_printed, levels)
    assert shares[-1] == 0
    assert min(shares[:-1]) > 0
    assert e2h_window_printed(1.0, levels)[-1] == pytest.approx(1 / levels)


@pytest.mark.parametrize("levels", [2, 3, 4, 5])
def test_the_corrected_window_trains_on_every_level_and_on_the_last_alike_from_its_opening(levels):
    shares = trained_on(e2h_window, levels, steps=10_000)
    # The last level opens at s(t) = (L-1)/L, and has 1/L of the rows from there on.
    opens = math.acos(1 - 2 * (levels - 1) / levels) / math.pi
    assert shares[-1] == pytest.approx((1 - opens) / levels, abs=1e-3)


@given(progresses, counts)
def test_the_window_is_the_notes_formula(progress, levels):
    s = (1 - math.cos(math.pi * progress)) / 2
    # Half a cosine is exact to a bit only.
    last = 1 + min(levels - 1, math.floor(levels * s + 1e-12))
    printed = 1 + math.floor((levels - 1) * s + 1e-12)
    assert e2h_window(progress, levels) == tuple(1 / last if n <= last else 0 for n in range(1, levels + 1))
    assert e2h_window_printed(progress, levels) == tuple(
        1 / printed if n <= printed else 0 for n in range(1, levels + 1)
    )


def test_the_papers_windows_of_four_levels_open_at_these_progresses():
    # s(t) = 1/4, 1/2, 3/4 against s(t) = 1/3, 2/3, 1.
    def opened(schedule):
        steps = [sum(weight > 0 for weight in schedule(step / 1000, 4)) for step in range(1001)]
        return [steps.index(number) for number in (2, 3, 4)]

    assert opened(e2h_window) == [334, 500, 667]
    assert opened(e2h_window_printed) == [392, 609, 1000]


@given(progresses, counts)
def test_balanced_is_no_curriculum(progress, levels):
    assert e2h_balanced(progress, levels) == (1 / levels,) * levels


@pytest.mark.parametrize("levels", [1, 2, 3, 4, 7])
def test_classic_gives_each_level_one_equal_span(levels):
    steps = 210 * levels
    seen = [e2h_classic(step / steps, levels).index(1.0) for step in range(steps)]
    assert seen == sorted(seen)
    assert [seen.count(level) for level in range(levels)] == [210] * levels


@given(progresses, st.integers(1, 8))
def test_cosine_is_e2hs_mixture(progress, levels):
    total = levels * (levels + 1) / 2
    s = (1 - math.cos(math.pi * progress)) / 2
    raw = [
        max(2 / (levels * (levels + 1)), (levels - i) / total * (1 - s) + (i + 1) / total * s)
        for i in range(levels)
    ]
    expected = [weight / sum(raw) for weight in raw]
    assert e2h_cosine(progress, levels) == pytest.approx(expected, abs=1e-12)


def test_cosine_of_three_levels_goes_from_3_2_1_to_1_2_3_sixths():
    assert e2h_cosine(0.0, 3) == pytest.approx((3 / 6, 2 / 6, 1 / 6))
    assert e2h_cosine(0.5, 3) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert e2h_cosine(1.0, 3) == pytest.approx((1 / 6, 2 / 6, 3 / 6))


@given(progresses, st.integers(2, 6), st.floats(0.2, 2), st.floats(0.2, 2), st.floats(0, 0.15))
def test_gaussian_is_a_bell_around_a_moving_mean_mixed_with_a_floor(progress, levels, mu_exp, sigma, p_min):
    mean = progress**mu_exp * (levels - 1)
    bell = [math.exp(-((i - mean) ** 2) / (2 * sigma**2)) for i in range(levels)]
    expected = [(1 - levels * p_min) * weight / sum(bell) + p_min for weight in bell]
    weights = e2h_gaussian(mu_exp, sigma, p_min)(progress, levels)
    assert weights == pytest.approx(expected, abs=1e-9)
    assert min(weights) >= p_min - 1e-12


def test_gaussian_begins_at_the_easiest_and_ends_at_the_hardest_level():
    schedule = level_schedule("e2h_gaussian")
    assert schedule(0.0, 4)[0] == max(schedule(0.0, 4))
    assert schedule(1.0, 4)[3] == max(schedule(1.0, 4))


def test_a_narrow_bell_between_two_levels_does_not_vanish():
    weights = e2h_gaussian(mu_exp=1, sigma=1e-3)(0.5, 2)
    assert weights == pytest.approx((0.5, 0.5))


def test_a_floor_that_the_levels_cannot_share_is_refused():
    with pytest.raises(InputError, match="p_min must be at most 1/4"):
        e2h_gaussian(p_min=0.3)(0.5, 4)
    with pytest.raises(InputError, match="sigma must be between"):
        e2h_gaussian(sigma=0)
