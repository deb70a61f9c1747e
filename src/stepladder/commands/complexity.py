"""`stepladder complexity`: how many samples a method needs, fixed-n, and how that grows with d."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from stepladder.commands.console import print_json, stdout, whole_numbers
from stepladder.commands.progress import Bar
from stepladder.curriculum import MethodName, Scoring
from stepladder.errors import InputError, check_between
from stepladder.files import make_folder
from stepladder.finetune.complexity import FinetuneQuestion, default_secret
from stepladder.finetune.run import default_rate
from stepladder.report.complexity_figure import complexity_figure
from stepladder.report.run_folder import write_run
from stepladder.scaling import Interval, Log, Point, Question, fit_exponent, solve
from stepladder.search import SearchMethod
from stepladder.search.complexity import SearchQuestion
from stepladder.trees.catalogue import TaskName

DEFAULT_K = 2


@dataclass(frozen=True)
class Command:
    """Find the smallest n (per stage, or per arm) whose mean accuracy reaches the target, and its growth.

    Try: stepladder complexity --method depth_increasing --d 8,16,32 --k 2

    Try: stepladder complexity --method no_curriculum --d 8 --k 3 --trials 400 --out runs/complexity

    Try: stepladder complexity --method ltar --d 8,16,32 --k 2 --trials 1000

    With --out, an interrupted search resumes where it was.
    """

    method: MethodName | SearchMethod = "depth_increasing"
    """Finetuning with or without a curriculum (samples), or test-time search by bai or ltar (queries)."""
    d: str = "8,16,32"
    """Input lengths, separated by commas."""
    k: int | None = None
    """Picks of the secret 0,1,..,k-1, the hardest one; 2 by default."""
    secret: str | None = None
    """Another secret, such as 1,4,6, in place of --k."""
    target: float = 0.99
    """Mean accuracy to reach."""
    trials: int = 400
    """Independent models or searches behind each mean."""
    sweeps: int = 100
    """Rising sweeps behind the first-hit median."""
    lr: float | None = None
    """Learning rate, finetuning only; the paper's by default."""
    task: TaskName = "parity"
    """parity or sum."""
    alphabet: int | None = None
    """Letters of the input, for sum."""
    scoring: Scoring = "step"
    """Score only the step a stage adds, or all free steps; finetuning only."""
    seed: int = 0
    """Base seed."""
    out: Path | None = None
    """Folder for results, the figure, and the log that makes the search resumable."""
    json: bool = False
    """Print one JSON object instead."""

    def run(self) -> None:
        """Search every d, fit, print."""
        check_between("sweeps", self.sweeps, 1, 10**6)
        self._refuse_unused()
        questions = [self._question(d) for d in whole_numbers(self.d, "d")]
        if self.out is not None:
            make_folder(self.out)
        log = Log(self.out / "evaluations.jsonl" if self.out else None)
        with Bar("searching") as bar:
            points = [solve(question, log, self.sweeps, bar.describe) for question in questions]
        exponent = fit_exponent(points)
        tokens = fit_exponent(points, "tokens")
        summary = {
            "method": self.method,
            "task": self.task,
            "target": self.target,
            "trials": self.trials,
            "points": [_point(point) for point in points],
            "exponent": asdict(exponent) if exponent else None,
            "token_exponent": asdict(tokens) if tokens else None,
        }
        if self.out is not None:
            figure = complexity_figure(points, exponent)
            write_run(self.out, {**asdict(self), "out": str(self.out)}, summary, {"complexity": figure})
        if self.json:
            print_json(summary)
        else:
            self._show(points, exponent, tokens)

    def _refuse_unused(self) -> None:
        if self.secret is not None and self.k is not None:
            raise InputError("and --secret cannot both be given: the secret has its own length", option="k")
        if self.method in ("bai", "ltar"):
            for name, given in (("lr", self.lr is not None), ("scoring", self.scoring != "step")):
                if given:
                    raise InputError(f"is for finetuning; {self.method} has none", option=name)

    def _question(self, d: int) -> Question:
        k = DEFAULT_K if self.k is None else self.k
        secret = whole_numbers(self.secret, "secret") if self.secret else default_secret(k, d)
        if self.method == "bai" or self.method == "ltar":
            return SearchQuestion(
                method=self.method,
                task=self.task,
                d=d,
                secret=secret,
                alphabet=self.alphabet,
                target=self.target,
                trials=self.trials,
                seed=self.seed,
            )
        return FinetuneQuestion(
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

    def _show(self, points: list[Point], exponent: Interval | None, tokens: Interval | None) -> None:
        unit = "arm" if self.method in ("bai", "ltar") else "stage"
        table = Table(title=f"{self.method}: what a mean accuracy of {self.target:g} takes")
        for column in ("d", "k", f"n per {unit}", "total", "crossing \\[95%]", "first hit \\[5%, 95%]"):
            table.add_column(column, justify="right")
        for point in points:
            table.add_row(*_row(point))
        stdout.print(table)
        if exponent:
            stdout.print(f"total grows as d^{_shown(exponent)}")
        if tokens:
            stdout.print(f"tokens of the base model grow as d^{_shown(tokens)}")
        stdout.print(
            f"n per {unit}: fixed n, {self.trials} trials at each. First hit: the first success of a "
            "rising sweep with one trial at each n; it says how lucky one can get, not what is needed."
        )


def _shown(exponent: Interval) -> str:
    return f"{exponent.value:.2f} [{exponent.low:.2f}, {exponent.high:.2f}]"


def _row(point: Point) -> tuple[str, ...]:
    head = (str(point.question.d), str(point.question.k))
    if point.crossing is None or point.first_hit_range is None:
        return (*head, "not reached", "", "", "")
    low, high = point.first_hit_range
    return (
        *head,
        f"{point.size:,}",
        f"{point.total:,}",
        f"{point.crossing.value:,.0f} [{point.crossing.low:,.0f}, {point.crossing.high:,.0f}]",
        f"{point.first_hit:,} [{low:,}, {high:,}]",
    )


def _point(point: Point) -> dict[str, Any]:
    """One point for the JSON result; a search's stage is one depth, of which there are k+1."""
    search = isinstance(point.question, SearchQuestion)
    per_depth = None if point.total is None else round(point.total / (point.question.k + 1))
    result: dict[str, Any] = {
        "d": point.question.d,
        "k": point.question.k,
        "samples_per_stage": per_depth if search else point.size,
        "total_samples": point.total,
        "crossing": asdict(point.crossing) if point.crossing else None,
        "first_hit": point.first_hit,
        "first_hit_range": point.first_hit_range,
        "evaluations": point.evaluations,
    }
    if search:
        result["queries_per_arm"] = point.size
        result["tokens"] = point.tokens
    return result
