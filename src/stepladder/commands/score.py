"""`stepladder score`: judge completions of a language model."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.table import Table

from stepladder.commands.console import print_json, stdout, whole_numbers
from stepladder.commands.progress import Bar
from stepladder.errors import InputError, check_seed
from stepladder.estimate import Estimate
from stepladder.tasks.catalogue import TaskName, TaskOptions, build_task
from stepladder.tasks.format import Completion
from stepladder.tasks.rows import at, load
from stepladder.tasks.task import Problem, Task, Verdict


@dataclass(frozen=True)
class Command:
    """Judge completions: is the format right, is the answer, and why not.

    A row is `id question answer level solution` and `completion`, the text that continues the assistant prefix
    "Let me solve this step by step.\\n<think>".

    Try: stepladder score countdown completions.jsonl

    Try: stepladder score math completions.jsonl --json
    """

    task: Annotated[TaskName, tyro.conf.Positional]
    """Which task."""
    file: Annotated[Path, tyro.conf.Positional]
    """A .jsonl or .parquet file with a completion in every row."""
    d: int | None = None
    """parity, sum: number of inputs; 10 by default."""
    secret: str | None = None
    """parity, sum: the secret picks; 0,1,2,3 by default."""
    alphabet: int | None = None
    """sum: the modulus; 3 by default."""
    seed: int = 0
    """Taken by every command; judging is not random."""
    json: bool = False
    """Print one JSON object instead."""

    def run(self) -> None:
        """Read everything, then judge everything."""
        check_seed(self.seed)
        secret = None if self.secret is None else whole_numbers(self.secret, "secret")
        task = build_task(self.task, TaskOptions(d=self.d, secret=secret, alphabet=self.alphabet))
        rows = _read(task, self.file)
        verdicts = []
        with Bar(f"judging {len(rows):,} completions") as bar:
            for number, (problem, completion) in enumerate(rows):
                verdicts.append(task.verify(problem, completion))
                bar.fraction((number + 1) / len(rows))
        problems = [problem for problem, _ in rows]
        if self.json:
            judged = [_row(*pair) for pair in zip(problems, verdicts, strict=True)]
            print_json({"rows": judged, "summary": _summary(verdicts)})
            return
        stdout.print(_table(self.task, problems, verdicts))
        for problem, verdict in [pair for pair in zip(problems, verdicts, strict=True) if pair[1].why][:5]:
            stdout.print(_printable(f"{problem.id}: {verdict.why}"), markup=False)


def _read(task: Task, path: Path) -> list[tuple[Problem, Completion]]:
    """Read every row before judging any, so that a bad one is told at once."""
    if path.suffix not in (".jsonl", ".parquet"):
        raise InputError(f"{path} must be a .jsonl or .parquet file")
    found: list[tuple[Problem, Completion]] = []
    for number, (place, row) in enumerate(load(path), start=1):
        with at(place):
            problem = task.read({**row, "id": f"row-{number}" if row.get("id") is None else row["id"]})
            if "completion" not in row:
                raise InputError("has no completion", option="the row")
            completion = row["completion"]
            if not isinstance(completion, str | list):
                raise InputError(f"must be text or chat messages, got {completion!r:.40}", option="completion")
            found.append((problem, completion))
    if not found:
        raise InputError(f"{path} has no rows; each needs question, answer and completion")
    return found


def _printable(text: str) -> str:
    """Return one line that every terminal takes: an id, like all of a file, may hold anything."""
    return "".join(char if char.isprintable() else "?" for char in text)


def _row(problem: Problem, verdict: Verdict) -> dict[str, Any]:
    found = {"id": problem.id, **verdict._asdict()}
    if verdict.exact_path is None:
        del found["exact_path"]
    return found


def _summary(verdicts: list[Verdict]) -> dict[str, Any]:
    """Return totals and rates; the correct rate with its 95% interval."""
    count = len(verdicts)
    correct = sum(verdict.correct for verdict in verdicts)
    rate = Estimate.proportion(correct, count)
    summary: dict[str, Any] = {
        "rows": count,
        "format_ok": sum(verdict.format_ok for verdict in verdicts),
        "correct": correct,
        "correct_rate": {"value": float(rate.value), "low": float(rate.low), "high": float(rate.high)},
        "mean_reward": sum(verdict.reward for verdict in verdicts) / count,
    }
    if verdicts[0].exact_path is not None:
        summary["exact_path"] = sum(bool(verdict.exact_path) for verdict in verdicts)
    return summary


def _table(name: str, problems: list[Problem], verdicts: list[Verdict]) -> Table:
    by_level: dict[str, list[Verdict]] = defaultdict(list)
    for problem, verdict in zip(problems, verdicts, strict=True):
        by_level["?" if problem.level is None else str(problem.level)].append(verdict)
    if len(by_level) > 1:
        by_level = {**dict(sorted(by_level.items())), "all": verdicts}
    table = Table(title=f"{name}: completions judged")
    for column in ("level", "rows", "format right", "correct", "rate [95%]", "reward"):
        table.add_column(column, justify="right")
    for level, some in by_level.items():
        found = _summary(some)
        rate = Estimate.proportion(found["correct"], found["rows"])
        cells = [found["rows"], found["format_ok"], found["correct"], rate, f"{found['mean_reward']:.4f}"]
        table.add_row(level, *map(str, cells))
    return table
