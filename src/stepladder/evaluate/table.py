"""Table 1 of the paper: pass@K of several methods, by K and by level, one block per task.

Columns are pass@K for every K, their average, and for every level the mean pass@K over the same K. The last
block, where there are several tasks, has the averages over tasks of every method that all of them have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stepladder.errors import InputError
from stepladder.evaluate.passk import Floats, bootstrap, difference, in_words, pass_matrix
from stepladder.evaluate.sampler import Sample
from stepladder.scaling import Interval


@dataclass(frozen=True)
class Evaluated:
    """One model's samples on one task."""

    task: str
    method: str
    ids: tuple[str, ...]
    levels: tuple[int, ...]
    """The level of every problem."""
    counts: tuple[tuple[int, int], ...]
    """(correct, samples) of every problem."""

    @classmethod
    def of(cls, task: str, method: str, samples: Sequence[Sample]) -> Evaluated:
        """Count the samples of every problem, in the order of their first appearance."""
        found: dict[str, tuple[int, int, int]] = {}
        for sample in samples:
            level, correct, count = found.get(sample.id, (sample.level or 0, 0, 0))
            found[sample.id] = (level, correct + sample.correct, count + 1)
        rows = found.values()
        return cls(task, method, tuple(found), tuple(r[0] for r in rows), tuple(r[1:] for r in rows))

    def to_json(self) -> dict[str, Any]:
        """Return everything but the task."""
        return {
            "method": self.method,
            "ids": list(self.ids),
            "levels": list(self.levels),
            "counts": [list(count) for count in self.counts],
        }

    @classmethod
    def from_json(cls, task: str, data: Mapping[str, Any]) -> Evaluated:
        """Read what `to_json` wrote."""
        counts = tuple((int(correct), int(samples)) for correct, samples in data["counts"])
        return cls(task, str(data["method"]), tuple(data["ids"]), tuple(data["levels"]), counts)

    def matrix(self, ks: Sequence[int]) -> Floats:
        """Return pass@K of every problem at every K."""
        return pass_matrix(self.counts, ks)


@dataclass(frozen=True)
class Row:
    """One line of the table; values are shares, with 95% bootstrap intervals over problems."""

    task: str
    method: str
    by_k: tuple[Interval, ...]
    average: Interval
    by_level: tuple[tuple[int, Interval], ...]

    @property
    def cells(self) -> tuple[Interval, ...]:
        """All numbers from left to right."""
        return (*self.by_k, self.average, *(value for _, value in self.by_level))


def rows(found: Sequence[Evaluated], ks: Sequence[int]) -> list[Row]:
    """Return a line for each model, then the macro-averages."""
    lines = [_row(one, ks) for one in found]
    tasks = list(dict.fromkeys(one.task for one in found))
    if len(tasks) < 2:
        return lines
    shared = [
        method
        for method in dict.fromkeys(line.method for line in lines)
        if sorted(line.task for line in lines if line.method == method) == sorted(tasks)
    ]
    return lines + [_macro([line for line in lines if line.method == method]) for method in shared]


def _row(one: Evaluated, ks: Sequence[int]) -> Row:
    matrix = one.matrix(ks)
    levels = np.asarray(one.levels)
    per_problem = matrix.mean(axis=1)
    return Row(
        one.task,
        one.method,
        tuple(bootstrap(matrix[:, place]) for place in range(len(ks))),
        bootstrap(per_problem),
        tuple((int(level), bootstrap(per_problem[levels == level])) for level in np.unique(levels)),
    )


def _macro(lines: Sequence[Row]) -> Row:
    """Average lines of different tasks; their errors are independent, so half-widths add in squares.

    Levels are averaged by their place, the easiest first: tasks count them from 0 or from 1.
    """
    depth = min(len(line.by_level) for line in lines)
    names = {tuple(level for level, _ in line.by_level[:depth]) for line in lines}
    named = names.pop() if len(names) == 1 else tuple(range(1, depth + 1))
    columns = [[line.by_level[place][1] for line in lines] for place in range(depth)]
    by_level = tuple((name, _mean(column)) for name, column in zip(named, columns, strict=True))
    return Row(
        "macro-average",
        lines[0].method,
        tuple(_mean(list(column)) for column in zip(*(line.by_k for line in lines), strict=True)),
        _mean([line.average for line in lines]),
        by_level,
    )


def _mean(values: Sequence[Interval]) -> Interval:
    count = len(values)
    middle = sum(one.value for one in values) / count
    below = np.sqrt(sum((one.value - one.low) ** 2 for one in values)) / count
    above = np.sqrt(sum((one.high - one.value) ** 2 for one in values)) / count
    return Interval(middle, float(middle - below), float(middle + above))


def best(lines: Sequence[Row], line: Row, column: int) -> bool:
    """Whether a cell has the largest value of its column within its block; what all share is no best."""
    block = [one.cells[column].value for one in lines if one.task == line.task and column < len(one.cells)]
    value = line.cells[column].value
    return len(block) > 1 and value == max(block) > min(block)


def comparisons(found: Sequence[Evaluated], ks: Sequence[int]) -> list[str]:
    """Compare every method with the first one of its task, in words that respect the interval."""
    said = []
    for task in dict.fromkeys(one.task for one in found):
        first, *others = [one for one in found if one.task == task]
        for other in others:
            if other.ids != first.ids:
                raise InputError(
                    f"{first.method} and {other.method} were not tested on the same problems", "runs"
                )
            gap = difference(other.matrix(ks).mean(axis=1), first.matrix(ks).mean(axis=1))
            said.append(f"{task}: {in_words(other.method, first.method, gap)} (mean pass@K)")
    return said
