"""`stepladder finetune`: one JSON object with the promised keys, a run folder, and clear refusals."""

import importlib
import json

import pytest
import yaml

from stepladder.finetune.run import finetune

module = importlib.import_module("stepladder.commands.finetune")

KEYS = {
    "method",
    "d",
    "secret",
    "samples_per_stage",
    "total_samples",
    "lr",
    "trials",
    "engine",
    "accuracy",
    "index_accuracy",
    "seconds",
}
"""What design.md promises."""

PAPER = ("--method", "depth_increasing", "--d", 8, "--secret", "0,1,2", "--samples", 600, "--lr", "1e5")


def result(outcome):
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.count("\n") == 1
    return json.loads(outcome.out)


@pytest.mark.parametrize("engine", ["counts", "rollout"])
def test_json_is_one_object_with_the_promised_keys(run, engine):
    found = result(run("finetune", *PAPER, "--trials", 5, "--engine", engine, "--seed", 3, "--json"))
    assert found.keys() >= KEYS
    asked = {
        "method": "depth_increasing",
        "d": 8,
        "secret": [0, 1, 2],
        "lr": 1e5,
        "trials": 5,
        "engine": engine,
    }
    assert asked.items() <= found.items()
    assert (found["samples_per_stage"], found["total_samples"]) == (600, 2400)
    assert found["accuracy"].keys() == {"mean", "sem", "values"}
    values = found["accuracy"]["values"]
    assert len(values) == 5
    assert found["accuracy"]["mean"] == pytest.approx(sum(values) / 5)
    assert all(0 <= value <= 1 for value in (*values, *found["index_accuracy"]))
    assert len(found["index_accuracy"]) == 4
    assert found["seconds"] >= 0


def test_the_same_seed_prints_the_same_result_and_another_seed_another(run):
    def printed(seed):
        options = ("--samples", 60, "--lr", "1e5", "--trials", 3, "--seed", seed, "--json")
        return {**result(run("finetune", *options)), "seconds": 0}

    assert printed(1) == printed(1)
    assert printed(1) != printed(2)


def test_without_a_curriculum_there_is_one_stage(run):
    found = result(run("finetune", "--method", "no_curriculum", "--samples", 1000, "--trials", 2, "--json"))
    assert found["total_samples"] == found["samples_per_stage"] == 1000
    assert found["lr"] == 2e12


def test_small_steps_count_samples_by_update(run):
    options = ("--optimizer", "sgd", "--steps", 24, "--trials", 2, "--json")
    found = result(run("finetune", "--method", "hint_decreasing", *options))
    assert (found["lr"], found["samples_per_update"], found["samples_per_stage"]) == (0.5, 256, None)
    assert found["updates"] == [24, 24]
    assert found["mastered"] == [False, False]
    assert [step for step, _ in found["histories"][0]] == [8, 16, 24]


def test_a_rate_for_every_stage_is_taken(run):
    options = ("--lr", "1e5,2e5,3e5,4e5", "--samples", 600, "--trials", 2)
    assert result(run("finetune", *options, "--json"))["lr"] == [1e5, 2e5, 3e5, 4e5]


def test_another_task_is_learned_by_rollouts(run):
    options = ("--task", "recall", "--d", 4, "--secret", "2,0", "--engine", "rollout", "--samples", 4000)
    found = result(run("finetune", *options, "--trials", 2, "--test", 1000, "--json"))
    assert found["accuracy"]["mean"] > 0.95


def test_the_text_shows_accuracy_every_pick_and_what_it_took(run):
    outcome = run("finetune", *PAPER, "--trials", 3)
    assert (outcome.code, outcome.err) == (0, "")
    for words in ("accuracy", "greedy accuracy", "pick 1 correct", "pick 3 correct", "EOS correct"):
        assert words in outcome.out
    assert "3 trials, 2,400 samples each, engine counts" in outcome.out


