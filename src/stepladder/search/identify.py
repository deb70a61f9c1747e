"""Identify the target's path from outcome feedback, depth by depth (Alg. bai, Alg. ltar; Thm. 3).

    for l = 1 .. k+1:  estimate every legal pick's acceptance, take the best, commit to it

bai asks the terminal oracle after full roll-outs; ltar truncates and asks the family oracle. The base model
never changes. A batch of searches runs side by side; each has its own committed picks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stepladder.estimate import Estimate
from stepladder.search.arms import Arms
from stepladder.search.budget import Budget, Ledger, Numbers
from stepladder.search.stopping import Adaptive, Depth, Fixed
from stepladder.trees import Target
from stepladder.trees.spurious import acceptance
from stepladder.trees.tree import Mask

Rule = Fixed | Adaptive


@dataclass(frozen=True)
class ArmEstimate:
    """What one search knows of one arm."""

    pick: int
    pulls: int
    acceptance: Estimate


@dataclass(frozen=True)
class Identification:
    """What a batch of searches found."""

    target: Target
    picks: npt.NDArray[np.int64]
    """Committed picks, shape (searches, k+1); -1 from where a search stopped, EOS after an early EOS."""
    t_data: Numbers
    t_comp: Numbers
    depths: tuple[Depth, ...]
    searched: tuple[npt.NDArray[np.intp], ...]
    """Which searches were still going at each depth: the rows of `depths`."""

    @property
    def complete(self) -> Mask:
        """Which searches committed to a whole path."""
        return np.asarray((self.picks >= 0).all(axis=1))

    @property
    def correct(self) -> Mask:
        """Which searches found the target's path."""
        return np.asarray(np.equal(self.picks, self.target.path).all(axis=1))

    @property
    def index_accuracy(self) -> npt.NDArray[np.float64]:
        """How often the pick at each depth is the target's, shape (k+1,)."""
        return np.asarray(np.equal(self.picks, self.target.path).mean(axis=0))

    def path(self, search: int) -> tuple[int, ...]:
        """Return the picks of one search before EOS, as far as it got."""
        stop = (self.picks[search] < 0) | (self.picks[search] == self.target.tree.eos)
        end = int(stop.argmax()) if stop.any() else len(stop)
        return tuple(int(pick) for pick in self.picks[search, :end])

    def accuracy(self) -> npt.NDArray[np.float64]:
        """Return how often each search's path gives the right answer on fresh inputs, exactly.

        A search that stopped early has no path; its answer counts as wrong.
        """
        rates: dict[tuple[int, ...], float] = {}
        values = np.zeros(len(self.picks))
        for search in np.flatnonzero(self.complete):
            path = self.path(int(search))
            if path not in rates:
                rates[path] = float(acceptance(self.target, path).value)
            values[search] = rates[path]
        return values

    def estimates(self, search: int, depth: int, level: float = 0.95) -> tuple[ArmEstimate, ...]:
        """Return what a search learned of each arm at a depth, with Clopper-Pearson intervals."""
        row = int(np.flatnonzero(self.searched[depth - 1] == search)[0])
        found = self.depths[depth - 1]
        return tuple(
            ArmEstimate(
                int(arm),
                int(found.pulls[row, arm]),
                Estimate.proportion(int(found.accepted[row, arm]), int(found.pulls[row, arm]), level),
            )
            for arm in np.flatnonzero(found.pulls[row])
        )

    def undecided(self, search: int) -> str | None:
        """Say in words why a search has no path it can stand for, or None if it has one."""
        for depth, (found, rows) in enumerate(zip(self.depths, self.searched, strict=True), start=1):
            row = np.flatnonzero(rows == search)
            if not len(row):
                continue
            if found.chosen[row[0]] < 0:
                return f"stopped at depth {depth} before one pick stood out"
            if found.tied[row[0]]:
                return f"several picks at depth {depth} were accepted equally often; one was drawn by lot"
        return None


def identify(
    arms: Arms,
    rule: Rule,
    searches: int,
    seed: int | Sequence[int],
    budget: Budget | None = None,
    progress: Callable[[float], None] = lambda done: None,
) -> Identification:
    """Run a batch of searches; the seed decides ties."""
    target = arms.target
    rng = np.random.default_rng([*([seed] if isinstance(seed, int) else seed), searches])
    ledger = Ledger(searches, budget or Budget())
    steps = target.k + 1
    picks = np.full((searches, steps), -1, dtype=np.int64)
    going = np.arange(searches)
    depths, searched = [], []
    for depth in range(1, steps + 1):
        histories = picks[going, : depth - 1]
        own = Ledger(len(going), ledger.budget)
        own.queries, own.tokens = ledger.queries[going], ledger.tokens[going]
        found = rule.decide(arms, histories, own, rng)
        decided = found.chosen >= 0
        tokens = np.zeros(len(going), dtype=np.int64)
        tokens[decided] = arms.commit(histories[decided], found.chosen[decided])
        own.spend(np.zeros(len(going), dtype=np.int64), tokens)
        ledger.queries[going], ledger.tokens[going] = own.queries, own.tokens
        depths.append(found)
        searched.append(going)
        picks[going, depth - 1] = found.chosen
        ended = found.chosen == target.tree.eos
        picks[going[ended], depth:] = target.tree.eos
        going = going[decided & ~ended]
        progress(depth / steps)
        if not len(going):
            break
    return Identification(target, picks, ledger.queries, ledger.tokens, tuple(depths), tuple(searched))
