"""Schedules: pure functions of progress that begin and end where they say and never turn back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.curriculum import constant, cosine, linear, staircase
from stepladder.errors import InputError

values = st.floats(-1e6, 1e6)
progresses = st.floats(0, 1)
ramps = st.sampled_from([linear, cosine])
schedules = st.one_of(
    st.builds(constant, values),
    st.builds(linear, values, values),
    st.builds(cosine, values, values),
    st.builds(staircase, st.lists(values, min_size=1, max_size=8)),
)


@given(schedules, st.lists(progresses, max_size=8), progresses)
def test_a_schedule_is_pure_so_a_resumed_run_sees_the_same_values(schedule, asked_before, progress):
    fresh = schedule(progress)
    for other in asked_before:
        schedule(other)
    assert schedule(progress) == fresh


@given(ramps, values, values)
def test_a_ramp_takes_exactly_its_start_and_its_end(ramp, start, end):
    assert ramp(start, end)(0.0) == start
    assert ramp(start, end)(1.0) == end


@pytest.mark.parametrize("ramp", [linear, cosine])
def test_the_papers_hint_schedule_ends_at_a_tenth_and_not_a_bit_below(ramp):
    # floor(rho m) teacher tokens are revealed: a last bit below .1 would reveal 0 of 10 instead of 1.
    assert math.floor(ramp(0.9, 0.1)(1.0) * 10) == 1


@given(ramps, values, values, progresses, progresses)
def test_a_ramp_never_turns_back_and_never_leaves_its_range(ramp, start, end, one, other):
    early, late = (ramp(start, end)(progress) for progress in sorted((one, other)))
    noise = 1e-9 * (1 + abs(start) + abs(end))
    rising = 1 if end >= start else -1
    assert rising * (late - early) >= -noise
    assert min(start, end) - noise <= early <= max(start, end) + noise


@given(schedules, st.floats(1, 10), st.floats(-10, 0))
def test_progress_outside_0_to_1_means_the_nearer_end(schedule, after, before):
    assert schedule(after) == schedule(1.0)
    assert schedule(before) == schedule(0.0)


@given(values, values)
def test_linear_and_cosine_are_half_way_at_half_time(start, end):
    half = (start + end) / 2
    noise = 1e-9 * (1 + abs(start) + abs(end))
    assert linear(start, end)(0.5) == pytest.approx(half, abs=noise)
    assert cosine(start, end)(0.5) == pytest.approx(half, abs=noise)


def test_cosine_is_half_a_cosine():
    schedule = cosine(2.0, 6.0)
    for tenth in range(11):
        assert schedule(tenth / 10) == pytest.approx(4 - 2 * math.cos(math.pi * tenth / 10), abs=1e-12)


def test_cosine_starts_and_ends_flat_where_linear_does_not():
    slow, straight = cosine(0.0, 1.0), linear(0.0, 1.0)
    assert slow(0.1) < straight(0.1) / 3
    assert 1 - slow(0.9) < (1 - straight(0.9)) / 3


@given(values, progresses)
def test_constant_stays(value, progress):
    assert constant(value)(progress) == value


@given(st.lists(values, min_size=1, max_size=9))
def test_a_staircase_gives_every_value_an_equal_span(steps):
    schedule = staircase(steps)
    seen = [schedule((2 * number + 1) / (2 * len(steps))) for number in range(len(steps))]
    assert seen == steps
    assert (schedule(0.0), schedule(1.0)) == (steps[0], steps[-1])


def test_a_staircase_does_not_follow_a_list_that_changes_later():
    steps = [3.0, 1.0]
    schedule = staircase(steps)
    steps[0] = 9.0
    assert schedule(0.0) == 3.0


def test_a_staircase_without_steps_is_refused():
    with pytest.raises(InputError, match="at least one value"):
        staircase([])
