"""How n rollouts flow through the tree: rewarded transition counts without running the rollouts.

Picks depend on the last pick alone, and a chain that has left the target's path is accepted with the
same probability q whatever it does next (q = 1/2 for parity, 1/V for sums modulo V). So it is enough to
count. Going down step by step, with all trials at once:

    on      rollouts still on the target's path
    off[i]  rollouts that left it, stand at position i and will be accepted; q-thinned as they leave

    on    splits by the law at the path's position: the correct pick stays on, the rest leaves
    off   splits by the law at each position

The counts N[i, j] of accepted transitions are a sufficient statistic of the REINFORCE gradient. One step
costs d^2 binomial draws whatever n is. Taking means instead of draws gives the population gradient
(n = infinity) by the same recursion: dynamic programming.

Chains that the depth-increasing curriculum discards (EOS before the cut) are conditioned away first by
an h-transform: with h_s(i) = P(no EOS from step s at i up to the cut),

    survivors ~ Binomial(n, h(start)),    law_s(i -> j) = law(i -> j) h_{s+1}(j) / h_s(i).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from stepladder.curriculum import Stage
from stepladder.errors import InputError
from stepladder.finetune.setup import Law
from stepladder.trees import Target

Counts = npt.NDArray[Any]
"""Whole numbers when drawn, real masses when averaged."""


Probabilities = npt.NDArray[np.float64]


class Chance(Protocol):
    """How counts divide: at random, or by their means."""

    dtype: type[np.int64] | type[np.float64]

    def thin(self, counts: Counts, probability: Probabilities) -> Counts:
        """Say how many of each count survive with a probability."""
        ...

    def split(self, counts: Counts, law: Probabilities) -> Counts:
        """Divide each count over the last axis of `law`."""
        ...


class Draws:
    """Divides counts at random: exact in distribution for any count below 2^53."""

    dtype: type[np.int64] | type[np.float64] = np.int64

    def __init__(self, rng: np.random.Generator) -> None:
        """Take the random stream."""
        self.rng = rng

    def thin(self, counts: Counts, probability: Probabilities) -> Counts:
        """Draw binomials; a probability summed up in floating point may exceed 1 by its last bit."""
        return self.rng.binomial(counts, np.minimum(probability, 1.0))

    def split(self, counts: Counts, law: Probabilities) -> Counts:
        """Draw multinomials, with the likeliest pick last.

        The generator gives whatever rounding leaves over to the last pick. Were that an illegal pick, a
        count of 1e15 would send rollouts there; for the likeliest one it is noise in the last bit.
        """
        shape = (*counts.shape, law.shape[-1])
        rows = np.broadcast_to(law, shape).reshape(-1, shape[-1])
        each, likeliest = np.arange(len(rows)), rows.argmax(axis=1)
        swapped = rows.copy()
        swapped[:, -1] = rows[each, likeliest]
        swapped[each, likeliest] = rows[:, -1]
        moves = self.rng.multinomial(counts.ravel(), swapped)
        last = moves[:, -1].copy()
        moves[:, -1] = moves[each, likeliest]
        moves[each, likeliest] = last
        return moves.reshape(shape)


class Means:
    """Divides counts by their means."""

    dtype: type[np.int64] | type[np.float64] = np.float64

    def thin(self, counts: Counts, probability: Probabilities) -> Counts:
        """Multiply."""
        return counts * probability

    def split(self, counts: Counts, law: Probabilities) -> Counts:
        """Multiply."""
        return counts[..., None] * law


@dataclass(frozen=True)
class Flow:
    """Scored transitions of every trial, shape (trials, query, pick)."""

    accepted: Counts
    rejected: Counts | None
    """None unless asked for: only a reward baseline needs it."""


def check_countable(target: Target) -> float:
    """Return q, the acceptance of wrong chains, or say why this tree cannot be counted."""
    tree = target.tree
    if tree.wrong_acceptance is None or tree.excludes is not None:
        raise InputError(
            f"{tree.name} cannot be counted: its wrong chains are not all accepted equally often, as those of "
            "parity and sum are; use one of these, or the engine rollout where there is a choice",
            option="task",
        )
    return float(tree.wrong_acceptance)


def flow(
    law: Law, target: Target, stage: Stage, samples: int, chance: Chance, with_rejected: bool = False
) -> Flow:
    """Send `samples` rollouts of every trial through a stage and count its scored transitions."""
    acceptance = np.asarray(check_countable(target))
    path, eos = target.path, target.tree.eos
    queries = (eos, *target.picks)
    trials, size = law.shape[0], law.shape[-1]
    kinds = 2 if with_rejected else 1
    steps = range(stage.hint + 1, stage.last_scored + 1)
    laws, survival = surviving_laws(law, stage, queries[stage.hint], eos)

    on = chance.thin(np.full(trials, samples, dtype=chance.dtype), survival)
    off: Counts = np.zeros((trials, kinds, size), dtype=chance.dtype)
    moved: Counts = np.zeros((trials, kinds, size, size), dtype=chance.dtype)
    left_at = []
    for step, step_law in zip(steps, laws, strict=True):
        query, correct = queries[step - 1], path[step - 1]
        moves = chance.split(off, step_law[:, None]) if step > steps[0] else np.zeros_like(moved)
        leaving = chance.split(on, step_law[:, query])
        on = leaving[:, correct].copy()
        leaving[:, correct] = 0
        accepted = chance.thin(leaving, acceptance)
        left = np.stack([accepted, leaving - accepted][:kinds], axis=1)
        moves[:, :, query] += left
        if step >= stage.first_scored:
            moved += moves
        left_at.append(left.sum(axis=-1))
        off = moves.sum(axis=2)
        off[..., eos] = 0

    # Those still on the path are accepted if they finish it, and by luck if they do not.
    finish = tail(law, target, stage)
    lucky = chance.thin(on, finish + (1 - finish) * acceptance)
    staying = np.stack([lucky, on - lucky][:kinds], axis=1)
    for step, left in zip(reversed(steps), reversed(left_at), strict=True):
        if step >= stage.first_scored:
            moved[:, :, queries[step - 1], path[step - 1]] += staying
        staying = staying + left
    return Flow(moved[:, 0], moved[:, 1] if with_rejected else None)


def surviving_laws(law: Law, stage: Stage, start: int, eos: int) -> tuple[list[Law], npt.NDArray[np.float64]]:
    """Return the law of each step given survival to the cut, and the probability of survival."""
    steps = stage.last_scored - stage.hint
    if stage.truncate is None:
        return [law] * steps, np.ones(len(law))
    cut = stage.truncate - stage.hint
    ahead = np.ones((law.shape[0], law.shape[-1]))
    ahead[:, eos] = 0
    laws = []
    for _ in range(cut):
        joint = law * ahead[:, None]
        here = joint.sum(axis=-1)
        laws.append(np.divide(joint, here[..., None], out=np.zeros_like(joint), where=here[..., None] > 0))
        ahead = here.copy()
        # The root row shares EOS's index: as a pick that is a chain that ended.
        survival = here[:, start]
        ahead[:, eos] = 0
    return laws[::-1][:steps], survival


def tail(law: Law, target: Target, stage: Stage) -> npt.NDArray[np.float64]:
    """Return the probability of finishing the judged path after the last scored step."""
    queries = (target.tree.eos, *target.picks)
    last = target.k + 1 if stage.truncate is None else stage.truncate
    finish = np.ones(len(law))
    for step in range(stage.last_scored + 1, last + 1):
        finish = finish * law[:, queries[step - 1], target.path[step - 1]]
    return finish
