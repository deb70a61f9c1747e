"""`stepladder complexity`: one JSON object with the promised keys, resumable, interruptible, clear refusals."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

QUICK = ("--method", "depth_increasing", "--d", "4,6", "--k", 2, "--trials", 20, "--sweeps", 5)


def result(outcome):
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.count("\n") == 1
    return json.loads(outcome.out)


def test_json_is_one_object_with_the_promised_keys(run):
    found = result(run("complexity", *QUICK, "--json"))
    assert found.keys() >= {"points", "exponent"}
    assert [(point["d"], point["k"]) for point in found["points"]] == [(4, 2), (6, 2)]
    for point in found["points"]:
        assert point.keys() >= {"d", "k", "samples_per_stage", "total_samples"}
        assert point["total_samples"] == 3 * point["samples_per_stage"]
        assert point["first_hit"] <= point["samples_per_stage"]
        assert point["crossing"].keys() == {"value", "low", "high"}
    assert found["exponent"].keys() == {"value", "low", "high"}
    assert found["exponent"]["low"] <= found["exponent"]["value"] <= found["exponent"]["high"]


def test_one_d_has_no_exponent_and_another_secret_replaces_k(run):
    found = result(
        run("complexity", "--d", 5, "--secret", "1,3,4", "--trials", 10, "--sweeps", 2, "--json", "--lr", "1e6")
    )
    assert found["exponent"] is None
    assert [(point["d"], point["k"]) for point in found["points"]] == [(5, 3)]


def test_the_same_seed_prints_the_same_bytes_and_another_seed_others(run):
    one, again, other = (run("complexity", *QUICK, "--seed", seed, "--json").out for seed in (1, 1, 2))
    assert one == again
    assert one != other


def test_the_text_names_both_statistics_and_says_which_one_counts(run):
    outcome = run("complexity", *QUICK)
    assert (outcome.code, outcome.err) == (0, "")
    for words in (
        "n per stage",
        "total",
        "crossing [95%]",
        "first hit [5%, 95%]",
        "grows as d^",
        "not what is needed",
    ):
        assert words in outcome.out


def test_a_target_out_of_reach_is_shown_as_not_reached(run):
    # With so small a rate nothing is learned at any n.
    options = ("--d", 4, "--trials", 2, "--sweeps", 1, "--lr", "1e-300")
    assert "not reached" in run("complexity", *options).out
    (point,) = result(run("complexity", *options, "--json"))["points"]
    assert (
        point["samples_per_stage"] is point["total_samples"] is point["crossing"] is point["first_hit"] is None
    )


def test_a_run_folder_holds_results_figure_and_log_and_a_second_run_reads_the_log(run, tmp_path, monkeypatch):
    out = tmp_path / "run"
    first = result(run("complexity", *QUICK, "--out", out, "--json"))
    names = sorted(path.name for path in out.iterdir())
    assert names == ["complexity.png", "complexity.svg", "config.yaml", "evaluations.jsonl", "results.json"]
    assert json.loads((out / "results.json").read_text()) == first

    def never(*_args):
        raise AssertionError("everything should have been in the log")

    monkeypatch.setattr("stepladder.finetune.complexity.FinetuneQuestion.accuracies", never)
    assert result(run("complexity", *QUICK, "--out", out, "--json")) == first


@pytest.mark.slow
def test_ctrl_c_leaves_a_whole_log_and_no_result_and_the_next_run_gives_the_uninterrupted_answer(run, tmp_path):
    options = ["--method", "no_curriculum", "--d", "6,8", "--k", "2", "--trials", "40", "--sweeps", "5"]
    out = tmp_path / "run"
    command = [sys.executable, "-m", "stepladder", "complexity", *options, "--out", str(out), "--json"]
    log = out / "evaluations.jsonl"
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not (log.exists() and log.read_text().count("\n") >= 3) and time.monotonic() < deadline:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGINT)
        printed, said = process.communicate(timeout=60)
    assert (process.returncode, printed) == (130, "")
    assert said == "stepladder complexity: interrupted\n"
    assert [path.name for path in out.iterdir()] == ["evaluations.jsonl"]
    before = log.read_text()
    assert all(json.loads(line).keys() == {"key", "values"} for line in before.splitlines())
    resumed = result(run("complexity", *options, "--out", out, "--json"))
    assert log.read_text().startswith(before)
    assert resumed == result(run("complexity", *options, "--json"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--lr", 0), "--lr must be positive and finite, got 0"),
        (("--lr", "nan"), "--lr must be positive and finite, got nan"),
        (("--lr", "inf"), "--lr must be positive and finite, got inf"),
        (("--d", "4,x"), "--d must be whole numbers separated by commas"),
        (("--d", ""), "--d is empty; give a value"),
        (("--d", "8,0"), "--k must be between 1 and"),
        (("--k", 4, "--d", 4), "--k must be between 1 and d-1 = 3, got 4"),
        (("--k", 0), "--k must be between 1 and"),
        (("--secret", "0,9", "--d", 8), "--secret [0,9] picks position 9, outside 0..7"),
        (("--target", 1), "--target must be between 0.5 and 0.999999, got 1"),
        (("--trials", 1), "--trials must be between 2 and 1,000,000, got 1"),
        (("--sweeps", 0), "--sweeps must be between 1 and 1,000,000, got 0"),
        (("--seed", -1), "--seed must be at least 0, got -1"),
        (("--method", "spiral"), "--method"),
        (("--task", "recall"), "--task"),
        (("--alphabet", 3), "--alphabet of parity is 2"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_what_cannot_work_is_refused_with_what_would_and_nothing_is_written(
    refused, tmp_path, arguments, message
):
    assert message in refused("complexity", *arguments, "--out", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_out_that_cannot_hold_a_log_is_refused_in_one_line(refused, tmp_path):
    (tmp_path / "file").write_text("")
    assert "--out" in refused("complexity", *QUICK, "--out", tmp_path / "file")
    (tmp_path / "taken" / "evaluations.jsonl").mkdir(parents=True)
    assert "evaluations.jsonl" in refused("complexity", *QUICK, "--out", tmp_path / "taken")
