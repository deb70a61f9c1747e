"""`stepladder evaluate` on models that are known: Table 1, its files, and what it refuses."""

import json

import pytest
import yaml

pytest.importorskip("trl")

from stepladder.evaluate import kit
from stepladder.posttrain.config import read_config, resolved
from stepladder.posttrain.data import TEST_SEED
from stepladder.tasks.chain import Chain

CONFIG = {
    "data": {"task": "sum", "d": 6, "secret": [0, 1, 2], "alphabet": 97},
    "model": "known",
    "lora": None,
    "grpo": {"max_steps": 1},
}
RATES = {"known": 0.2, "none": 0.5, "depth": 0.9, "hint": 0.7}


@pytest.fixture(autouse=True)
def known_models(monkeypatch, stepper_of):
    monkeypatch.setattr(
        kit, "completer", lambda name, task, progress=None: stepper_of(task, RATES[str(name).split("/")[-1]])
    )


@pytest.fixture
def runs(tmp_path):
    orders = {"none": {}, "depth": {"levels": "e2h_window"}, "hint": {"hints": "uft_staged"}}
    for name, order in orders.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.yaml").write_text(yaml.safe_dump(CONFIG | {"curriculum": order}))
    return [tmp_path / name for name in orders]


def test_the_papers_table_comes_out_of_three_runs_and_the_base_model(run, runs, tmp_path):
    options = ("--base", "--per-level", "10", "--samples", "8", "--out", tmp_path / "table")
    outcome = run("evaluate", *runs, *options, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    found = json.loads(outcome.out)
    assert found["k"] == [1, 2, 4, 8]
    assert [row["method"] for row in found["rows"]] == [
        "base model",
        "no_curriculum",
        "depth_increasing",
        "hint_decreasing",
    ]
    averages = [row["average"]["value"] for row in found["rows"]]
    assert averages[2] == max(averages)
    assert averages[0] == min(averages)
    assert "depth_increasing is better than base model" in found["comparisons"][1]
    table = (tmp_path / "table" / "table.md").read_text()
    assert table.splitlines()[0].startswith("| task | method | K=1 | K=2 | K=4 | K=8 | average | level 1")
    assert "**" in table.splitlines()[4]
    assert (tmp_path / "table" / "passk-sum.png").stat().st_size > 0


def test_a_second_call_reads_the_samples_of_the_first(run, runs, monkeypatch):
    options = ("--per-level", "4", "--samples", "4", "--json")
    first = run("evaluate", *runs, *options).out

    def nothing(name, task, progress=None):
        class Silent:
            tokenizer = None

            def complete(self, prompts, decoding, seed):
                raise AssertionError("nothing is left to draw")

        return Silent()

    monkeypatch.setattr(kit, "completer", nothing)
    assert run("evaluate", *runs, *options).out == first


def test_every_run_keeps_its_evaluation_with_the_base_models_beside_it(run, runs):
    run("evaluate", *runs, "--base", "--per-level", "4", "--samples", "2", "--json")
    for folder, method in zip(runs, ("no_curriculum", "depth_increasing", "hint_decreasing"), strict=True):
        found = json.loads((folder / "evaluation.json").read_text())
        assert (found["task"], found["samples"]) == ("sum", 2)
        assert [one["method"] for one in found["models"]] == ["base model", method]
        for one in found["models"]:
            assert len(one["counts"]) == 4 * 4
            assert [sample["level"] for sample in one["shown"]] == [1, 1, 2, 2, 3, 3, 4, 4]


def test_a_trained_run_has_its_page_built_again(run, runs):
    rows = {"step": 1, "reward": 0.5, "curriculum/pass": 0.5, "curriculum/signal": 0.5}
    rows |= {"curriculum/hint_tokens": 0, "curriculum/share/level_1": 1.0}
    (runs[0] / "metrics.jsonl").write_text(json.dumps(rows) + "\n")
    whole = read_config(runs[0] / "config.yaml", {})
    (runs[0] / "config.yaml").write_text(resolved(whole))
    assert run("evaluate", runs[0], "--base", "--per-level", "4", "--samples", "2").code == 0
    assert "pass@K against the base model" in (runs[0] / "report.html").read_text()
    assert not (runs[1] / "report.html").exists()


def test_test_problems_that_were_trained_on_are_left_out_or_owned_up_to(run, runs):
    config = CONFIG | {"data": {"task": "parity", "d": 3, "secret": [0, 1], "per_level": 64}}
    (runs[0] / "config.yaml").write_text(yaml.safe_dump(config))
    outcome = run("evaluate", runs[0], "--per-level", "4", "--samples", "2", "--json")
    # Three bits are eight problems a level; 64 draws have trained on all of those of levels 1 and 2.
    assert "test problems were trained on or come twice: parity has too few others" in outcome.err


def test_runs_with_other_seeds_are_tested_on_problems_that_none_of_them_trained_on(run, runs, tmp_path):
    data = {"task": "parity", "d": 6, "secret": [0, 1, 2], "levels": [4], "per_level": 15}
    for seed, folder in enumerate(runs):
        (folder / "config.yaml").write_text(yaml.safe_dump(CONFIG | {"data": data, "seed": seed}))
    outcome = run("evaluate", *runs, "--levels", "4", "--per-level", "10", "--samples", "2", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    task = Chain("parity", 6, (0, 1, 2))
    trained = {task.identity(task.generate(4, index, seed)) for seed in range(3) for index in range(15)}
    asked = [json.loads((folder / "evaluation.json").read_text())["models"][0]["ids"] for folder in runs]
    assert asked[0] == asked[1] == asked[2]
    numbers = [int(name.split("-")[-1]) for name in asked[0]]
    tested = {task.identity(task.generate(4, number, TEST_SEED)) for number in numbers}
    assert len(tested) == 10
    assert not tested & trained
    # Three runs of one method are told apart by their folders.
    assert [row["method"] for row in json.loads(outcome.out)["rows"]] == ["none", "depth", "hint"]


def test_every_base_model_stands_beside_the_runs_that_started_from_it(run, runs):
    other = yaml.safe_load((runs[1] / "config.yaml").read_text()) | {"model": "hint"}
    (runs[1] / "config.yaml").write_text(yaml.safe_dump(other))
    outcome = run("evaluate", *runs, "--base", "--per-level", "2", "--samples", "2", "--json")
    names = [row["method"] for row in json.loads(outcome.out)["rows"]]
    assert names[:2] == ["base known", "base hint"]
    pages = [json.loads((folder / "evaluation.json").read_text())["models"][0]["method"] for folder in runs]
    assert pages == ["base known", "base hint", "base known"]


def test_runs_on_other_kinds_of_problems_are_refused_before_anything_is_drawn(refused, runs):
    other = yaml.safe_load((runs[1] / "config.yaml").read_text())
    other["data"]["d"] = 7
    (runs[1] / "config.yaml").write_text(yaml.safe_dump(other))
    assert "another kind of sum problems" in refused("evaluate", *runs)
    assert not (runs[0] / "samples.jsonl").exists()


@pytest.mark.parametrize("k", ["16", "0", "1,9"])
def test_a_k_beyond_the_samples_is_refused(refused, runs, k):
    assert "--k must be between 1 and the 8 samples" in refused("evaluate", *runs, "--samples", "8", "--k", k)


def test_a_folder_without_a_run_is_refused(refused, tmp_path):
    assert "is no run of `stepladder train`" in refused("evaluate", tmp_path)
