"""A profile measures what the step rates say, spends what the question needs, and never reports a zero."""

import pytest

from stepladder.errors import InputError
from stepladder.evaluate.profile import ENOUGH, Profile, profile


def test_the_rates_are_those_of_the_known_model(stepper):
    found = profile(stepper(0.5), "known", limit=2048)
    assert [(cell.level, cell.slices) for cell in found.ladder("levels")] == [(1, 0), (2, 0), (3, 0), (4, 0)]
    assert [(cell.level, cell.slices) for cell in found.ladder("hints")] == [(4, 0), (4, 1), (4, 2)]
    # Level 4 is level 3 with its end, which this model never misses.
    expected = {(1, 0): 0.5, (2, 0): 0.25, (3, 0): 0.125, (4, 0): 0.125, (4, 1): 0.25, (4, 2): 0.5}
    for cell in found.cells:
        assert float(cell.rate.low) <= expected[cell.level, cell.slices] + 0.02
        assert float(cell.rate.high) >= expected[cell.level, cell.slices] - 0.02


def test_a_cell_that_is_known_well_enough_is_not_sampled_further(stepper):
    found = profile(stepper(0.5), "known", limit=4096)
    for cell in found.cells:
        assert cell.trials <= 64 or min(cell.successes, cell.trials - cell.successes) < 4 * ENOUGH


def test_a_model_that_always_fails_has_upper_bounds_and_no_zeros(stepper):
    found = profile(stepper(0.0), "hopeless", limit=64)
    for cell in found.cells:
        rate = cell.to_json()
        assert rate["successes"] <= 3  # luck only: one in 97
        assert 0 < rate["high"] < 0.2


def test_a_profile_survives_its_file(stepper):
    found = profile(stepper(0.5), "known", limit=64)
    assert Profile.from_json(found.to_json()) == found


@pytest.mark.parametrize("data", [None, {}, {"cells": [{}]}, []])
def test_what_is_no_profile_is_refused(data):
    with pytest.raises(InputError, match="is not a profile"):
        Profile.from_json(data)


def test_a_killed_profile_goes_on_to_the_same_numbers(stepper, tmp_path):
    path = tmp_path / "samples.jsonl"
    whole = profile(stepper(0.4, path), "known", limit=256)
    text = path.read_bytes()
    path.write_bytes(text[: len(text) // 2])
    assert profile(stepper(0.4, path), "known", limit=256) == whole


@pytest.mark.parametrize("limit", [0, 31])
def test_a_limit_below_the_first_round_is_refused(stepper, limit):
    with pytest.raises(InputError, match="limit"):
        profile(stepper(0.5), "known", limit=limit)
