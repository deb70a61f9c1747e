"""The command line: `stepladder <command> [options]`.

A command is a module of `stepladder.commands` with a dataclass `Command`; only the one that is asked
for is imported, so that `--help` is instant. Bad input ends in one line on stderr and exit code 2.
"""

from __future__ import annotations

import contextlib
import errno
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
    "experiment": "small transformers trained by GRPO, with and without a curriculum",
    "report": "build a run's report again from its data",
}


POSITIONAL = ("folder", "figures", "runs")
"""Arguments without dashes that an error may name."""


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit: 0 done, 2 bad input, 130 interrupted."""
    args = sys.argv[1:] if arguments is None else arguments
    if not args or args[0] in ("-h", "--help"):
        _overview()
        return
    if args[0] in ("-V", "--version"):
        print(f"stepladder {version('stepladder')}")
        return
    name, *options = (_whole_number(word) for word in args)
    if name not in COMMANDS:
        _fail(f"unknown command {name!r}; choose one of {', '.join(COMMANDS)}")
    if "" in options:
        before = options[options.index("") - 1] if options[0] else ""
        _fail(f"{name}: {before if before.startswith('--') else 'an argument'} is empty; give a value")
    try:
        module = importlib.import_module(f"stepladder.commands.{name}")
        _parse(module.Command, name, options).run()
    except InputError as error:
        option = f"{_as_typed(error.option)} " if error.option else ""
        _fail(f"{name}: {option}{error.message}")
    except KeyboardInterrupt:
        print(f"stepladder {name}: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:
        # The reader went away, as in `stepladder ... | head`; there is nobody left to tell.
        sys.stderr.close()
        raise SystemExit(141) from None
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _fail(f"{name}: the output cannot be written: {error.strerror}")


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
        words = " ".join(re.sub(r"[╰╯│─]+", " ", without_title).split())
        number = re.search(r"(--[\w-]+): .*?(?:from \['|base 10: ')([^']*)'", words)
        if number and "invalid literal for int" in words:
            words = f"{number[1]} must be a whole number, got {number[2]!r}"
        _fail(f"{name}: {words}")


def _whole_number(word: str) -> str:
    """Read 1e6 as 1000000, so that it is a whole number where one is asked for.

    >>> _whole_number("1e6"), _whole_number("2.5e3"), _whole_number("1e-3")
    ('1000000', '2500', '1e-3')
    """
    exponent = re.fullmatch(r"\d+(\.\d{1,2})?e\+?([2-9]|1\d)", word, re.IGNORECASE)
    return str(int(float(word))) if exponent else word


def _as_typed(option: str) -> str:
    """Name an option as it is typed; what has no dashes is named in capitals."""
    return option.upper() if option in POSITIONAL else f"--{option.replace('_', '-')}"


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
