"""How often to pull the arms of a depth, and which one to commit to.

    Fixed(m)      every arm m times, then the arm accepted most often; ties are broken at random
    paper         Fixed with the paper's m: d^(2(k+1-l)) log(d/delta) for bai (Alg. bai),
                  d^2 (1-rho)^-2 log(d/delta) for ltar (Alg. ltar), rho the spurious rate
    Adaptive      pulls only as often as the observed gaps need, at the same confidence

Breaking ties by position would cheat: the paper's secret [0,1,2] is always the first legal pick.

The adaptive rule is successive elimination (Even-Dar, Mannor and Mansour, JMLR 2006) with an anytime-valid
sign test. Every arm b carries the hypothesis "b is the best arm". In each round all arms still in are
pulled once, and b is compared with the leader chosen before the round. Where exactly one of the two is
accepted, the leader wins with probability at most 1/2 if b is the best, so with w wins and l losses

    e_b = 2^(w+l) * average of t^w (1-t)^l over t uniform in [1/2, 1]

is a non-negative supermartingale from 1, and by Ville's inequality it ever exceeds 1/delta with
probability at most delta (mixture martingales: Robbins, Ann. Math. Stat. 1970). An arm leaves when its e_b
does. Only the best arm's own departure is an error, so no union over the arms is paid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import betaln
from scipy.stats import beta

from stepladder.errors import InputError, check_between
from stepladder.search.arms import Arms, SearchMethod, check_delta
from stepladder.search.budget import Ledger, Numbers
from stepladder.trees import Target, family_spurious_rate
from stepladder.trees.tree import Mask, Picks

RuleName = Literal["fixed", "paper", "adaptive"]
Floats = npt.NDArray[np.float64]

LARGEST_PULLS = 10**15
LARGEST_BATCH = 5 * 10**8
"""Rounds at once; hypergeometric draws take populations below 1e9."""


@dataclass
class Depth:
    """What a batch of searches learned at one depth, shapes (searches, d+1) or (searches,)."""

    arms: Mask
    """Which arms there were."""
    pulls: Numbers
    accepted: Numbers
    chosen: npt.NDArray[np.int64]
    """The pick to commit to; -1 where the search stopped before it could tell."""
    tied: Mask
    """Whether the choice was a coin flip between arms accepted equally often."""


@dataclass(frozen=True)
class Fixed:
    """Pull every arm the same number of times: `per_depth[l-1]` at depth l, or one number for all."""

    per_depth: tuple[int, ...]

    def __post_init__(self) -> None:
        """Check the numbers."""
        for pulls in self.per_depth:
            check_between("per_arm", pulls, 1, LARGEST_PULLS)

    def decide(self, source: Arms, histories: Picks, ledger: Ledger, rng: np.random.Generator) -> Depth:
        """Pull, and take the most accepted arm."""
        depth = histories.shape[1]
        per_arm = self.per_depth[min(depth, len(self.per_depth) - 1)]
        arms = source.target.tree.legal_mask(histories)
        pulls = arms * np.int64(per_arm)
        affordable = ledger.affords(pulls.sum(axis=1))
        pulls = pulls * affordable[:, None]
        accepted, tokens = source.pull(histories, pulls)
        ledger.spend(pulls.sum(axis=1), tokens)
        chosen, tied = most_accepted(accepted, arms, rng)
        chosen[~affordable] = -1
        return Depth(arms, pulls, accepted, chosen, tied & affordable)


@dataclass(frozen=True)
class Adaptive:
    """Successive elimination with the anytime-valid sign test, error at most `delta` per depth.

    A depth whose best two arms are equally good would never end; after `patience` rounds at a depth the
    search stops and says that it could not tell.
    """

    delta: float
    patience: tuple[int, ...] = (10**12,)
    """Rounds at most, for each depth or one number for all."""
    growth: float = 0.05
    """Rounds between checks, as a share of the rounds so far; checking late is always valid."""

    def __post_init__(self) -> None:
        """Check the confidence and the patience."""
        check_delta(self.delta)
        for rounds in self.patience:
            check_between("patience", rounds, 1, LARGEST_PULLS)

    def decide(self, source: Arms, histories: Picks, ledger: Ledger, rng: np.random.Generator) -> Depth:
        """Pull all arms still in, round after round, until one is left."""
        arms = source.target.tree.legal_mask(histories)
        alive = arms.copy()
        searches, width = arms.shape
        pulls = np.zeros((searches, width), dtype=np.int64)
        accepted = np.zeros_like(pulls)
        wins, losses = np.zeros_like(pulls), np.zeros_like(pulls)
        going = alive.sum(axis=1) > 1
        rounds, patience = 0, self.patience[min(histories.shape[1], len(self.patience) - 1)]
        while going.any() and rounds < patience:
            batch = min(max(1, int(rounds * self.growth)), patience - rounds, LARGEST_BATCH)
            going &= ledger.affords(alive.sum(axis=1) * batch)
            now = (alive & going[:, None]) * np.int64(batch)
            leader, _ = most_accepted(accepted, alive, rng)
            good, tokens = source.pull(histories, now)
            ledger.spend(now.sum(axis=1), tokens)
            pulls, accepted, rounds = pulls + now, accepted + good, rounds + batch
            won, lost = _discordant(good, leader, now > 0, batch, rng)
            wins, losses = wins + won, losses + lost
            alive &= ~((_log_evidence(wins, losses) >= -math.log(self.delta)) & going[:, None])
            going &= alive.sum(axis=1) > 1
        decided = alive.sum(axis=1) == 1
        chosen = np.where(decided, alive.argmax(axis=1), -1)
        return Depth(arms, pulls, accepted, chosen, np.zeros(searches, dtype=np.bool_))


def most_accepted(
    accepted: Numbers, arms: Mask, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], Mask]:
    """Return the arm accepted most often, ties broken at random, and where there was a tie."""
    counts = np.where(arms, accepted, -1)
    best = counts == counts.max(axis=1, keepdims=True)
    lots = np.where(best, rng.random(best.shape), -1.0)
    return lots.argmax(axis=1), best.sum(axis=1) > 1


def _discordant(
    good: Numbers, leader: npt.NDArray[np.int64], pulled: Mask, batch: int, rng: np.random.Generator
) -> tuple[Numbers, Numbers]:
    """Count the rounds of a batch that the leader won against each arm, and those it lost.

    The accepted rounds of two arms are independent, so given how many each had, the rounds that both had
    are hypergeometric: rounds can be pulled in bulk and paired up afterwards.
    """
    theirs = np.broadcast_to(good[np.arange(len(good)), leader][:, None], good.shape)
    both = rng.hypergeometric(good, batch - good, theirs) if batch > 1 else good * theirs
    counts = pulled & (np.arange(good.shape[1]) != leader[:, None])
    return (theirs - both) * counts, (good - both) * counts


def _log_evidence(wins: Numbers, losses: Numbers) -> Floats:
    """Return log e_b: the mixture over win probabilities uniform in [1/2, 1]."""
    above: Floats = np.zeros(wins.shape)
    pending = wins > losses
    w, lo = wins[pending], losses[pending]
    upper_half = beta.logsf(0.5, w + 1, lo + 1)
    above[pending] = (w + lo + 1) * math.log(2) + betaln(w + 1, lo + 1) + upper_half
    return above


def paper_rule(method: SearchMethod, target: Target, delta: float) -> Fixed:
    """Return the paper's repetitions per arm, with constant 1 in its Theta.

    >>> from stepladder.trees import Parity
    >>> paper_rule("ltar", Target(Parity(d=8), (0, 1, 2)), delta=0.1).per_depth
    (1122, 1122, 1122, 1122)
    """
    check_delta(delta)
    d, k = target.tree.d, target.k
    confidence = math.log(d / delta)
    if method == "bai":
        sizes = [d ** (2 * (k + 1 - depth)) * confidence for depth in range(1, k + 2)]
    else:
        rates = [float(family_spurious_rate(target, depth).value) for depth in range(1, k + 1)]
        rates.append(max(rates))
        if max(rates) >= 1:
            raise InputError(
                f"paper needs wrong picks to be rejected sometimes; for {target.tree.name} and this secret "
                "some never are, so no number of queries tells them apart",
                option="rule",
            )
        sizes = [d**2 * (1 - rate) ** -2 * confidence for rate in rates]
    if max(sizes) > LARGEST_PULLS:
        raise InputError(
            f"is out of reach: the paper's number of queries per arm is {max(sizes):.1g} here, over "
            f"{LARGEST_PULLS:.0g}; use a smaller d or a shorter secret",
            option="secret",
        )
    return Fixed(tuple(math.ceil(size) for size in sizes))


def adaptive_rule(method: SearchMethod, target: Target, delta: float) -> Adaptive:
    """Return the adaptive rule with error at most `delta` over all k+1 depths together.

    Its patience is twenty times the paper's m: a search that has taken a wrong turn finds all further arms
    equally good, and would ask forever.
    """
    rounds = paper_rule(method, target, delta).per_depth
    return Adaptive(delta / (target.k + 1), tuple(min(20 * m, LARGEST_PULLS) for m in rounds))
