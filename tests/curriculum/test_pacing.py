"""Pacers: levels by plan or by pass rate, and the same again for a run that resumes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.curriculum.levels import e2h_cosine, e2h_window
from stepladder.curriculum.pacing import ByPassRate, Planned
from stepladder.errors import InputError

LEVELS, BATCHES = 4, 30
outcomes = st.lists(st.integers(0, 16), min_size=1, max_size=BATCHES)


def run(pacer, passed, begin=0, ahead=0):
    """Ask for each batch, `ahead` of what has been observed as a prefetching loader does."""
    answers = []
    for batch, number in enumerate(passed, start=begin):
        answers = [pacer.weights(one, BATCHES, LEVELS) for one in range(batch + 1 + ahead)]
        last = sum(weight > 0 for weight in answers[batch]) - 1
        pacer.observe({last: (number, 16)})
    return answers


@pytest.mark.parametrize("schedule", [e2h_window, e2h_cosine])
def test_planned_is_the_schedule_at_batch_over_batches_whatever_is_passed(schedule):
    pacer = Planned(schedule)
    for batch in (0, 7, 3, 29):
        assert pacer.weights(batch, BATCHES, LEVELS) == schedule(batch / BATCHES, LEVELS)
        pacer.observe({0: (0, 16)})
    assert pacer.state() == {}


def test_the_next_level_opens_once_the_pass_rate_over_the_window_exceeds_the_threshold():
    pacer = ByPassRate(threshold=0.5, window=32)
    run(pacer, [16])
    assert pacer.current == 0  # the window is not full
    pacer.observe({0: (0, 16)})
    assert pacer.current == 0  # half is not more than half; the window begins anew
    pacer.observe({0: (8, 16)})
    pacer.observe({0: (9, 16)})
    assert pacer.current == 1


def test_only_the_current_level_counts():
    pacer = ByPassRate(threshold=0.5, window=8)
    pacer.observe({1: (8, 8), 2: (8, 8)})
    assert pacer.current == 0
    pacer.observe({0: (8, 8)})
    pacer.observe({0: (8, 8), 2: (8, 8)})
    assert pacer.current == 1


def test_all_levels_stay_open_and_none_opens_beyond_the_last():
    pacer = ByPassRate(threshold=0.5, window=16)
    answers = run(pacer, [16] * 10)
    assert answers[0] == (1.0, 0.0, 0.0, 0.0)
    assert answers[2] == pytest.approx((1 / 3, 1 / 3, 1 / 3, 0))
    assert answers[-1] == (0.25,) * 4


@given(outcomes, outcomes, st.integers(0, 3))
def test_a_restored_pacer_repeats_its_answers_and_goes_on_as_if_nothing_had_happened(before, after, ahead):
    straight, killed = ByPassRate(0.5, 32), ByPassRate(0.5, 32)
    run(killed, before, ahead=ahead)
    saved = json.loads(json.dumps(killed.state()))
    run(killed, [16] * 8, begin=len(before), ahead=ahead)  # lost with the crash
    resumed = ByPassRate(0.5, 32)
    resumed.restore(saved)
    expected = run(straight, [*before, *after], ahead=ahead)
    assert run(resumed, after, begin=len(before), ahead=ahead) == expected
    assert resumed.state() == straight.state()


def test_a_state_does_not_change_afterwards():
    pacer = ByPassRate()
    pacer.weights(0, BATCHES, LEVELS)
    state = pacer.state()
    pacer.weights(1, BATCHES, LEVELS)
    assert state["answered"] == [0]


def test_a_batch_asked_for_out_of_turn_is_refused():
    with pytest.raises(InputError, match="batch 2 was asked for before batch 0"):
        ByPassRate().weights(2, BATCHES, LEVELS)


@pytest.mark.parametrize(("option", "value"), [("threshold", 1.5), ("window", 0)])
def test_settings_out_of_range_are_refused_by_name(option, value):
    with pytest.raises(InputError, match=f"^{option} must be between"):
        ByPassRate(**{option: value})
