"""Countdown with three methods: equal tokens, problems apart, the prediction first, and words that fit."""

import json

import pytest

pytest.importorskip("trl")

from stepladder.posttrain.countdown_experiment import BASE, Study, Trained, experiment, summary
from stepladder.posttrain.tiny import Teaching, tiny_model
from stepladder.tasks.countdown import Countdown
from stepladder.tasks.rows import read_problems

METHODS = ["no_curriculum", "depth_increasing", "hint_decreasing"]


def test_steps_are_the_budget_over_what_a_step_of_the_schedule_takes():
    study = Study(target=2, tokens=10**7)
    tokens = {0: 50.0, 1: 60.0, 2: 75.0}
    steps = {method: study.steps(method, tokens) for method in METHODS}
    assert steps["no_curriculum"] == steps["hint_decreasing"] == round(10**7 / 128 / 75)
    # The window has level 0 in all of the run, level 1 in two thirds of the cosine's way, level 2 in the rest.
    assert steps["no_curriculum"] < steps["depth_increasing"] < round(10**7 / 128 / 50)


def test_a_curriculum_may_train_on_easier_levels_and_the_others_may_not(tmp_path):
    levels = {
        method: Trained(method, 0, 1e-4, 10, 2).config(tmp_path / "train.jsonl", "tiny").data.levels
        for method in METHODS
    }
    assert levels == {"no_curriculum": (2,), "depth_increasing": (0, 1, 2), "hint_decreasing": (2,)}


def outcome(correct):
    """Ten problems of level 1, each with so many of four answers right."""
    costs = {"tokens": 1, "rollouts": 1, "seconds": 1.0}
    return {**costs, "levels": [0] + [1] * 10, "correct": [0, *correct], "samples": 4}


def test_a_difference_is_only_said_where_seeds_and_problems_agree():
    study = Study(target=1, seeds=3, samples=4)
    some = [1, 2] * 5
    outcomes = {Trained(BASE, 0, 0.0, 0, 1): outcome(some)}
    hits = {
        "no_curriculum": ([0] * 10, [4] * 10, [1] * 10),  # the seeds differ
        "depth_increasing": ([4] * 10, [3, 4] * 5, [4, 3] * 5),
        "hint_decreasing": ([4] * 2 + [1] * 8,) * 3,  # the problems differ
    }
    for method, seeds in hits.items():
        for seed, correct in enumerate(seeds):
            outcomes[Trained(method, seed, 1e-4, 9, 1)] = outcome(correct)
    predicted = dict.fromkeys(("verdict", "method", "reasons", "predictions"), "")
    found = summary(study, predicted, outcomes)
    said = [line for line in found["comparisons"] if line.startswith("pass@1 ")]
    assert "no difference between no_curriculum and base model is shown" in said[0]
    assert "depth_increasing is better than base model by 54.2 points" in said[1]
    assert "no difference between hint_decreasing and base model is shown" in said[2]
    assert found["costs"]["depth_increasing"]["tokens"] == [1, 1, 1]


@pytest.mark.slow
def test_a_small_study_predicts_first_keeps_problems_apart_and_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    task = Countdown(largest=9)
    teaching = Teaching(layers=1, hidden=48, heads=2, problems_per_level=16, steps=30, batch=16)
    study = Study(
        target=1,
        seeds=1,
        tokens=20_000,
        per_level=4,
        samples=2,
        model=str(tiny_model(task, teaching)),
        trained_per_level=8,
        profile_limit=32,
    )
    found = experiment(study, tmp_path, 2, lambda done, what: None)
    assert [cell["method"] for cell in found["cells"]] == 2 * [BASE, *METHODS]
    train, test = (
        {task.identity(problem) for problem in read_problems(task, tmp_path / f"{name}.jsonl")}
        for name in ("train", "test")
    )
    assert (len(train), len(test), len(train & test)) == (16, 8, 0)
    first = min(path.stat().st_mtime_ns for path in (tmp_path / "runs").rglob("config.yaml"))
    assert (tmp_path / "diagnosis.json").stat().st_mtime_ns < first
    tokens = [own[0] for own in (found["costs"][method]["tokens"] for method in METHODS)]
    assert max(tokens) < 1.5 * min(tokens)

    lines = (tmp_path / "runs.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "runs.jsonl").write_text("".join(lines[:-1]))
    again = experiment(study, tmp_path, 1, lambda done, what: None)
    for one in (found, again):
        for cost in one["costs"].values():
            del cost["seconds"]
    assert json.dumps(again) == json.dumps(found)
