"""The tasks by the names the command line uses."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from stepladder.errors import InputError
from stepladder.tasks.blocksworld import Blocksworld
from stepladder.tasks.chain import Chain, Form
from stepladder.tasks.countdown import Countdown
from stepladder.tasks.math_problems import EXAMPLES, Math
from stepladder.tasks.task import Task

TaskName = Literal["countdown", "math", "blocksworld", "parity", "sum"]


@dataclass(frozen=True)
class TaskOptions:
    """What only some tasks have; None is the task's usual value."""

    source: str | None = None
    """math: a .jsonl or .parquet file, or a data set such as divelab/math; built-in problems without it."""
    d: int | None = None
    """parity, sum: number of inputs; 10 by default."""
    secret: tuple[int, ...] | None = None
    """parity, sum: the secret picks; 0,1,2,3 by default."""
    alphabet: int | None = None
    """sum: the modulus; 3 by default."""
    form: Form | None = None
    """parity, sum: whether the prompt shows the inputs; visible by default."""
    largest: int | None = None
    """countdown: the largest number of generated problems; 99 by default, less is for tiny models."""


def build_task(name: TaskName, options: TaskOptions | None = None) -> Task:
    """Build the named task, refusing options that are not its own.

    >>> build_task("countdown").levels
    (0, 1, 2, 3, 4)
    """
    given = options or TaskOptions()
    match name:
        case "countdown":
            _refuse(name, given, ("largest",))
            return Countdown() if given.largest is None else Countdown(given.largest)
        case "blocksworld":
            _refuse(name, given, ())
            return Blocksworld()
        case "math":
            _refuse(name, given, ("source",))
            return Math(given.source or Path(EXAMPLES))
        case "parity" | "sum":
            _refuse(name, given, ("d", "secret", "alphabet", "form"))
            d = 10 if given.d is None else given.d
            secret = (0, 1, 2, 3) if given.secret is None else given.secret
            return Chain(name, d, secret, given.alphabet, given.form or "visible")


def _refuse(name: str, given: TaskOptions, own: tuple[str, ...]) -> None:
    for option, value in vars(given).items():
        if value is not None and option not in own:
            raise InputError(f"is not an option of {name}", option=option)
