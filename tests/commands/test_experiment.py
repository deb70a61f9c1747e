"""`stepladder experiment`: what it prints and writes of known outcomes, and what it refuses."""

import json

import pytest
import yaml

pytest.importorskip("trl")

from stepladder.posttrain import countdown_experiment, parity_experiment, visible_experiment

METHODS = ("no_curriculum", "depth_increasing", "hint_decreasing")
POINTS = [{"rollouts": 256, "accuracy": 0.5, "exact_path": 0.0, "stage": 0}]
SAVED = {"value": 12.5, "low": 9.0, "high": 16.0, "bound": "at least"}


def ends(accuracy, reached):
    return {
        "accuracy": accuracy,
        "exact_path": accuracy,
        "rollouts_to_0.9": reached,
        "rollouts_to_0.99": [None] * len(reached),
    }


def hidden(plan, out, jobs, report):
    report(1.0, "done")
    found = ends([0.5, 0.75, 1.0], [None, 2048, 1024])
    cells = [{"secret": "0,1", "method": method, **found} for method in METHODS]
    saving = {"predicted": {"value": 3.0, "low": 1.0, "high": 9.0}, "verdict": "pays"}
    return {
        "d": 10,
        "budget": plan.budget,
        "cells": cells,
        "savings": [
            {"secret": "0,1", "method": "depth_increasing", **saving, "measured": SAVED},
            {"secret": "0,1", "method": "hint_decreasing", **saving, "measured": None},
        ],
        "curves": [{"secret": "0,1", "method": method, "seed": 0, "points": POINTS} for method in METHODS],
    }


def visible(plan, out, jobs, report):
    arm = {"secret": "0,1", "arm": "no_curriculum, KL"}
    cells = [{**arm, **ends([1.0], [512]), "shortcuts": 1}]
    curve = {**arm, "method": "no_curriculum", "seed": 0, "points": POINTS}
    return {"d": 10, "budget": plan.budget, "cells": cells, "curves": [curve]}


def countdown(study, out, jobs, report):
    values = {"value": 0.25, "low": 0.125, "high": 0.5, "seeds": [0.25, 0.25]}
    methods = ("base model", *METHODS)
    cells = [{"method": method, "level": 0, "pass_at_k": [values, values]} for method in methods]
    return {
        "target": study.target,
        "token_budget": study.tokens,
        "held_out_per_level": study.per_level,
        "k": [1, 2],
        "diagnosis": {"verdict": "pays", "reasons": "Because."},
        "costs": {method: {"tokens": [1000, 3000]} for method in METHODS},
        "cells": cells,
        "comparisons": ["no difference is shown."],
    }


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setattr(parity_experiment, "experiment", hidden)
    monkeypatch.setattr(visible_experiment, "experiment", visible)
    monkeypatch.setattr(countdown_experiment, "experiment", countdown)


def test_hidden_parity_prints_medians_with_ranges_and_savings_beside_predictions(run, tmp_path):
    outcome = run("experiment", "hidden-parity", "--out", tmp_path)
    assert (outcome.code, outcome.err) == (0, "")
    assert "0.750 [0.500, 1.000]" in outcome.out
    assert "2,048 [1,024, never]" in outcome.out
    assert "at least 12.5 [9, 16]" in outcome.out
    assert "neither got there" in outcome.out
    assert "…" not in outcome.out  # nothing is cut at 80 columns
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"config.yaml", "results.json", "tables.md", "hidden-parity.png", "hidden-parity.svg"}
    config = yaml.safe_load((tmp_path / "config.yaml").read_text())
    secrets = "0,1,2,3:1,4,6,8:0,2,5,7:0,1,2:0,1"
    assert config == {"experiment": "HiddenParity", "seeds": 5, "budget": 51200, "secrets": secrets}


def test_visible_parity_and_countdown_print_and_write_theirs(run, tmp_path):
    outcome = run("experiment", "visible-parity", "--out", tmp_path / "visible")
    assert "no_curriculum, KL" in outcome.out
    outcome = run("experiment", "countdown", "--out", tmp_path / "countdown")
    assert "25.0 [12.5, 50.0]" in outcome.out
    assert "2,000" in outcome.out
    assert "Predicted before training: pays. Because." in outcome.out
    assert "no difference is shown." in outcome.out
    assert (tmp_path / "countdown" / "countdown.png").stat().st_size > 0


def test_a_folder_of_other_runs_is_refused_and_more_seeds_are_not(run, refused, tmp_path):
    run("experiment", "countdown", "--out", tmp_path)
    before = (tmp_path / "config.yaml").read_text()
    assert "another samples" in refused("experiment", "countdown", "--out", tmp_path, "--samples", "16")
    assert "another experiment" in refused("experiment", "hidden-parity", "--out", tmp_path)
    assert (tmp_path / "config.yaml").read_text() == before
    assert run("experiment", "countdown", "--out", tmp_path, "--seeds", "6").code == 0


def test_json_is_the_results(run, tmp_path):
    outcome = run("experiment", "hidden-parity", "--out", tmp_path, "--json")
    assert json.loads(outcome.out) == json.loads((tmp_path / "results.json").read_text())


@pytest.mark.parametrize(
    ("which", "option", "value"),
    [
        ("hidden-parity", "--seeds", "0"),
        ("hidden-parity", "--jobs", "0"),
        ("hidden-parity", "--budget", "100"),
        ("visible-parity", "--secrets", "0,x"),
        ("hidden-parity", "--secrets", "3,1"),
        ("hidden-parity", "--secrets", "0,10"),
        ("countdown", "--target", "0"),
        ("countdown", "--tokens", "5"),
        ("countdown", "--budget", "51200"),
    ],
)
def test_what_cannot_be_run_is_refused_and_nothing_is_written(refused, tmp_path, which, option, value):
    assert option in refused("experiment", which, "--out", tmp_path / "new", option, value)
    assert not (tmp_path / "new").exists()
