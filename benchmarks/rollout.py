"""Bulk rollouts of parity d=8 against a plain vectorised NumPy rollout.

Both draw a million inputs and PART index paths for the secret (0, 1, 2) and hold all of the picks,
answers and terminal-oracle rewards at the end.

    python benchmarks/rollout.py
"""

import sys

import numpy as np
import numpy.typing as npt

from stepladder.trees import Parity, Part, Rollouts, Target, TerminalOracle, rollout
from timing import compare

D = 8
SECRET = (0, 1, 2)
COUNT = 1_000_000
TARGET = 10


def ours() -> list[tuple[Rollouts, npt.NDArray[np.bool_]]]:
    oracle = TerminalOracle(Target(Parity(d=D), SECRET))
    parts = rollout(Part(oracle.target.tree), COUNT, seed=0)
    return [(part, oracle.judge(part.inputs, part.answers)) for part in parts]


def baseline() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Sample pick by pick: all chains at once, those that have ended left out."""
    rng = np.random.default_rng(0)
    inputs = rng.integers(0, 2, size=(COUNT, D))
    cdf = cumulative_picks()
    picks = np.full((COUNT, D + 1), D)
    answers = np.zeros(COUNT, dtype=np.int64)
    going = np.arange(COUNT)
    last = np.full(COUNT, D)
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


def check_same_law() -> None:
    """Refuse to time two samplers that disagree on how often the secret or the reward is hit."""
    parts = ours()
    target = Target(Parity(d=D), SECRET)
    picks, _, rewards = baseline()
    path = np.asarray(target.path)
    hits = {
        "secret": (
            sum(int(part.follows(target).sum()) for part, _ in parts),
            int((picks[:, : len(path)] == path).all(axis=1).sum()),
        ),
        "reward": (sum(int(judged.sum()) for _, judged in parts), int(rewards.sum())),
    }
    for what, (left, right) in hits.items():
        share = (left + right) / (2 * COUNT)
        if abs(left - right) > 5 * (2 * COUNT * share * (1 - share)) ** 0.5:
            sys.exit(f"the samplers disagree: {left} against {right} rows with the {what}")


if __name__ == "__main__":
    check_same_law()
    sys.exit(compare("rollout_parity_d8", TARGET, ours, baseline))
