"""Parity experiments: predictions come first, targets must be held, bounds are said to be bounds."""

import json

import pytest

pytest.importorskip("trl")

from stepladder.posttrain import chain_run, parity_experiment, visible_experiment
from stepladder.posttrain.chain_run import Point
from stepladder.posttrain.parity_experiment import Plan, experiment, rollouts_to, saving
from stepladder.posttrain.tiny import Teaching

SMALL = Teaching(layers=1, hidden=32, heads=2, steps=5, batch=8)


def points(*accuracies):
    return [Point(100 * place, value, 0.0, 0) for place, value in enumerate(accuracies, start=1)]


@pytest.mark.parametrize(
    ("accuracies", "reached"), [((0.5, 0.95, 0.8, 0.92, 0.99), 400), ((0.5, 0.95, 0.8), None), ((1.0,), 100)]
)
def test_a_target_counts_as_reached_only_where_it_is_held(accuracies, reached):
    assert rollouts_to(points(*accuracies), 0.9) == reached


def test_a_saving_is_a_bound_where_a_median_run_did_not_get_there():
    reached, never = [100, 200, 300], [None, None, 900]
    assert saving(reached, reached, 1000)["bound"] == ""
    assert saving(never, reached, 1000) == {
        **saving([1000, 1000, 900], reached, 1000),
        "bound": "at least",
    }
    assert saving(reached, never, 1000)["bound"] == "at most"
    assert saving([None, None, 900, 800], reached, 1000)["bound"] == "at least"  # half of the runs
    assert saving(never, never, 1000) is None


def test_the_interval_of_a_saving_holds_its_value_and_has_no_width_where_seeds_agree():
    found = saving([400, 500, 600, 700, 800], [90, 100, 110, 120, 130], 1000)
    assert found["low"] < found["value"] == 600 / 110 < found["high"]
    same = saving([500] * 5, [100] * 5, 1000)
    assert same["low"] == same["value"] == same["high"] == 5


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(chain_run, "BASE", SMALL)
    for module in (parity_experiment, visible_experiment):
        monkeypatch.setattr(module, "D", 4)


@pytest.mark.slow
def test_a_small_experiment_runs_all_methods_and_an_interrupted_one_goes_on(tmp_path, monkeypatch, small):
    monkeypatch.setattr(parity_experiment, "CHOOSING_SEEDS", (1000,))
    plan = Plan(secrets=((0, 2),), seeds=1, budget=512, rates=(1e-3,))
    told = []
    found = experiment(plan, tmp_path, 2, lambda done, what: told.append((done, what)))
    assert [cell["method"] for cell in found["cells"]] == list(parity_experiment.METHODS)
    for curve in found["curves"]:
        assert [point["rollouts"] for point in curve["points"]] == [256, 512]
    predicted = json.loads((tmp_path / "diagnoses.json").read_text())["0,2"]
    assert set(predicted) == {"path_rate", "hint_decreasing", "depth_increasing"}
    assert [one["predicted"] for one in found["savings"]] == [
        predicted[method]["saving"] for method in ("depth_increasing", "hint_decreasing")
    ]
    assert told[-1] == (1.0, "6 of 6 runs finished")

    lines = (tmp_path / "runs.jsonl").read_text().splitlines(keepends=True)
    assert len(lines) == 6
    (tmp_path / "runs.jsonl").write_text("".join(lines[:4]) + lines[4][:50])
    written = (tmp_path / "diagnoses.json").stat().st_mtime_ns
    told.clear()
    again = experiment(plan, tmp_path, 2, lambda done, what: told.append((done, what)))
    assert len((tmp_path / "runs.jsonl").read_text().splitlines()) == 6
    assert (tmp_path / "diagnoses.json").stat().st_mtime_ns == written
    assert again == found


@pytest.mark.slow
def test_visible_parity_has_an_anchored_arm_and_says_how_many_took_a_shortcut(tmp_path, small):
    plan = visible_experiment.Plan(secrets=((0, 2),), seeds=1, budget=512)
    found = visible_experiment.experiment(plan, tmp_path, 2, lambda done, what: None)
    arms = ["no_curriculum, KL", "no_curriculum", "depth_increasing", "hint_decreasing"]
    assert [cell["arm"] for cell in found["cells"]] == arms
    assert all(cell["shortcuts"] in (0, 1) for cell in found["cells"])
    assert all(len(curve["points"]) == 2 for curve in found["curves"])


def test_a_shortcut_is_a_right_answer_that_neither_the_path_nor_luck_explains():
    right, chance = Point(1, 0.99, 0.98, 0), Point(1, 0.5, 0.0, 0)
    trick, half = Point(1, 0.8, 0.0, 0), Point(1, 0.75, 0.5, 0)
    assert visible_experiment.shortcuts([[chance, trick], [trick, right], [trick, chance], [half]]) == 1
