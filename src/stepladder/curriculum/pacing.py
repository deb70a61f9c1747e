"""Pacing: which levels the next batch is drawn from, by plan or by what has been learned.

A pacer is asked for every batch in turn and told every batch's passes. What it answered is kept, so that a run
that resumes sees the same levels for the batches before its checkpoint, whatever it has learned since.

    Planned      a level schedule at progress batch / batches
    ByPassRate   levels up to the current one, alike; the next level opens once the pass rate over the last
                 `window` rollouts of the current level exceeds `threshold`
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from stepladder.curriculum.levels import LevelSchedule, Weights
from stepladder.errors import InputError, check_between


class Pacer(ABC):
    """Levels for one batch after the other."""

    @abstractmethod
    def weights(self, batch: int, batches: int, levels: int) -> Weights:
        """Return the share of each level in a batch."""

    @abstractmethod
    def observe(self, passes: Mapping[int, tuple[int, int]]) -> None:
        """Take note of a batch: for each level's place, how many rollouts passed, and of how many."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return what a checkpoint must keep."""

    @abstractmethod
    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a checkpoint."""


class Planned(Pacer):
    """Follows a schedule, and needs no memory."""

    def __init__(self, schedule: LevelSchedule) -> None:
        """Take the schedule."""
        self.schedule = schedule

    def weights(self, batch: int, batches: int, levels: int) -> Weights:
        """Look the batch up in the schedule."""
        return self.schedule(batch / batches, levels)

    def observe(self, passes: Mapping[int, tuple[int, int]]) -> None:
        """Nothing changes the plan."""

    def state(self) -> dict[str, Any]:
        """Return nothing: the plan is in the config."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Nothing to take back."""


class ByPassRate(Pacer):
    """Opens the next level when the current one is passed often enough.

    >>> pacer = ByPassRate(threshold=0.5, window=8)
    >>> pacer.weights(0, 100, 3)
    (1.0, 0.0, 0.0)
    >>> pacer.observe({0: (6, 8)})
    >>> pacer.weights(1, 100, 3)
    (0.5, 0.5, 0.0)
    >>> pacer.weights(0, 100, 3)
    (1.0, 0.0, 0.0)
    """

    def __init__(self, threshold: float = 0.7, window: int = 256) -> None:
        """Set what counts as often enough, and over how many rollouts."""
        check_between("threshold", threshold, 0, 1)
        check_between("window", window, 1, 10**9)
        self.threshold = threshold
        self.window = window
        self.current = 0
        self.recent = (0, 0)
        self.answered: list[int] = []

    def weights(self, batch: int, batches: int, levels: int) -> Weights:
        """Return equal shares up to the level that was current when this batch was first asked for."""
        if batch > len(self.answered):
            raise InputError(f"batch {batch} was asked for before batch {len(self.answered)}")
        if batch == len(self.answered):
            self.answered.append(min(self.current, levels - 1))
        last = self.answered[batch]
        return tuple(1 / (last + 1) if level <= last else 0.0 for level in range(levels))

    def observe(self, passes: Mapping[int, tuple[int, int]]) -> None:
        """Add the current level's rollouts; judge once the window is full."""
        passed, count = passes.get(self.current, (0, 0))
        self.recent = (self.recent[0] + passed, self.recent[1] + count)
        if self.recent[1] >= self.window:
            if self.recent[0] > self.threshold * self.recent[1]:
                self.current += 1
            self.recent = (0, 0)

    def state(self) -> dict[str, Any]:
        """Return the current level, its window and the answers."""
        return {"current": self.current, "recent": list(self.recent), "answered": list(self.answered)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take them back."""
        self.current = int(state["current"])
        self.recent = (int(state["recent"][0]), int(state["recent"][1]))
        self.answered = list(state["answered"])
