"""Schedules: pure functions of progress, from 0 at the start of training to 1 at its end.

A schedule keeps no state, so a run that resumes at the same progress sees the same values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from stepladder.errors import InputError

Schedule = Callable[[float], float]
"""A value for every progress in [0, 1]."""


def constant(value: float) -> Schedule:
    """Return the same value throughout."""
    return lambda progress: value


def linear(start: float, end: float) -> Schedule:
    """Go from start to end in a straight line.

    >>> linear(1.0, 3.0)(0.25)
    1.5
    """
    return lambda progress: _between(start, end, _clipped(progress))


def cosine(start: float, end: float) -> Schedule:
    """Go from start to end by half a cosine: s(t) = (1 - cos(pi t)) / 2 of the way at progress t.

    >>> cosine(0.9, 0.1)(0.5)
    0.5
    """
    return lambda progress: _between(start, end, (1 - math.cos(math.pi * _clipped(progress))) / 2)


def staircase(values: Sequence[float]) -> Schedule:
    """Step through the values in equal spans.

    >>> [staircase([4.0, 2.0, 0.0])(t) for t in (0.0, 0.34, 0.99, 1.0)]
    [4.0, 2.0, 0.0, 0.0]
    """
    if not values:
        raise InputError("a staircase needs at least one value")
    steps = tuple(values)
    return lambda progress: steps[min(len(steps) - 1, int(len(steps) * _clipped(progress)))]


def _between(start: float, end: float, share: float) -> float:
    """Weigh the two ends, so that both are met exactly."""
    return (1 - share) * start + share * end


def _clipped(progress: float) -> float:
    return min(1.0, max(0.0, progress))
