"""A run: its folder, its refusals before any work, and the same results after kills and with two processes."""

import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet
import pytest
import yaml

from stepladder.cli import main
from stepladder.posttrain.config import read_config
from stepladder.posttrain.run import Run, newest_checkpoint
from stepladder.tasks.rows import write_rows

CONFIG = {
    "data": {"task": "parity", "d": 4, "secret": [0, 1], "levels": [1, 2, 3], "per_level": 12},
    "lora": None,
    "curriculum": {"levels": "e2h_cosine", "hints": "uft_binomial"},
    "grpo": {
        "max_steps": 3,
        "learning_rate": 1e-3,
        "per_device_train_batch_size": 16,
        "num_generations": 4,
        "max_completion_length": 24,
        "beta": 0.0,
        "use_cpu": True,
        "bf16": False,
        "save_steps": 2,
    },
}
TIMING = ("step_time",)
"""Columns of metrics.jsonl that differ from run to run."""


@pytest.fixture(scope="module")
def config_file(model_folder, tmp_path_factory):
    """A small run of the small model."""
    path = tmp_path_factory.mktemp("config") / "run.yaml"
    path.write_text(yaml.safe_dump({**CONFIG, "model": str(model_folder)}))
    return path


@pytest.fixture
def refused(config_file, tmp_path, capsys):
    """Run the command where it must refuse in one line, having written nothing."""

    def command(*options, out=None):
        folder = tmp_path / "runs" / "one" if out is None else out
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(SystemExit) as stop:
            main(["train", "--config", str(config_file), "--out", str(folder), *map(str, options)])
        captured = capsys.readouterr()
        assert stop.value.code == 2
        assert captured.out == ""
        assert captured.err.startswith("stepladder: train: ")
        assert captured.err.count("\n") == 1
        assert sorted(tmp_path.rglob("*")) == before
        return captured.err

    return command