def test_a_run_folder_holds_the_options_the_results_and_the_attention_maps(run, tmp_path):
    found = result(run("finetune", *PAPER, "--trials", 2, "--out", tmp_path / "run", "--json"))
    names = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert names == ["attention.png", "attention.svg", "config.yaml", "results.json"]
    assert json.loads((tmp_path / "run" / "results.json").read_text()) == found
    config = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())
    assert (config["method"], config["samples"], config["seed"]) == ("depth_increasing", 600, 0)


def test_ctrl_c_during_training_leaves_no_file(run, tmp_path, monkeypatch):
    def interrupted(*arguments, progress, **options):
        def press(done):
            raise KeyboardInterrupt

        return finetune(*arguments, progress=press, **options)

    monkeypatch.setattr(module, "finetune", interrupted)
    outcome = run("finetune", *PAPER, "--out", tmp_path / "run")
    assert outcome.code == 130
    assert outcome.err == "stepladder finetune: interrupted\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--lr", "inf"), "--lr must be positive and finite, got inf"),
        (("--lr", "nan"), "--lr must be positive and finite, got nan"),
        (("--lr", "0"), "--lr must be positive and finite, got 0"),
        (("--lr", "-1e5"), "--lr"),
        (("--lr", "fast"), "--lr must be a number"),
        (("--lr", "1,2"), "--lr needs one value or one for each of the 4 stages, got 2"),
        (("--optimizer", "adam", "--lr", "1,2"), "--lr takes one value with small steps"),
        (("--lr", "1e308", "--temperature", "0.001"), "--lr is too large: the weights overflowed"),
        (("--samples", 0), "--samples must be between 1 and 1e+15, got 0"),
        (("--samples", -5), "--samples must be between 1 and 1e+15, got -5"),
        (("--samples", 2 * 10**15), "--samples must be between 1 and 1e+15, got 2e+15"),
        (("--samples", "many"), "--samples"),
        (("--secret", "0,1,2,3,4,5,6,7,8"), "--secret [0,1,2,3,4,5,6,7,8] is too deep"),
        (("--secret", "0,8"), "--secret [0,8] picks position 8, outside 0..7"),
        (("--secret", "1,1"), "--secret [1,1] repeats position 1"),
        (("--secret", ""), "--secret is empty; give a value"),
        (("--d", 0), "--d must be between 1 and 4,096, got 0"),
        (("--engine", "magic"), "'counts', 'rollout', 'exact'"),
        (("--method", "spiral"), "'no_curriculum', 'depth_increasing', 'hint_decreasing'"),
        (("--task", "recall"), "--task recall cannot be counted"),
        (("--task", "recall", "--engine", "exact"), "or the engine rollout"),
        (("--task", "recall", "--engine", "rollout", "--test", 0), "--test 0 (exact) needs parity or sum"),
        (("--test", -1), "--test must be 0 (exact) or a number of fresh inputs, got -1"),
        (("--test", 10**20), "--test"),
        (("--trials", 0), "--trials must be between 1 and 1,000,000, got 0"),
        (("--seed", -1), "--seed must be at least 0, got -1"),
        (("--optimizer", "adam", "--steps", 0), "--steps must be between 1 and 1e+09, got 0"),
        (("--baseline", 2), "--baseline must be between 0 and 1, got 2"),
        (("--temperature", 0), "--temperature must be positive and finite, got 0"),
        (("--readout", "crystal"), "'direct', 'double_softmax'"),
        (("--alphabet", 3), "--alphabet of parity is 2, got 3; use the task sum for others"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_what_cannot_work_is_refused_with_what_would_and_nothing_is_written(
    refused, tmp_path, arguments, message
):
    assert message in refused("finetune", *arguments, "--out", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_out_that_is_a_file_is_refused(refused, tmp_path):
    (tmp_path / "file").write_text("")
    assert f"--out {tmp_path / 'file'} cannot be used as a folder" in refused(
        "finetune", "--out", tmp_path / "file"
    )
