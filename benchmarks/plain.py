"""The plain vectorised NumPy rollout that the benchmarks compare with: pick by pick, all chains at once.

A helper of the benchmarks, not one itself.
"""

import numpy as np
import numpy.typing as npt

D = 8
SECRET = (0, 1, 2)


def plain_rollout(
    count: int, seed: int = 0
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return picks, answers and terminal rewards of parity d=8 under PART, ended chains left out."""
    rng = np.random.default_rng(seed)
    inputs = rng.integers(0, 2, size=(count, D))
    cdf = cumulative_picks()
    picks = np.full((count, D + 1), D)
    answers = np.zeros(count, dtype=np.int64)
    going = np.arange(count)
    last = np.full(count, D)
    for depth in range(D + 1):
        pick = (cdf[last] <= rng.random(len(going))[:, None]).sum(axis=1)
        picks[going, depth] = pick
        goes_on = pick < D
        going, last = going[goes_on], pick[goes_on]
        answers[going] ^= inputs[going, last]
    rewards = answers == np.bitwise_xor.reduce(inputs[:, SECRET], axis=1)
    return picks, answers, rewards


def cumulative_picks() -> npt.NDArray[np.float64]:
    """Return the cumulative distribution of the next pick after each last pick; row D is the root."""
    weights = np.triu(np.ones((D + 1, D + 1)), k=1)
    weights[D, :D] = 1
    cdf = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    cdf[:, D] = 1
    cdf[D, D - 1] = 1
    return cdf
