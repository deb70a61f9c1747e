"""Problems whose coverage is known: C* from each stage to the next, (C*)^K from the base model to the last.

A response is a string of K symbols, one for each lock of a chain. Which symbol opens a lock depends on the
prompt. The base model opens each lock of prompt x with probability `base_rates[x]`, else it picks a wrong
symbol. A lock counts only if all locks before it are open: as in a reasoning tree, the prefix must be right.

    feature (k, s)      1 / sqrt(K) if locks 1..k-1 are open and the symbol at lock k is s places after the
                        one that opens it. Only s = 0 is rewarded, which a learner has to find out. The last
                        s is left out, since the others tell it.
    reward of stage k   the sum of worth(j) over the locks j <= k that count as open

Stage k makes the responses that open lock k likelier. At a prompt with base rate q, the best policy of stage
k-1 opens it with probability t = q (q C_1) .. (q C_{k-1}), and stage k multiplies that by exactly C_k if

    exp(worth(k) / temperature) = C_k (1 - t) / (1 - t C_k).

The worths are set at the hardest prompt, the one with the smallest q; at all others the factor is smaller.
The responses that open every lock always gain most, so coverages multiply exactly, from any stage i to any
later one j: C_{i+1} .. C_j. That is the assumption of Thm. curriculum-spanner, with equality.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stepladder.errors import InputError, check_between
from stepladder.search.linear_softmax import ROUNDING, Floats, LinearSoftmax

LARGEST_ENUMERATION = 10**6


@dataclass(frozen=True)
class StagedProblem:
    """A linear softmax model with the rewards of K stages and the coverage from each stage to the next."""

    model: LinearSoftmax
    targets: Floats
    """The parameter of each stage's reward, and so of its best policy, shape (stages, dimension)."""
    stage_coverage: tuple[float, ...]
    """What the coverage of each best policy by the one before it is said to be."""
    reward_bound: float
    """All rewards are between 0 and this."""

    def __post_init__(self) -> None:
        """Check the shapes and the bound on the rewards."""
        if self.targets.shape != (len(self.stage_coverage), self.model.dimension) or not len(self.targets):
            raise InputError(
                f"must have shape (stages, {self.model.dimension}) with as many stages as coverages "
                f"({len(self.stage_coverage)}), got {self.targets.shape}",
                option="targets",
            )
        rewards = self.model.rewards(self.targets)
        if not (rewards.min() >= -ROUNDING and rewards.max() <= self.reward_bound + ROUNDING):
            raise InputError(
                f"must bound all rewards, which go from {rewards.min():g} to {rewards.max():g}, "
                f"got {self.reward_bound:g}",
                option="reward_bound",
            )

    @property
    def n_stages(self) -> int:
        """K."""
        return len(self.stage_coverage)

    @property
    def total_coverage(self) -> float:
        """The coverage of the last best policy by the base model: (C*)^K."""
        return math.prod(self.stage_coverage)

    @property
    def parameter_bound(self) -> float:
        """The norm of the longest target."""
        return float(np.linalg.norm(self.targets, axis=1).max())

    def best(self, stage: int) -> Floats:
        """Return the best policy of a stage; stage 0 is the base model."""
        return self.model.base if stage == 0 else self.model.policy(self.targets[stage - 1])

    def base_regret(self) -> float:
        """Return the base model's regret at the last stage."""
        return float(self.model.regret(self.model.base, self.targets[-1]))


def lock_chain(
    stage_coverage: Sequence[float],
    base_rates: Sequence[float] = (0.2, 0.3, 0.4),
    alphabet: int = 2,
    temperature: float = 1.0,
    reward_bound: float | None = None,
    merge: bool = True,
) -> StagedProblem:
    """Build a chain with one lock for each stage and one prompt for each base rate, asked equally often.

    By default the reward bound is 1.1 times the best reward, so that no response is rewarded for certain.
    `merge=False` keeps all alphabet^K responses, to check by enumeration what the merged problem says.

    >>> problem = lock_chain([4.0, 4.0, 4.0])
    >>> from stepladder.search.linear_softmax import coverage
    >>> [round(float(coverage(problem.best(k), problem.best(0))), 9) for k in (1, 2, 3)]
    [4.0, 16.0, 64.0]
    """
    _check(stage_coverage, base_rates, alphabet)
    worths = temperature * np.log(_odds(stage_coverage, min(base_rates)))
    features, base = _enumerate(len(worths), base_rates, alphabet)
    model = LinearSoftmax(features, base, np.full(len(base_rates), 1 / len(base_rates)), temperature)
    targets = np.zeros((len(worths), len(worths), alphabet - 1))
    for stage in range(len(worths)):
        targets[stage, : stage + 1, 0] = worths[: stage + 1] * math.sqrt(len(worths))
    return StagedProblem(
        model.merged() if merge else model,
        targets.reshape(len(worths), -1),
        tuple(float(value) for value in stage_coverage),
        1.1 * float(worths.sum()) if reward_bound is None else reward_bound,
    )


def _odds(stage_coverage: Sequence[float], rate: float) -> Floats:
    """Return exp(worth / temperature) of each lock."""
    reached, found = rate, []
    for wanted in stage_coverage:
        found.append(wanted * (1 - reached) / (1 - reached * wanted))
        reached *= wanted * rate
    return np.asarray(found)


def _enumerate(locks: int, base_rates: Sequence[float], alphabet: int) -> tuple[Floats, Floats]:
    """Return the features and the base model's law of all strings, at all prompts."""
    strings = np.asarray(list(itertools.product(range(alphabet), repeat=locks)))
    features = np.zeros((len(base_rates), len(strings), locks, alphabet))
    base = np.ones((len(base_rates), len(strings)))
    for prompt, rate in enumerate(base_rates):
        opening = (prompt + np.arange(locks)) % alphabet
        places = (strings - opening) % alphabet
        counts = np.ones(len(strings), dtype=np.bool_)
        for lock in range(locks):
            features[prompt, np.flatnonzero(counts), lock, places[counts, lock]] = 1 / math.sqrt(locks)
            base[prompt] *= np.where(places[:, lock] == 0, rate, (1 - rate) / (alphabet - 1))
            counts &= places[:, lock] == 0
    # The last wrong symbol is told by the absence of the others.
    kept = features[..., :-1].reshape(len(base_rates), len(strings), -1)
    return kept, base


def _check(stage_coverage: Sequence[float], base_rates: Sequence[float], alphabet: int) -> None:
    if not len(stage_coverage) or not len(base_rates):
        raise InputError("needs at least one stage and at least one base rate")
    check_between("alphabet", alphabet, 2, 100)
    if alphabet ** len(stage_coverage) * len(base_rates) > LARGEST_ENUMERATION:
        raise InputError(
            f"gives {alphabet}^{len(stage_coverage)} responses, at most {LARGEST_ENUMERATION} are enumerated",
            option="alphabet",
        )
    for rate in base_rates:
        if not 0 < rate < 1:
            raise InputError(f"must be between 0 and 1, got {rate:g}", option="base_rates")
    for wanted in stage_coverage:
        if not 1 < wanted < 1 / min(base_rates):
            raise InputError(
                f"must be above 1 and below 1 / (smallest base rate) = {1 / min(base_rates):g}, got {wanted:g}",
                option="stage_coverage",
            )
