"""pass@K (Table 1): the probability that at least one of K samples is correct.

From n samples of a problem of which c are correct, the unbiased estimate is

    pass@K = 1 - C(n - c, K) / C(n, K),       K <= n.

It averages over all ways to take K of the n samples. For K > n there is no unbiased estimate, and none is made
up: with no correct sample in 64, the usual shortcut would call pass@256 certain. Intervals are bootstrap
intervals over problems, since problems, not samples, are what a new test set would change.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import stats

from stepladder.errors import InputError
from stepladder.scaling import Interval

Floats = npt.NDArray[np.float64]

PAPER_K = (1, 2, 4, 8, 16, 32, 64, 128, 256)
BOOTSTRAPS = 2000


def pass_at_k(samples: int, correct: int, k: int) -> float:
    """Estimate pass@K of one problem.

    >>> pass_at_k(samples=4, correct=1, k=2)
    0.5
    """
    if not 1 <= k <= samples:
        raise InputError(f"must be between 1 and the number of samples, {samples}, got {k}", option="k")
    if not 0 <= correct <= samples:
        raise InputError(f"must be between 0 and {samples}, got {correct}", option="correct")
    # prod (1 - K / i) over i = n-c+1 .. n equals C(n-c, K) / C(n, K), without large numbers.
    factors = 1 - k / np.arange(samples - correct + 1, samples + 1)
    return float(1 - np.prod(np.maximum(factors, 0)))


def pass_matrix(counts: Sequence[tuple[int, int]], ks: Sequence[int]) -> Floats:
    """Return pass@K of every problem (rows) at every K (columns); counts are (correct, samples)."""
    return np.array([[pass_at_k(samples, correct, k) for k in ks] for correct, samples in counts])


def bootstrap(values: Floats, seed: int = 0, level: float = 0.95) -> Interval:
    """Return the mean over problems with its bootstrap interval.

    Resampled means are stretched by sqrt(n / (n-1)) around the mean, since a bootstrap of n problems
    understates their spread by that factor.
    """
    problems = len(values)
    mean = float(values.mean())
    if problems < 2:
        return Interval(mean, 0.0, 1.0)
    rng = np.random.default_rng(seed)
    draws = values[rng.integers(problems, size=(BOOTSTRAPS, problems))].mean(axis=1)
    spread = (draws - mean) * np.sqrt(problems / (problems - 1))
    low, high = np.quantile(mean + spread, [(1 - level) / 2, (1 + level) / 2])
    return Interval(mean, float(low), float(high))


def crossed_interval(values: Floats, level: float = 0.95) -> Interval:
    """Return the mean over seeds (rows) and problems (columns) with its interval for new ones of both.

    Student's half-width over the seeds and the normal one over the problems add in squares. That is cautious:
    the noise of each cell counts in both.
    """
    seeds, problems = values.shape
    spread = values.mean(axis=0).std(ddof=1) if problems > 1 else 1.0
    over_problems = stats.norm.ppf((1 + level) / 2) * spread / np.sqrt(problems)
    over_seeds = 0.0
    if seeds > 1:
        quantile = stats.t.ppf((1 + level) / 2, seeds - 1)
        over_seeds = quantile * values.mean(axis=1).std(ddof=1) / np.sqrt(seeds)
    mean, half = float(values.mean()), float(np.hypot(over_seeds, over_problems))
    return Interval(mean, mean - half, mean + half)


def difference(first: Floats, second: Floats, seed: int = 0) -> Interval:
    """Return the mean difference on the same problems, with its interval."""
    if len(first) != len(second):
        raise InputError(f"{len(first)} and {len(second)} problems cannot be compared one by one")
    if len(first) == 1:  # one problem says nothing of others
        return Interval(float(first[0] - second[0]), -1.0, 1.0)
    return bootstrap(first - second, seed)


def in_words(first: str, second: str, gap: Interval) -> str:
    """Say which is better only where the interval says so.

    >>> in_words("A", "B", Interval(0.1, 0.02, 0.18))
    'A is better than B by 10.0 points [2.0, 18.0]'
    """
    shown = f"{100 * abs(gap.value):.1f} points [{100 * gap.low:.1f}, {100 * gap.high:.1f}]"
    if gap.low > 0:
        return f"{first} is better than {second} by {shown}"
    if gap.high < 0:
        other = f"{100 * abs(gap.value):.1f} points [{-100 * gap.high:.1f}, {-100 * gap.low:.1f}]"
        return f"{second} is better than {first} by {other}"
    return f"no difference between {first} and {second} is shown: {100 * gap.value:+.1f} points " + (
        f"[{100 * gap.low:.1f}, {100 * gap.high:.1f}]"
    )
