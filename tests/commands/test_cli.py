"""Promises of the command line: help for everything, one line for bad input, 130 for Ctrl-C."""

import importlib
import os
import subprocess
import sys
from importlib.metadata import version

import pytest

from stepladder.cli import COMMANDS
from stepladder.errors import InputError

commands = pytest.mark.parametrize("command", COMMANDS)

NEEDED = {
    "report": ["folder"],
    "data": ["countdown", "--level", "0"],
    "score": ["countdown", "completions.jsonl"],
    "profile": ["parity"],
    "diagnose": ["parity"],
    "evaluate": ["run"],
    "experiment": ["hidden-parity", "--out", "folder"],
    "train": ["--config", "recipe.yaml", "--out", "run"],
}
"""Arguments without which a command cannot be asked for."""

PARTS = {"experiment": ["hidden-parity"]}
"""A part of a command that has parts, each with options of its own."""


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)], ids=str)
def test_the_overview_lists_every_command_with_what_it_does(run, arguments):
    outcome = run(*arguments)
    assert (outcome.code, outcome.err) == (0, "")
    words = " ".join(outcome.out.split())
    for name, summary in COMMANDS.items():
        assert f"{name} {summary}" in words


@commands
def test_every_command_has_help_with_an_example_and_the_options_all_share(run, command):
    outcome = run(command, *PARTS.get(command, []), "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert f"stepladder {command}" in outcome.out
    for option in ("--seed", "--json"):
        assert option in outcome.out


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_that_of_the_package(run, flag):
    assert run(flag) == (0, f"stepladder {version('stepladder')}\n", "")


def test_an_unknown_command_is_refused_with_all_commands_named(refused):
    line = refused("climb")
    assert "unknown command 'climb'" in line
    assert all(name in line for name in COMMANDS)


@commands
def test_an_unknown_option_is_refused_by_its_name(refused, command):
    assert "--bogus" in refused(command, *NEEDED.get(command, []), "--bogus", "1")


@pytest.mark.parametrize("command", ["tree", "finetune", "complexity"])
def test_an_option_without_its_value_is_refused_by_its_name(refused, command):
    assert "--secret" in refused(command, "--secret")


@commands
def test_ctrl_c_ends_a_command_with_130_and_one_line(run, command, monkeypatch):
    module = importlib.import_module(f"stepladder.commands.{command}")

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(module.Command, "run", interrupted)
    outcome = run(command, *NEEDED.get(command, []))
    assert (outcome.code, outcome.out) == (130, "")
    assert outcome.err == f"stepladder {command}: interrupted\n"


def test_an_error_names_the_option_as_it_is_typed(refused, monkeypatch):
    module = importlib.import_module("stepladder.commands.tree")

    def wrong(self):
        raise InputError("must be small, got 7", option="some_option")

    monkeypatch.setattr(module.Command, "run", wrong)
    assert refused("tree") == "stepladder: tree: --some-option must be small, got 7\n"


# ---- as a process


def process(*arguments, **options):
    command = [sys.executable, "-m", "stepladder", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


def test_a_real_process_exits_2_with_one_line_and_no_files(tmp_path):
    outcome = process("finetune", "--samples", "0", "--out", "results", cwd=tmp_path)
    assert outcome.returncode == 2
    assert outcome.stdout == ""
    assert outcome.stderr == "stepladder: finetune: --samples must be between 1 and 1e+15, got 0\n"
    assert list(tmp_path.iterdir()) == []


def test_help_does_not_wait_for_torch(tmp_path):
    # The overview is instant because a command's imports wait until it is asked for.
    code = "import sys; from stepladder.cli import main; main([]); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a POSIX shell")
@pytest.mark.parametrize("output", [["--json"], []], ids=["json", "text"])
def test_a_reader_that_went_away_ends_the_command_without_a_traceback(output):
    line = " ".join([sys.executable, "-m", "stepladder", "tree", "--d", "4", *output, "|", "true"])
    outcome = subprocess.run(
        ["bash", "-c", f"{line}; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert outcome.returncode == 141
    assert outcome.stderr == ""


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("finetune --steps 10", "--steps"),
        ("finetune --keep-training", "--keep-training"),
        ("complexity --k 2 --secret 1,2", "--k"),
        ("complexity --method bai --lr 1", "--lr"),
        ("complexity --method ltar --scoring all", "--scoring"),
        ("theory --claims --d 8", "--d"),
        ("theory --calibration --k 2", "--k"),
    ],
)
def test_an_option_that_would_change_nothing_is_refused(refused, words, option):
    assert f"{option} " in refused(*words.split())
