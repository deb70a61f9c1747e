"""Hint rules: how much of the teacher's solution is given, and how strongly it is imitated.

    uft_floor     floor(rho m) of the m teacher tokens, rho cosine .9 -> .1; the prefix loss has weight
                  cosine 1 -> 0 (the paper's v1, for Countdown)
    uft_binomial  the steps are cut into min(5, steps) slices; Binomial(slices, p) of them are given, p cosine
                  .95 -> .05; the prefix loss has weight 1e-3 (the paper's v2, for Math and Blocksworld)
    uft_staged    slices in equal descending spans: all of them first, none in the last span
    uft_uniform   a number of slices from 0 to all, uniformly at random, throughout

Hints may end early: every schedule then runs its course from 0 to `until`, and from there on nothing is given
and nothing imitated. How much is given is a function of progress and of the random numbers handed in, so a
rule keeps no state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from stepladder.curriculum.schedules import Schedule, constant, cosine
from stepladder.errors import check_between

HintRuleName = Literal["none", "uft_floor", "uft_binomial", "uft_staged", "uft_uniform"]

MOST_SLICES = 5


@dataclass(frozen=True)
class HintRule:
    """How much to reveal, and the weight of the prefix loss."""

    name: HintRuleName
    share: Schedule
    """uft_floor: the share of tokens; uft_binomial: the probability of each slice; not used by the others."""
    prefix_weight: Schedule
    until: float = 1.0

    @property
    def unit(self) -> Literal["tokens", "steps"]:
        """What is counted."""
        return "tokens" if self.name == "uft_floor" else "steps"

    def reveal(self, progress: float, total: int, rng: np.random.Generator) -> int:
        """Return how many of the teacher's `total` tokens or steps to give."""
        if self.name == "none" or total == 0 or progress >= self.until:
            return 0
        if self.name == "uft_floor":
            return int(self.share(progress / self.until) * total)
        slices = min(MOST_SLICES, total)
        return steps_of_slices(self._slices(progress, slices, rng), slices, total)

    def _slices(self, progress: float, slices: int, rng: np.random.Generator) -> int:
        if self.name == "uft_binomial":
            return int(rng.binomial(slices, self.share(progress / self.until)))
        if self.name == "uft_uniform":
            return int(rng.integers(0, slices + 1))
        return slices - min(slices, int((slices + 1) * progress / self.until))

    def weight(self, progress: float) -> float:
        """Return the weight of the prefix loss."""
        if self.name == "none" or progress >= self.until:
            return 0.0
        return self.prefix_weight(progress / self.until)


def steps_of_slices(revealed: int, slices: int, steps: int) -> int:
    """Return how many steps the first slices hold, all slices being as equal as they can be.

    >>> [steps_of_slices(revealed, 5, 7) for revealed in range(6)]
    [0, 1, 3, 4, 6, 7]
    """
    return round(revealed * steps / slices)


def hint_rule(
    name: HintRuleName,
    start: float | None = None,
    end: float | None = None,
    prefix_start: float | None = None,
    prefix_end: float | None = None,
    until: float = 1.0,
) -> HintRule:
    """Return the rule of that name; None is the paper's number."""
    usual = {"uft_floor": (0.9, 0.1, 1.0, 0.0)}.get(name, (0.95, 0.05, 1e-3, 1e-3))
    given = (start, end, prefix_start, prefix_end)
    share_start, share_end, weight_start, weight_end = (
        own if own is not None else other for own, other in zip(given, usual, strict=True)
    )
    check_between("start", share_start, 0, 1)
    check_between("end", share_end, 0, 1)
    check_between("prefix_start", weight_start, 0, 1e6)
    check_between("prefix_end", weight_end, 0, 1e6)
    check_between("until", until, 1e-9, 1)
    same = weight_start == weight_end
    weight = constant(weight_start) if same else cosine(weight_start, weight_end)
    return HintRule(name, cosine(share_start, share_end), weight, until)
