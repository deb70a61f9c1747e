"""When a stage is over: after a planned number of updates, or once it is mastered.

The theorem takes one large step per stage (`AfterSteps(1)`); the small-step study moves on once
validation accuracy exceeds .99 (`AtAccuracy(0.99)`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from stepladder.errors import check_between


class Advance(Protocol):
    """A rule that ends stages."""

    def ready(self, updates: int, accuracy: float) -> bool:
        """Say whether the stage is over after so many updates at this validation accuracy."""
        ...


@dataclass(frozen=True)
class AfterSteps:
    """A stage lasts a fixed number of updates."""

    updates: int = 1

    def __post_init__(self) -> None:
        """A stage needs at least one update."""
        check_between("updates", self.updates, 1, 10**9)

    def ready(self, updates: int, accuracy: float) -> bool:
        """Look at the count alone."""
        return updates >= self.updates


@dataclass(frozen=True)
class AtAccuracy:
    """A stage lasts until its validation accuracy exceeds a threshold.

    >>> AtAccuracy(0.99).ready(updates=3, accuracy=0.995)
    True
    """

    threshold: float = 0.99

    def __post_init__(self) -> None:
        """An accuracy lies between 0 and 1."""
        check_between("threshold", self.threshold, 0, 1)

    def ready(self, updates: int, accuracy: float) -> bool:
        """Look at the accuracy alone."""
        return accuracy > self.threshold
