"""A model's profile: pass rates by level, and at the target level by how much of the solution is given.

Two ladders to the target level T, each a sequence of cells:

    levels   the levels up to T, the easiest first
    hints    level T with 0, 1, .., m-1 of m slices of the teacher's steps given, none first

Every completion of a cell is on another problem, so that a rate is over the task and not over one problem.
Cells are sampled in rounds: a round doubles every cell that has seen fewer than ENOUGH successes and failures,
until the question is answered, or the limit is reached. A cell without a success has an upper bound, not a
zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from stepladder.curriculum.hints import MOST_SLICES, steps_of_slices
from stepladder.errors import InputError, check_between
from stepladder.estimate import Estimate
from stepladder.evaluate.sampler import Request, Sampler
from stepladder.theory.pays import Prediction, pays

ENOUGH = 30
"""Successes, and failures, after which a cell's rate is known to about a fifth."""

FIRST_ROUND = 32
PROBLEM_SEED = 2_000_000_011
"""Added to the seed for the problems of a profile, which are not those of training."""

Ladder = Literal["levels", "hints"]


@dataclass
class Cell:
    """One rung: a level with so many of its slices given."""

    level: int
    slices: int
    of: int
    successes: int = 0
    trials: int = 0

    @property
    def rate(self) -> Estimate:
        """The pass rate with its 95% interval."""
        return Estimate.proportion(self.successes, self.trials)

    @property
    def known(self) -> bool:
        """Whether there were enough of both outcomes."""
        return min(self.successes, self.trials - self.successes) >= ENOUGH

    def to_json(self) -> dict[str, Any]:
        """Return the cell with its rate."""
        rate = self.rate
        bounds = {"rate": float(rate.value), "low": float(rate.low), "high": float(rate.high)}
        return {**vars(self), **bounds}


@dataclass
class Profile:
    """All cells of both ladders."""

    task: str
    model: str
    target: int
    spurious: float
    cells: list[Cell]
    options: dict[str, Any] = field(default_factory=dict)
    """What only some tasks have, such as the secret, as a config names it."""

    @property
    def ever_right(self) -> bool:
        """Whether any step of the ladders was solved, beyond what luck gives."""
        return any(cell.successes and cell.rate.high > self.spurious for cell in self.cells)

    def ladder(self, kind: Ladder) -> list[Cell]:
        """Return the rungs of a ladder in the order `pays` takes them."""
        if kind == "levels":
            return [cell for cell in self.cells if cell.slices == 0]
        return [cell for cell in self.cells if cell.level == self.target]

    def predict(self, kind: Ladder, seed: int = 0) -> Prediction:
        """Predict what a curriculum along the ladder gains."""
        counts = [(cell.successes, cell.trials) for cell in self.ladder(kind)]
        given = {"hints": counts} if kind == "hints" else {"levels": counts}
        return pays(**given, spurious=self.spurious, seed=seed)  # type: ignore[arg-type]

    def to_json(self) -> dict[str, Any]:
        """Return everything."""
        return {
            "task": self.task,
            "model": self.model,
            "target": self.target,
            "spurious": self.spurious,
            "options": self.options,
            "cells": [cell.to_json() for cell in self.cells],
        }

    @classmethod
    def from_json(cls, data: Any) -> Profile:
        """Read what `to_json` wrote."""
        try:
            names = ("level", "slices", "of", "successes", "trials")
            cells = [Cell(**{name: int(cell[name]) for name in names}) for cell in data["cells"]]
            target, spurious = int(data["target"]), float(data["spurious"])
            options = dict(data.get("options", {}))
            return cls(str(data["task"]), str(data["model"]), target, spurious, cells, options)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError("is not a profile of `stepladder profile`", option="profile") from error


def profile(
    sampler: Sampler,
    model: str,
    target: int | None = None,
    limit: int = 2048,
    progress: Callable[[float, str], None] = lambda done, what: None,
) -> Profile:
    """Measure the ladders to a level, the hardest by default, with at most `limit` samples a cell."""
    check_between("limit", limit, FIRST_ROUND, 10**7)
    task = sampler.task
    top = task.levels[-1] if target is None else task.check_level(target)
    steps = len(task.generate(top, 0, sampler.seed + PROBLEM_SEED).solution)
    slices = max(1, min(MOST_SLICES, steps))
    cells = [Cell(level, 0, 1) for level in task.levels if level < top]
    cells += [Cell(top, given, slices) for given in range(slices)]
    found = Profile(task.name, model, top, task.spurious, cells)
    samples = FIRST_ROUND
    while True:
        for place, cell in enumerate(cells):
            if cell.trials < samples and not cell.known:
                _extend(sampler, cell, min(samples, limit))
            progress(place / len(cells), f"level {cell.level}, {cell.slices}/{cell.of} given: {cell.rate}")
        if samples >= limit or _answered(found):
            return found
        samples *= 2


def _extend(sampler: Sampler, cell: Cell, samples: int) -> None:
    """Draw until the cell has so many samples; item i of the cell is the same however many are drawn."""
    task, seed = sampler.task, sampler.seed + PROBLEM_SEED
    problems = [task.generate(cell.level, index, seed) for index in range(cell.trials, samples)]
    requests = [
        Request(problem, steps_of_slices(cell.slices, cell.of, len(problem.solution))) for problem in problems
    ]
    drawn = sampler.draw(requests)
    cell.successes += sum(sample.correct for sample in drawn)
    cell.trials += len(drawn)


def _answered(found: Profile) -> bool:
    """Whether both ladders have a verdict."""
    kinds: tuple[Ladder, ...] = ("levels", "hints")
    ladders = [kind for kind in kinds if len(found.ladder(kind)) > 1]
    return found.ever_right and all(found.predict(kind).verdict != "cannot tell" for kind in ladders)
