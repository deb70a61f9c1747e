"""What all commands share: reading lists from options, and printing for people or as one JSON object.

People's output goes to stdout through rich; with --json the command prints one JSON object instead.
Progress goes to stderr.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from stepladder.errors import InputError


class PipeConsole(Console):
    """A console that ends quietly when its reader went away, as in `stepladder ... | head`."""

    def on_broken_pipe(self) -> None:
        """Leave the ending to the command line."""
        raise BrokenPipeError


stdout = PipeConsole(highlight=False, soft_wrap=True)
stderr = Console(stderr=True, highlight=False)


def say(words: str) -> None:
    """Print words as they are: a path may hold what rich would take for markup."""
    stdout.print(words, markup=False)


def print_table(table: Table) -> None:
    """Print a table of numbers as wide as it is: a number cut in two is worse than a line that wraps."""
    natural = stdout.measure(table, options=stdout.options.update(width=1000)).maximum
    PipeConsole(file=stdout.file, width=natural, highlight=False).print(table)


def whole_numbers(text: str, option: str) -> tuple[int, ...]:
    """Read a comma-separated list of whole numbers such as 0,1,2.

    >>> whole_numbers("0,1,2", "secret")
    (0, 1, 2)
    """
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"must be whole numbers separated by commas, such as 0,1,2; got {text!r}", option=option
        ) from None


def numbers(text: str, option: str) -> tuple[float, ...]:
    """Read a comma-separated list of numbers such as 1e5,2e5."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"must be a number, or numbers separated by commas, such as 1e5; got {text!r}", option=option
        ) from None


def print_json(result: Mapping[str, Any]) -> None:
    """Print exactly one JSON object."""
    print(json.dumps(result, allow_nan=False))


def spread(values: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, Any]:
    """Return mean, standard error and values of the trials."""
    sem = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
    return {"mean": float(values.mean()), "sem": sem, "values": values.tolist()}
