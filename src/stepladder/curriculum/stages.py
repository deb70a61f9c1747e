"""Curricula as sequences of stages: Algorithms A, B and C without the learner.

With k picks and then EOS, step l is the l-th pick and step k+1 picks EOS.

    A  no_curriculum      one stage, everything free, terminal oracle, steps 1..k+1 scored
    B  depth_increasing   l = 1..k+1: cut after l picks (those that ended before are discarded), the
                          family oracle judges depth l; stage k+1 is not cut
    C  hint_decreasing    l = k+1 down to 1: the first l-1 correct picks are given, the rest is free

Erratum: Alg. C's printed loop, "l = 1 down to k+1" with a hint of k+1-l picks and step l scored, scores
picks that were given. Its stages are the ones above.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from stepladder.errors import InputError, check_choice

MethodName = Literal["no_curriculum", "depth_increasing", "hint_decreasing"]
METHODS: tuple[MethodName, ...] = get_args(MethodName)

Scoring = Literal["step", "all"]
"""Which free steps of a stage are scored: only the new one, as in the paper, or all of them."""


@dataclass(frozen=True)
class Stage:
    """One stage: what is given, what is cut, who judges, and which steps learn.

    >>> depth_increasing(2)[0]
    Stage(hint=0, truncate=1, oracle='family', depth=1, first_scored=1, last_scored=1)
    """

    hint: int
    """Correct picks given beforehand."""
    truncate: int | None
    """Picks after which EOS is appended; chains that ended before are discarded. None: never cut."""
    oracle: Literal["terminal", "family"]
    """Which outcome oracle judges."""
    depth: int
    """The subtask depth it judges; k for the full task."""
    first_scored: int
    """The first step whose score counts, from 1."""
    last_scored: int
    """The last step whose score counts."""


def no_curriculum(k: int) -> tuple[Stage, ...]:
    """Algorithm A: the whole task at once."""
    return (Stage(0, None, "terminal", k, 1, k + 1),)


def depth_increasing(k: int, scoring: Scoring = "step") -> tuple[Stage, ...]:
    """Algorithm B: from one pick to all of them, then when to stop."""
    return tuple(
        Stage(
            hint=0,
            truncate=step if step <= k else None,
            oracle="family",
            depth=min(step, k),
            first_scored=step if scoring == "step" else 1,
            last_scored=step,
        )
        for step in range(1, k + 2)
    )


def hint_decreasing(k: int, scoring: Scoring = "step") -> tuple[Stage, ...]:
    """Algorithm C: from all picks given to none."""
    return tuple(
        Stage(
            hint=step - 1,
            truncate=None,
            oracle="family",
            depth=k,
            first_scored=step,
            last_scored=step if scoring == "step" else k + 1,
        )
        for step in range(k + 1, 0, -1)
    )


def stages_of(method: MethodName, k: int, scoring: Scoring = "step") -> tuple[Stage, ...]:
    """Return the stages of a method for a target of k picks."""
    if k < 1:
        raise InputError(f"must be at least 1, got {k}", option="k")
    check_choice("method", method, METHODS)
    match method:
        case "no_curriculum":
            return no_curriculum(k)
        case "depth_increasing":
            return depth_increasing(k, scoring)
        case "hint_decreasing":
            return hint_decreasing(k, scoring)
