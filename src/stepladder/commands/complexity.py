"""`stepladder complexity`: how many samples a method needs, fixed-n, and how that grows with d."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from stepladder.commands.console import print_json, stdout, whole_numbers
from stepladder.commands.progress import Bar
from stepladder.curriculum import MethodName, Scoring
from stepladder.errors import check_between
from stepladder.files import make_folder
from stepladder.finetune.complexity import (
    Interval,
    Log,
    Point,
    Question,
    default_secret,
    fit_exponent,
    solve,
)
from stepladder.finetune.flow import check_countable
from stepladder.finetune.run import default_rate
from stepladder.report.complexity_figure import complexity_figure
from stepladder.report.run_folder import write_run
from stepladder.trees.catalogue import TaskName


@dataclass(frozen=True)
class Command:
    """Find the smallest n per stage whose mean accuracy reaches the target, and its growth with d.

    Try: stepladder complexity --method depth_increasing --d 8,16,32 --k 2

    Try: stepladder complexity --method no_curriculum --d 8 --k 3 --trials 400 --out runs/complexity

    With --out, an interrupted search resumes where it was.
    """

    method: MethodName = "depth_increasing"
    """Which curriculum."""
    d: str = "8,16,32"
    """Input lengths, separated by commas."""
    k: int = 2
    """Picks of the secret 0,1,..,k-1, the hardest one."""
    secret: str | None = None
    """Another secret, such as 1,4,6; replaces --k."""
    target: float = 0.99
    """Mean accuracy to reach."""
    trials: int = 400
    """Independent models behind each mean."""
    sweeps: int = 100
    """Rising sweeps behind the first-hit median."""
    lr: float | None = None
    """Learning rate; the paper's by default."""
    task: TaskName = "parity"
    """parity or sum."""
    alphabet: int | None = None
    """Letters of the input, for sum."""
    scoring: Scoring = "step"
    """Score only the step a stage adds, or all free steps."""
    seed: int = 0
    """Base seed."""
    out: Path | None = None
    """Folder for results, the figure, and the log that makes the search resumable."""
    json: bool = False
    """Print one JSON object instead."""

    def run(self) -> None:
        """Search every d, fit, print."""
        check_between("sweeps", self.sweeps, 1, 10**6)
        questions = [self._question(d) for d in whole_numbers(self.d, "d")]
        for question in questions:
            check_countable(question.setup.target)
        if self.out is not None:
            make_folder(self.out)
        log = Log(self.out / "evaluations.jsonl" if self.out else None)
        with Bar("searching") as bar:
            points = [solve(question, log, self.sweeps, bar.describe) for question in questions]
        exponent = fit_exponent(points)
        summary = {
            "method": self.method,
            "task": self.task,
            "target": self.target,
            "trials": self.trials,
            "points": [_point(point) for point in points],
            "exponent": asdict(exponent) if exponent else None,
        }
        if self.out is not None:
            figure = complexity_figure(points, exponent)
            write_run(self.out, {**asdict(self), "out": str(self.out)}, summary, {"complexity": figure})
        if self.json:
            print_json(summary)
        else:
            self._show(points, exponent)

    def _question(self, d: int) -> Question:
        secret = whole_numbers(self.secret, "secret") if self.secret else default_secret(self.k, d)
        return Question(
            method=self.method,
            task=self.task,
            d=d,
            secret=secret,
            learning_rate=default_rate(self.method) if self.lr is None else self.lr,
            alphabet=self.alphabet,
            scoring=self.scoring,
            target=self.target,
            trials=self.trials,
            seed=self.seed,
        )

    def _show(self, points: list[Point], exponent: Interval | None) -> None:
        table = Table(title=f"{self.method}: samples to a mean accuracy of {self.target:g}")
        for column in ("d", "k", "n per stage", "total", "crossing [95%]", "first hit [5%, 95%]"):
            table.add_column(column, justify="right")
        for point in points:
            table.add_row(*_row(point))
        stdout.print(table)
        if exponent:
            stdout.print(
                f"n per stage grows as d^{exponent.value:.2f} [{exponent.low:.2f}, {exponent.high:.2f}]"
            )
        stdout.print(
            f"n per stage: fixed n, {self.trials} trials at each. First hit: the first success of a rising "
            "sweep with one trial at each n; it says how lucky one can get, not what is needed."
        )


def _row(point: Point) -> tuple[str, ...]:
    head = (str(point.question.d), str(len(point.question.secret)))
    if point.crossing is None or point.first_hit_range is None:
        return (*head, "not reached", "", "", "")
    low, high = point.first_hit_range
    return (
        *head,
        f"{point.samples_per_stage:,}",
        f"{point.total_samples:,}",
        f"{point.crossing.value:,.0f} [{point.crossing.low:,.0f}, {point.crossing.high:,.0f}]",
        f"{point.first_hit:,} [{low:,}, {high:,}]",
    )


def _point(point: Point) -> dict[str, Any]:
    return {
        "d": point.question.d,
        "k": len(point.question.secret),
        "secret": point.question.secret,
        "samples_per_stage": point.samples_per_stage,
        "total_samples": point.total_samples,
        "crossing": asdict(point.crossing) if point.crossing else None,
        "first_hit": point.first_hit,
        "first_hit_range": point.first_hit_range,
        "evaluations": point.evaluations,
    }