def metrics(folder):
    """What was logged, but for the timing."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name not in TIMING} for line in lines]


def sampled(folder):
    """Prompts, completions and rewards of every step."""
    files = sorted((folder / "checkpoints" / "completions").glob("*.parquet"))
    return [pyarrow.parquet.read_table(file).to_pylist() for file in files]


# ---- the folder


def test_a_run_leaves_config_metrics_checkpoints_model_and_results(config_file, tmp_path):
    out = tmp_path / "runs" / "one"
    reported = []
    config = read_config(config_file, {})
    results = Run(config, out, report=lambda done, what: reported.append((done, what))).train()
    names = {path.name for path in out.iterdir()}
    assert names == {
        "config.yaml",
        "metrics.jsonl",
        "completions.jsonl",
        "checkpoints",
        "model",
        "results.json",
        "run.json",
    }
    assert read_config(out / "config.yaml", {}) == config
    assert [line["step"] for line in metrics(out)] == [1, 2, 3]
    assert json.loads((out / "results.json").read_text()) == results
    assert (results["steps"], results["rollouts"]) == (3, 48)
    assert results["tokens"] == metrics(out)[-1]["num_tokens"]
    assert results["reward"]["last"] == metrics(out)[-1]["reward"]
    assert Path(newest_checkpoint(out)).name == "checkpoint-3"
    assert reported[-1][0] == 1
    assert "step 3/3" in reported[-1][1]


def test_a_trained_model_can_be_trained_further(config_file, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    Run(read_config(config_file, {"grpo.max_steps": 1}), first).train()
    further = read_config(config_file, {"grpo.max_steps": 1, "model": str(first / "model")})
    assert Run(further, second).train()["steps"] == 1


def test_an_adapter_is_trained_and_saved_alone(config_file, tmp_path):
    adapter = {"r": 2, "alpha": 4, "dropout": 0.0, "target_modules": ["q_proj", "v_proj"]}
    Run(
        read_config(config_file, {"lora": adapter, "grpo.max_steps": 1, "grpo.beta": 0.1}), tmp_path / "out"
    ).train()
    assert (tmp_path / "out" / "model" / "adapter_model.safetensors").exists()
    assert not (tmp_path / "out" / "model" / "model.safetensors").exists()


def test_the_command_prints_what_came_out_and_takes_changes(config_file, tmp_path, capsys):
    out = tmp_path / "out"
    changes = [
        "--set",
        "grpo.learning_rate=1e-4",
        "curriculum.levels=e2h_classic",
        "--max-steps",
        "1",
        "--seed",
        "3",
    ]
    main(["train", "--config", str(config_file), "--out", str(out), "--json", *changes])
    printed = json.loads(capsys.readouterr().out)
    assert (printed["steps"], printed["out"]) == (1, str(out))
    saved = yaml.safe_load((out / "config.yaml").read_text())
    assert (saved["seed"], saved["grpo"]["learning_rate"]) == (3, 1e-4)
    assert saved["curriculum"]["levels"] == "e2h_classic"


def test_a_finished_run_that_is_resumed_stays_as_it_is(config_file, tmp_path):
    out, config = tmp_path / "out", read_config(config_file, {})
    results = Run(config, out).train()
    before = metrics(out)
    assert Run(config, out, resume=True).train() == results
    assert metrics(out) == before


# ---- refusals


def test_a_missing_file_is_refused(refused):
    assert "nowhere.jsonl cannot be read: No such file" in refused("--set", "data.source=nowhere.jsonl")


def test_levels_that_the_data_do_not_have_are_refused(refused, task, tmp_path):
    write_rows(tmp_path / "rows.jsonl", [task.generate(1, index).row() for index in range(4)])
    line = refused("--set", f"data.source={tmp_path / 'rows.jsonl'}")
    assert "--levels 2 is not in" in line
    assert "which has 1" in line


def test_levels_that_the_task_does_not_have_are_refused(refused):
    assert "--level must be 1 to 3 for parity, got 9" in refused("--set", "data.levels=[1,9]")


def test_a_model_without_a_chat_template_is_refused(refused, model_folder, tmp_path):
    folder = tmp_path / "plain"
    shutil.copytree(model_folder, folder)
    (folder / "chat_template.jinja").unlink()
    assert f"--model {folder} has no chat template" in refused("--model", folder)


def test_a_folder_without_a_model_is_refused(refused, tmp_path):
    (tmp_path / "empty").mkdir()
    assert f"--model {tmp_path / 'empty'} cannot be loaded" in refused("--model", tmp_path / "empty")


def test_generations_that_do_not_divide_the_batch_are_refused(refused):
    line = refused("--set", "grpo.num_generations=5")
    assert "generation_batch_size (16) must be divisible by num_generations (5)" in line


def test_what_trl_refuses_is_one_line_too(refused):
    assert "vLLM is not available" in refused("--set", "grpo.use_vllm=true", "grpo.vllm_mode=colocate")


def test_a_folder_that_cannot_be_written_is_refused_before_any_work(refused, tmp_path):
    (tmp_path / "file").write_text("")
    assert "cannot be used as a folder" in refused(out=tmp_path / "file")
    assert "cannot be used as a folder" in refused(out=tmp_path / "file" / "below")
    assert "cannot be" in refused(out=Path("/proc/stepladder"))


@pytest.mark.parametrize("change", ["learning", "grpo.beta=[", "grpo=3"])
def test_a_change_that_is_none_is_refused(refused, change):
    refused("--set", change)


def test_a_folder_above_the_run_that_others_use_is_left_alone(refused, tmp_path, monkeypatch):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "other").write_text("mine")
    refused("--set", "data.source=nowhere.jsonl")
    assert (tmp_path / "runs" / "other").read_text() == "mine"


def test_resuming_refuses_a_changed_config_and_names_the_fields(config_file, tmp_path, capsys):
    out = tmp_path / "out"
    command = ["train", "--config", str(config_file), "--out", str(out), "--max-steps", "1"]
    main(command)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    for more, message in [
        (
            ["--resume", "--set", "grpo.beta=0.5", "data.per_level=9"],
            "would change data.per_level, grpo.beta of",
        ),
        (["--resume", "--seed", "7"], "--resume would change seed of the run in"),
        ([], "holds a run already; add --resume, or take another folder"),
    ]:
        capsys.readouterr()
        with pytest.raises(SystemExit):
            main([*command, *more])
        assert message in capsys.readouterr().err
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


def test_resuming_nothing_is_refused(refused):
    assert "holds no run to resume" in refused("--resume")


# ---- killed, and in two processes

LONG = [
    "--set",
    "grpo.max_steps=12",
    "grpo.save_steps=3",
    "grpo.log_completions=true",
    "curriculum.levels=by_pass_rate",
]
LONG += ["curriculum.threshold=0.2", "curriculum.window=16"]


def start(spawned, config_file, out, *more):
    """Start the command in a process of its own."""
    words = ["train", "--config", str(config_file), "--out", str(out), *LONG, *more]
    process = spawned.Process(target=main, args=(words,))
    process.start()
    return process


@pytest.mark.slow
def test_a_run_killed_at_three_random_steps_ends_with_the_rows_hints_and_metrics_of_an_undisturbed_one(
    config_file, tmp_path
):
    # Children of a server that has imported everything: processes of their own that start at once.
    spawned = multiprocessing.get_context("forkserver")
    spawned.set_forkserver_preload(["stepladder.posttrain.run"])
    straight, killed = tmp_path / "straight", tmp_path / "killed"
    whole = start(spawned, config_file, straight)
    whole.join(60)
    assert whole.exitcode == 0

    steps = sorted(random.Random(8).sample(range(1, 12), 3))
    for number, step in enumerate(steps):
        process = start(spawned, config_file, killed, *(["--resume"] if number else []))
        deadline = time.monotonic() + 60
        logged = killed / "metrics.jsonl"
        while not logged.exists() or len(metrics_so_far(logged)) < step:
            assert time.monotonic() < deadline
            assert process.is_alive()
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert not (killed / "results.json").exists()
    last = start(spawned, config_file, killed, "--resume")
    last.join(60)
    assert last.exitcode == 0

    assert metrics(killed) == metrics(straight)
    assert sampled(killed) == sampled(straight)
    assert len(sampled(straight)) == 12
    kept = (straight / "completions.jsonl").read_bytes()
    assert (killed / "completions.jsonl").read_bytes() == kept
    assert kept.count(b"\n") == 12
    assert (killed / "results.json").read_bytes() == (straight / "results.json").read_bytes()
    assert metrics(straight)[-1]["curriculum/share/level_1"] < 1  # the adaptive levels moved on


def metrics_so_far(path):
    return [line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]


@pytest.mark.slow
@pytest.mark.multiprocess
def test_the_rows_of_two_processes_together_are_those_of_one(config_file, tmp_path):
    changes = ["grpo.log_completions=true", "grpo.per_device_train_batch_size=8", "curriculum.gate=drop"]
    words = ["train", "--config", config_file, "--out", tmp_path / "two", "--json", "--set", *changes]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "torch.distributed.run",
            "--standalone",
            "--nproc_per_node",
            "2",
            "-m",
            "stepladder",
            *words,
        ],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    one = ["grpo.log_completions=true", "curriculum.gate=drop"]
    main(["train", "--config", str(config_file), "--out", str(tmp_path / "one"), "--json", "--set", *one])

    def rows(folder):
        return [[row["prompt"] for row in step] for step in sampled(folder)]

    assert rows(tmp_path / "two") == rows(tmp_path / "one")
    assert [len(step) for step in rows(tmp_path / "two")] == [16, 16, 16]
    for name in ("curriculum/hint_tokens", *(f"curriculum/share/level_{level}" for level in (1, 2, 3))):
        assert [line[name] for line in metrics(tmp_path / "two")] == [
            line[name] for line in metrics(tmp_path / "one")
        ]
    # One process speaks for both.
    assert [json.loads(line)["steps"] for line in done.stdout.splitlines() if line.startswith("{")] == [3]
