"""Level schedules: how often each difficulty level is trained on, as a pure function of progress t in [0, 1].

With L levels, i = 0 the easiest, and s(t) = (1 - cos(pi t)) / 2:

    e2h_window           levels up to min(L-1, floor(L s)), alike
    e2h_window_printed   levels up to floor((L-1) s), alike: the paper's formula, under which the last level is
                         reached at t = 1 only and so never trained on
    e2h_balanced         all levels alike: the no-curriculum baseline
    e2h_classic          one level at a time, in equal spans
    e2h_cosine           from weights (L-i) to weights (i+1) by s(t), over L(L+1)/2; at least 2/(L(L+1)), and
                         renormalised
    e2h_gaussian         exp(-(i - t^mu_exp (L-1))^2 / (2 sigma^2)), normalised, mixed with a floor p_min

The paper's depth-increasing curriculum is the window; the others are those of the E2H repository it cites.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from stepladder.curriculum.schedules import cosine
from stepladder.errors import InputError, check_between

Weights = tuple[float, ...]
LevelSchedule = Callable[[float, int], Weights]
"""The share of each level at a progress, for a number of levels."""

LevelScheduleName = Literal[
    "e2h_window", "e2h_window_printed", "e2h_balanced", "e2h_classic", "e2h_cosine", "e2h_gaussian"
]

_half_cosine = cosine(0.0, 1.0)


def e2h_window(progress: float, levels: int) -> Weights:
    """All levels up to the window's end, which reaches the last level in time to train on it.

    >>> [e2h_window(t, 2) for t in (0.0, 0.49, 0.5, 1.0)]
    [(1.0, 0.0), (1.0, 0.0), (0.5, 0.5), (0.5, 0.5)]
    """
    return _up_to(min(levels - 1, _floor(levels * _half_cosine(progress))), levels)


def e2h_window_printed(progress: float, levels: int) -> Weights:
    """The window as the paper prints it."""
    return _up_to(_floor((levels - 1) * _half_cosine(progress)), levels)


def e2h_balanced(progress: float, levels: int) -> Weights:
    """All levels alike, throughout."""
    return _up_to(levels - 1, levels)


def e2h_classic(progress: float, levels: int) -> Weights:
    """One level at a time."""
    now = min(levels - 1, int(levels * min(1.0, max(0.0, progress))))
    return tuple(float(level == now) for level in range(levels))


def e2h_cosine(progress: float, levels: int) -> Weights:
    """From mostly easy to mostly hard, every level always present."""
    total = levels * (levels + 1) / 2
    share = _half_cosine(progress)
    mixed = [((1 - share) * (levels - level) + share * (level + 1)) / total for level in range(levels)]
    return _normalised([max(weight, 1 / total) for weight in mixed])


def e2h_gaussian(mu_exp: float = 0.5, sigma: float = 0.5, p_min: float = 0.0) -> LevelSchedule:
    """A bell that moves from the easiest to the hardest level."""
    check_between("mu_exp", mu_exp, 0, 100)
    check_between("sigma", sigma, 1e-6, 1e6)
    check_between("p_min", p_min, 0, 1)

    def schedule(progress: float, levels: int) -> Weights:
        if p_min * levels > 1:
            raise InputError(f"must be at most 1/{levels} with {levels} levels, got {p_min:g}", "p_min")
        mean = min(1.0, max(0.0, progress)) ** mu_exp * (levels - 1)
        # Relative to the nearest level, so that a narrow bell between two levels does not vanish.
        squares = [(level - mean) ** 2 / (2 * sigma**2) for level in range(levels)]
        bell = _normalised([math.exp(min(squares) - square) for square in squares])
        return tuple((1 - levels * p_min) * weight + p_min for weight in bell)

    return schedule


def level_schedule(name: LevelScheduleName) -> LevelSchedule:
    """Return the schedule of that name, with E2H's usual numbers."""
    match name:
        case "e2h_window":
            return e2h_window
        case "e2h_window_printed":
            return e2h_window_printed
        case "e2h_balanced":
            return e2h_balanced
        case "e2h_classic":
            return e2h_classic
        case "e2h_cosine":
            return e2h_cosine
        case "e2h_gaussian":
            return e2h_gaussian()


def _floor(value: float) -> int:
    """Round down; half a cosine is a bit below 1/2 at half time, and must not open a level a step late."""
    return math.floor(value + 1e-12)


def _up_to(last: int, levels: int) -> Weights:
    return tuple(1 / (last + 1) if level <= last else 0.0 for level in range(levels))


def _normalised(weights: list[float]) -> Weights:
    total = sum(weights)
    return tuple(weight / total for weight in weights)
