"""The command line: `stepladder <command> [options]`.

A command is a module of `stepladder.commands` with a dataclass `Command`; only the one that is asked
for is imported, so that `--help` is instant. Bad input ends in one line on stderr and exit code 2.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import sys
from importlib.metadata import version
from typing import Any

import tyro
from rich.console import Console
from rich.table import Table

from stepladder.errors import InputError

COMMANDS = {
    "reproduce": "the paper's synthetic results, reproduced and corrected, with a report",
    "tree": "draw the reasoning tree of a task and show how rare a target is",
    "finetune": "learn a target by REINFORCE, with or without a curriculum",
    "search": "identify a target at test time from outcome feedback, by BAI or LTAR",
    "complexity": "measure how many samples or queries a method needs, and how that grows with d",
    "theory": "check the paper's claims, each next to the value that tests it",
    "data": "make problems for language models: countdown, math, blocksworld, parity, sum",
    "score": "judge completions of those problems",
    "profile": "measure how often a model succeeds, by level and by hint",
    "diagnose": "say whether a curriculum will pay for a model, and which one",
    "train": "post-train a language model by GRPO with a curriculum",
    "evaluate": "estimate pass@K of trained models and compare them",
    "report": "build a run's report again from its data",
}


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit: 0 done, 2 bad input, 130 interrupted."""
    args = sys.argv[1:] if arguments is None else arguments
    if not args or args[0] in ("-h", "--help"):
        _overview()
        return
    if args[0] in ("-V", "--version"):
        print(f"stepladder {version('stepladder')}")
        return
    name, *options = args
    if name not in COMMANDS:
        _fail(f"unknown command {name!r}; choose one of {', '.join(COMMANDS)}")
    try:
        module = importlib.import_module(f"stepladder.commands.{name}")
        _parse(module.Command, name, options).run()
    except InputError as error:
        option = f"--{error.option.replace('_', '-')} " if error.option else ""
        _fail(f"{name}: {option}{error.message}")
    except KeyboardInterrupt:
        print(f"stepladder {name}: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:
        # The reader went away, as in `stepladder ... | head`; there is nobody left to tell.
        sys.stderr.close()
        raise SystemExit(141) from None


def _parse(command: type[Any], name: str, options: list[str]) -> Any:
    """Read the options, turning tyro's boxed message into one line."""
    message = io.StringIO()
    try:
        with contextlib.redirect_stderr(message):
            return tyro.cli(command, prog=f"stepladder {name}", args=options)
    except SystemExit as stop:
        if not stop.code:
            raise
        without_title = re.sub(r"╭.*╮", "", message.getvalue())
        words = re.sub(r"[╰╯│─]+", " ", without_title).split()
        _fail(f"{name}: " + " ".join(words))


def _fail(line: str) -> None:
    print(f"stepladder: {line}", file=sys.stderr)
    raise SystemExit(2)


def _overview() -> None:
    console = Console(highlight=False)
    console.print("Curriculum post-training for reasoning: test theory, diagnose, train.\n")
    console.print("usage: stepladder COMMAND \\[options]      stepladder COMMAND --help\n")
    table = Table(box=None, show_header=False, padding=(0, 2))
    for name, summary in COMMANDS.items():
        table.add_row(f"[bold]{name}[/bold]", summary)
    console.print(table)
