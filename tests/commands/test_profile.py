"""`stepladder profile` and `diagnose` on a model that is known: what they print, write and refuse."""

import json

import pytest
import yaml

pytest.importorskip("trl")

from stepladder.evaluate import kit
from stepladder.evaluate.profile import Profile
from stepladder.posttrain.config import RunConfig

OPTIONS = ("sum", "--d", "6", "--secret", "0,1,2", "--alphabet", "97", "--limit", "256")


@pytest.fixture(autouse=True)
def known_model(monkeypatch, stepper_of):
    monkeypatch.setattr(kit, "completer", lambda name, task, progress=None: stepper_of(task, 0.3))


def test_a_profile_prints_every_rate_with_its_interval_and_writes_it(run, tmp_path):
    outcome = run("profile", *OPTIONS, "--out", tmp_path / "p")
    assert (outcome.code, outcome.err) == (0, "")
    assert "success rates" in outcome.out
    found = Profile.from_json(json.loads((tmp_path / "p" / "profile.json").read_text()))
    assert [cell.level for cell in found.cells] == [1, 2, 3, 4, 4, 4]
    assert (tmp_path / "p" / "samples.jsonl").exists()


def test_a_diagnosis_from_a_file_needs_no_model_and_writes_a_recipe(run, tmp_path):
    assert run("profile", *OPTIONS, "--out", tmp_path / "p").code == 0
    file = tmp_path / "p" / "profile.json"
    outcome = run("diagnose", "sum", "--profile", file, "--out", tmp_path / "d", "--json")
    found = json.loads(outcome.out)
    assert found["verdict"] in ("pays", "does not pay", "cannot tell")
    assert set(found["predictions"]) == {"depth_increasing", "hint_decreasing"}
    plan = RunConfig.model_validate(yaml.safe_load((tmp_path / "d" / "recipe.yaml").read_text()))
    assert (plan.data.d, plan.data.secret, plan.data.alphabet) == (6, (0, 1, 2), 97)
    for name in ("ladder.png", "ladder.svg", "diagnosis.json"):
        assert (tmp_path / "d" / name).stat().st_size > 0


def test_a_diagnosis_measures_by_itself_and_says_why(run):
    outcome = run("diagnose", *OPTIONS)
    assert (outcome.code, outcome.err) == (0, "")
    assert "A curriculum" in outcome.out
    assert "Predicted rollouts" in outcome.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("profile", "sum", "--level", "9"), "--level must be"),
        (("profile", "sum", "--limit", "1"), "--limit must be between 32"),
        (("profile", "countdown", "--d", "4"), "--d is not an option of countdown"),
        (("profile", "sum", "--temperature", "0"), "--temperature must be between"),
        (("diagnose", "sum", "--profile", "absent.json"), "--profile absent.json cannot be read"),
        (("diagnose", "sum", "--profile", "p.json", "--d", "4"), "--profile has its own model, level and task"),
        (("diagnose", "sum", "--profile", "p.json", "--level", "4"), "--profile has its own model, level and"),
        (("diagnose", "sum", "--level", "1"), "--level 1 is a single step"),
        (("profile", "sum", "--batch", "0"), "--batch must be between 1"),
    ],
)
def test_bad_input_is_refused_in_one_line(refused, options, message):
    assert message in refused(*options)


def test_a_profile_of_another_task_is_refused(run, refused, tmp_path):
    assert run("profile", *OPTIONS, "--out", tmp_path / "p").code == 0
    assert "is of sum, not of parity" in refused(
        "diagnose", "parity", "--profile", tmp_path / "p" / "profile.json"
    )
