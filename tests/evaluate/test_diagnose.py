"""A diagnosis says what the prediction says, in words and numbers, and "no" is a normal answer."""

import pytest

from stepladder.errors import InputError
from stepladder.evaluate.diagnose import diagnose, recipe
from stepladder.evaluate.profile import Cell, Profile


def made(direct, steps, trials=4000, levels=None):
    """A profile with the given rates at the target by hint, and by level."""
    hints = [direct, *steps]
    cells = [Cell(place, 0, 1, round(rate * trials), trials) for place, rate in enumerate(levels or [])]
    top = len(levels or [])
    cells += [Cell(top, place, len(hints), round(rate * trials), trials) for place, rate in enumerate(hints)]
    return Profile("countdown", "some/model", top, 0.0, cells)


def test_a_target_out_of_reach_with_easy_steps_pays():
    found = diagnose(made(0.0005, [0.01, 0.2]))
    assert (found.verdict, found.method) == ("pays", "hint_decreasing")
    assert "times fewer" in found.reasons
    assert found.reasons.count(". ") <= 2


def test_a_model_that_already_succeeds_gets_a_no():
    found = diagnose(made(0.7, [0.8, 0.9], levels=[0.95, 0.9]))
    assert (found.verdict, found.method) == ("does not pay", "no_curriculum")
    assert "already solves 70" in found.reasons


def test_a_curriculum_that_pays_is_proposed_even_if_another_might_save_more():
    cells = [Cell(0, 0, 1, 0, 32), Cell(1, 0, 3, 1, 4096), Cell(1, 1, 3, 28, 256), Cell(1, 2, 3, 27, 256)]
    cells[1].trials, cells[1].successes = 4096, 1
    found = diagnose(Profile("countdown", "some/model", 1, 0.0, cells))
    predicted = {method: one.verdict for method, one in found.predictions.items()}
    assert predicted == {"depth_increasing": "cannot tell", "hint_decreasing": "pays"}
    assert found.predictions["depth_increasing"].ratio.value > found.predictions["hint_decreasing"].ratio.value
    assert (found.verdict, found.method) == ("pays", "hint_decreasing")


def test_nothing_seen_at_all_asks_for_more_samples_and_does_not_call_it_close():
    found = diagnose(made(0.0, [0.0, 0.0], trials=1024))
    assert found.verdict == "cannot tell"
    assert "too close" not in found.reasons
    assert found.sentence == "It cannot be told whether a curriculum pays."


@pytest.mark.parametrize("spurious", [0.0, 0.5])
@pytest.mark.parametrize("trials", [32, 4096])
def test_a_model_that_is_never_right_gets_no_verdict_however_often_it_was_asked(spurious, trials):
    profile = made(0.0, [0.0, 0.0], trials=trials, levels=[0.0, 0.0])
    profile.spurious = spurious
    found = diagnose(profile)
    assert found.verdict == "cannot tell"
    assert {one.verdict for one in found.predictions.values()} == {"cannot tell"}
    assert "not right on any step" in found.reasons


def test_a_single_step_has_no_curriculum():
    with pytest.raises(InputError, match="single step"):
        diagnose(made(0.5, []))


def test_a_recipe_has_the_options_of_the_profiled_task():
    profile = made(0.0005, [0.01, 0.2])
    profile.options = {"largest": 9}
    again = Profile.from_json(profile.to_json())
    assert recipe(again, diagnose(again))["data"]["largest"] == 9


def test_few_samples_cannot_tell_and_say_how_many_would():
    found = diagnose(made(0.05, [0.2], trials=40))
    assert found.verdict == "cannot tell"
    assert "samples a cell would tell" in found.reasons


def test_no_success_at_the_target_is_an_upper_bound_in_words():
    found = diagnose(made(0.0, [0.01, 0.2]))
    assert found.verdict == "pays"
    assert "fewer than 0.07%" in found.reasons


@pytest.mark.parametrize(
    ("profile", "order"),
    [
        (made(0.0005, [0.01, 0.2]), {"levels": "e2h_balanced", "hints": "uft_staged"}),
        (made(0.001, [0.0011, 0.0012], levels=[0.3, 0.02]), {"levels": "e2h_window"}),
        (made(0.7, [0.8, 0.9], levels=[0.95, 0.9]), {"levels": "e2h_balanced"}),
    ],
)
def test_the_recipe_follows_the_diagnosis_and_is_a_config(profile, order):
    from stepladder.posttrain.config import RunConfig

    plan = recipe(profile, diagnose(profile))
    assert plan["curriculum"] == order
    assert RunConfig.model_validate(plan).model == "some/model"


def test_the_numbers_of_the_json_are_those_of_the_prediction():
    found = diagnose(made(0.0005, [0.01, 0.2]))
    shown = found.to_json()["predictions"]["hint_decreasing"]
    one = found.predictions["hint_decreasing"]
    assert shown["samples_per_stage"] == one.curriculum.value / one.stages
    assert shown["saving"] == {"value": one.ratio.value, "low": one.ratio.low, "high": one.ratio.high}
