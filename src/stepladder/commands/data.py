"""`stepladder data`: make problems for a language model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from stepladder.commands.console import print_json, say, stdout, whole_numbers
from stepladder.commands.progress import Bar
from stepladder.errors import InputError, check_between, check_seed
from stepladder.tasks.catalogue import TaskName, TaskOptions, build_task
from stepladder.tasks.chain import Form
from stepladder.tasks.generate import generate_many
from stepladder.tasks.rows import check_kind, export_row, write_rows
from stepladder.tasks.task import Problem, Task


@dataclass(frozen=True)
class Command:
    """Make problems of one level, with answers and teacher steps.

    Item i depends on the seed, the level and i alone, so a longer file begins with a shorter one.

    Try: stepladder data countdown --level 0 --count 3

    Try: stepladder data blocksworld --level 2 --count 100 --out runs/blocks.jsonl

    Try: stepladder data parity --level 3 --d 8 --secret 0,1,2 --count 2
    """

    task: Annotated[TaskName, tyro.conf.Positional]
    """Which task."""
    level: int
    """Which level: 0 to 4 for countdown and blocksworld, 1 to 5 for math, 1 to k+1 for parity and sum."""
    count: int = 1
    """How many problems."""
    out: Path | None = None
    """A .jsonl or .parquet file; nothing is written without it."""
    source: str | None = None
    """math: a .jsonl or .parquet file or a data set to take problems from; a dozen built-in ones without it."""
    d: int | None = None
    """parity, sum: number of inputs; 10 by default."""
    secret: str | None = None
    """parity, sum: the secret picks; 0,1,2,3 by default."""
    alphabet: int | None = None
    """sum: the modulus; 3 by default."""
    form: Form | None = None
    """parity, sum: whether the prompt shows the inputs; visible by default."""
    seed: int = 0
    """Seed of all problems."""
    json: bool = False
    """Print one JSON object instead."""

    def run(self) -> None:
        """Generate, write and print."""
        check_seed(self.seed)
        check_between("count", self.count, 1, 10**7)
        if self.out is not None:
            check_kind(self.out)
        secret = None if self.secret is None else whole_numbers(self.secret, "secret")
        task = build_task(self.task, TaskOptions(self.source, self.d, secret, self.alphabet, self.form))
        task.check_level(self.level)
        with Bar(f"{self.task} level {self.level}") as bar:
            problems = generate_many(task, self.level, self.count, self.seed, bar.fraction)
        different = len({problem.id for problem in problems})
        if different < self.count:
            raise InputError(f"must be at most {different}, all there are of level {self.level}", "count")
        rows = [export_row(task, problem) for problem in problems]
        if self.out is not None:
            write_rows(self.out, rows)
        if self.json:
            print_json({"task": self.task, "level": self.level, "seed": self.seed, "rows": rows})
            return
        _show(task, problems[0])
        if self.out is not None:
            say(f"wrote {len(problems):,} problems to {self.out}")


def _show(task: Task, problem: Problem) -> None:
    """Print one problem as a model sees it, and the teacher's text."""
    prompt = task.prompt(problem)
    stdout.print(f"[bold]{problem.id}[/bold]")
    stdout.print(prompt.user, markup=False)
    stdout.print("[bold]the teacher[/bold]", end="")
    stdout.print(task.teacher_completion(problem), markup=False)
