"""When a stage is over: after its planned updates, or once it is mastered."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.curriculum import AfterSteps, AtAccuracy
from stepladder.errors import InputError

accuracies = st.floats(0, 1)
counts = st.integers(0, 10_000)


def test_by_default_one_update_ends_a_stage_as_in_the_theorem():
    assert not AfterSteps().ready(updates=0, accuracy=1.0)
    assert AfterSteps().ready(updates=1, accuracy=0.0)


@given(st.integers(1, 9_000), counts, accuracies)
def test_a_planned_stage_ends_after_its_updates_whatever_the_accuracy(planned, updates, accuracy):
    assert AfterSteps(planned).ready(updates, accuracy) == (updates >= planned)


@given(accuracies, counts, accuracies)
def test_a_stage_to_be_mastered_ends_above_the_threshold_whatever_the_updates(threshold, updates, accuracy):
    assert AtAccuracy(threshold).ready(updates, accuracy) == (accuracy > threshold)


def test_by_default_a_stage_is_mastered_above_99_percent_and_not_at_it():
    assert not AtAccuracy().ready(updates=10, accuracy=0.99)
    assert AtAccuracy().ready(updates=10, accuracy=0.9901)


@pytest.mark.parametrize("updates", [0, -3])
def test_a_plan_without_updates_is_refused(updates):
    with pytest.raises(InputError, match=f"updates must be between 1 and .*, got {updates}"):
        AfterSteps(updates)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, math.nan])
def test_a_threshold_that_is_no_accuracy_is_refused(threshold):
    with pytest.raises(InputError, match="threshold must be between 0 and 1"):
        AtAccuracy(threshold)
