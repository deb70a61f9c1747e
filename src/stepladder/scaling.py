"""How much does a method need? Fixed-n first, the lucky first hit beside it.

A question has a size n (samples per stage, or queries per arm) and answers with accuracies of trials.

    n99       the smallest n of the grid 2^(i/2) whose mean accuracy over the trials reaches the target and
              still does at the next grid point
    crossing  where the mean accuracy crosses the target, log-linear between grid points, with a bootstrap
              interval over the trials
    first hit the first n at which one fresh trial of a rising sweep reaches the target; the sweep goes up
              by 2^(1/8), about 9%, at a time
    exponent  least-squares slope of log crossing against log d, with the same bootstrap

The first hit is what "converges at n" means when one trial is run at each n of a sweep: with dozens of
chances to be lucky it is far smaller than n99, and the finer the sweep the smaller it gets. The published
sample sizes fit it, not a fixed n.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stepladder.errors import InputError, check_between, check_seed

Floats = npt.NDArray[np.float64]

COARSE = 4
"""Grid points per leap of the first, coarse search: a factor of 4 in n."""

LARGEST = 10**15
"""The largest n to try; counts stay exact in double precision up to here."""

SWEEP_FINENESS = 8
"""Sweep points per doubling of n."""

BOOTSTRAPS = 2000


class Question(ABC):
    """Everything an answer depends on: a frozen dataclass, so that it can name a log entry."""

    d: int
    k: int
    target: float
    trials: int
    seed: int

    @property
    @abstractmethod
    def name(self) -> str:
        """What figures and progress bars call the method."""

    @property
    @abstractmethod
    def units(self) -> int:
        """How many times n is spent in all: stages, or arms."""

    @abstractmethod
    def accuracies(self, size: int, trials: int, stream: int) -> Floats:
        """Run fresh trials of the given size; return their accuracies on fresh inputs."""

    def tokens(self, size: int) -> float | None:
        """Return the mean number of tokens the base model emits, for methods that count them."""
        return None

    def check(self) -> None:
        """Check what every question has."""
        check_between("target", self.target, 0.5, 0.999999)
        check_between("trials", self.trials, 2, 10**6)
        check_seed(self.seed)


@dataclass
class Log:
    """Finished evaluations, kept on disk so that an interrupted search resumes where it was.

    Append-only: one JSON line per evaluation; a line cut short by an interruption is ignored.
    """

    path: Path | None
    known: dict[str, list[float]] = field(default_factory=dict)
    cut_short: bool = False
    """Whether the last line was interrupted, so that the next one must start afresh."""

    def __post_init__(self) -> None:
        """Read what is there."""
        if self.path is None or not self.path.exists():
            return
        try:
            lines = self.path.read_text().splitlines(keepends=True)
        except OSError as error:
            raise InputError(f"{self.path} cannot be read: {error.strerror}", option="out") from error
        self.cut_short = bool(lines) and not lines[-1].endswith("\n")
        for line in lines:
            try:
                entry = json.loads(line)
                self.known[entry["key"]] = entry["values"]
            except (json.JSONDecodeError, KeyError, TypeError):
                continue

    def recall(self, key: str, compute: Callable[[], Floats]) -> Floats:
        """Return the values under `key`, computing and storing them if they are new."""
        if key not in self.known:
            values = compute()
            self.known[key] = values.tolist()
            if self.path is not None:
                with self.path.open("a") as file:
                    start = "\n" if self.cut_short else ""
                    file.write(start + json.dumps({"key": key, "values": self.known[key]}) + "\n")
                self.cut_short = False
        return np.asarray(self.known[key])


@dataclass(frozen=True)
class Interval:
    """A value with its 95% bootstrap interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Point:
    """The answer to one question."""

    question: Question
    size: int | None
    """n99; None if the target was not reached by the largest n."""
    crossing: Interval | None
    first_hit: int | None
    """Median over sweeps."""
    first_hit_range: tuple[int, int] | None
    """The 5% and 95% quantiles over sweeps."""
    tokens: float | None
    """Mean T_comp at n99, for methods that count it."""
    evaluations: tuple[tuple[int, float, float], ...]
    """(n, mean accuracy, standard error) for every n that was tried."""
    resampled: Floats
    """Bootstrap draws of the crossing."""

    @property
    def total(self) -> int | None:
        """n99 over all stages or arms."""
        return None if self.size is None else self.size * self.question.units


def grid(index: int) -> int:
    """Return the grid's n: 1, then 2^(i/2) from i = 2 on, rounded up, so that no n stands twice.

    >>> [grid(i) for i in (0, 1, 2, 3, 4, 17)]
    [1, 2, 3, 4, 6, 512]
    """
    return math.ceil(2 ** ((index + 1) / 2) - 1e-9) if index else 1


def describe(question: Question) -> dict[str, Any]:
    """Return the fields of a question, which is a dataclass, with the name of its kind."""
    return {"kind": type(question).__name__, **vars(question)}


def solve(
    question: Question, log: Log, sweeps: int = 100, report: Callable[[str], None] = lambda what: None
) -> Point:
    """Find n99, the crossing and, unless `sweeps` is 0, the first hit of one question."""
    tried: dict[int, Floats] = {}
    last = 2 * int(math.log2(LARGEST)) - 1

    def values(index: int) -> Floats:
        if index not in tried:
            samples = grid(index)
            report(f"{question.name} d={question.d}: n = {samples:,}")
            key = json.dumps(["fixed", describe(question), samples])
            tried[index] = log.recall(key, lambda: question.accuracies(samples, question.trials, 0))
        return tried[index]

    def passes(index: int) -> bool:
        return bool(values(index).mean() >= question.target)

    found = _smallest_holding(passes, last)
    window = range(0) if found is None else range(max(0, found - 3), found + 2)
    around = [(grid(i), values(i)) for i in window]
    evaluations = tuple(
        (grid(i), float(tried[i].mean()), float(tried[i].std(ddof=1) / math.sqrt(len(tried[i]))))
        for i in sorted(tried)
    )
    if found is None:
        return Point(question, None, None, None, None, None, evaluations, np.empty(0))
    resampled = _crossings(around, question)
    hits = _first_hits(question, log, sweeps, found, report) if sweeps else None
    low, high = np.quantile(resampled, [0.025, 0.975])
    quantiles = None if hits is None else np.quantile(hits, [0.05, 0.5, 0.95], method="nearest")
    return Point(
        question,
        size=grid(found),
        crossing=Interval(float(np.median(resampled)), float(low), float(high)),
        first_hit=None if quantiles is None else int(quantiles[1]),
        first_hit_range=None if quantiles is None else (int(quantiles[0]), int(quantiles[2])),
        tokens=question.tokens(grid(found)),
        evaluations=evaluations,
        resampled=resampled,
    )


def _smallest_holding(passes: Callable[[int], bool], last: int) -> int | None:
    """Return the smallest index that passes, with the next one passing too.

    Mean accuracy rises with n up to noise: leap up by COARSE, walk back to the last failure, walk up.
    """
    index = 0
    while not passes(index):
        if index >= last:
            return None
        index = min(index + COARSE, last)
    while index > 0 and passes(index - 1):
        index -= 1
    while not (passes(index) and passes(index + 1)):
        index += 1
        if index >= last:
            return None
    return index


def _crossings(window: Sequence[tuple[int, Floats]], question: Question) -> Floats:
    """Bootstrap over trials where the mean accuracy crosses the target, log-linear in n."""
    rng = np.random.default_rng([question.seed, 1])
    sizes = np.log([n for n, _ in window])
    means = np.stack(
        [rng.choice(values, (BOOTSTRAPS, len(values))).mean(axis=1) for _, values in window], axis=1
    )
    above = means >= question.target
    above[:, -1] = True
    first = above.argmax(axis=1)
    before = np.maximum(first - 1, 0)
    rows = np.arange(BOOTSTRAPS)
    low, high = means[rows, before], means[rows, first]
    reached = np.divide(question.target - low, high - low, out=np.ones(BOOTSTRAPS), where=high > low)
    share = np.clip(reached, 0, 1)
    crossing: Floats = np.exp(sizes[before] + share * (sizes[first] - sizes[before]))
    return crossing


def _first_hits(
    question: Question, log: Log, sweeps: int, found: int, report: Callable[[str], None]
) -> npt.NDArray[np.int64]:
    """Run rising sweeps with one fresh trial at each n; return where each first reached the target."""
    hits = np.full(sweeps, grid(found))
    waiting = np.ones(sweeps, dtype=np.bool_)
    points = np.arange(SWEEP_FINENESS * math.log2(grid(found)) + 1) / SWEEP_FINENESS
    sizes = np.unique(np.ceil(2**points).astype(np.int64))
    for samples in sizes[sizes <= grid(found)].tolist():
        report(f"{question.name} d={question.d}: first hits at n = {samples:,}")
        count = int(waiting.sum())
        key = json.dumps(["sweep", describe(question), samples, count, sweeps])

        def compute(samples: int = samples, count: int = count) -> Floats:
            return question.accuracies(samples, count, 1)

        reached = log.recall(key, compute) >= question.target
        lucky = np.flatnonzero(waiting)[reached]
        hits[lucky] = samples
        waiting[lucky] = False
        if not waiting.any():
            break
    return hits


def fit_exponent(points: Sequence[Point], of: Literal["queries", "tokens"] = "queries") -> Interval | None:
    """Fit the slope of log total against log d, where the total is spent at the crossing.

    None with fewer than two different d, or where tokens are asked for and not counted.
    """
    solved = [point for point in points if point.crossing is not None]
    sizes = np.log([point.question.d for point in solved])
    per_size = [_per_size(point, of) for point in solved]
    if len(set(sizes.tolist())) < 2 or None in per_size:
        return None
    centred = sizes - sizes.mean()
    scale = np.log(np.asarray(per_size, dtype=np.float64))
    totals = np.log(np.stack([point.resampled for point in solved])) + scale[:, None]
    middle = np.log([point.crossing.value for point in solved if point.crossing]) + scale
    slopes = centred @ totals / (centred @ centred)
    low, high = np.quantile(slopes, [0.025, 0.975])
    return Interval(float(centred @ middle / (centred @ centred)), float(low), float(high))


def _per_size(point: Point, of: Literal["queries", "tokens"]) -> float | None:
    """What one more unit of n costs in all: the number of stages or arms, or their tokens."""
    if of == "queries":
        return float(point.question.units)
    return None if point.tokens is None or point.size is None else point.tokens / point.size
