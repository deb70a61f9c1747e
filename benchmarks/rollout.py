"""Bulk rollouts of parity d=8 against a plain vectorised NumPy rollout.

Both draw a million inputs and PART index paths for the secret (0, 1, 2) and hold all of the picks,
answers and terminal-oracle rewards at the end.

    python benchmarks/rollout.py
"""

import sys

import numpy as np
import numpy.typing as npt

from plain import SECRET, D, plain_rollout
from stepladder.trees import Parity, Part, Rollouts, Target, TerminalOracle, rollout
from timing import compare

COUNT = 1_000_000
TARGET = 10


def ours() -> list[tuple[Rollouts, npt.NDArray[np.bool_]]]:
    oracle = TerminalOracle(Target(Parity(d=D), SECRET))
    parts = rollout(Part(oracle.target.tree), COUNT, seed=0)
    return [(part, oracle.judge(part.inputs, part.answers)) for part in parts]


def baseline() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    return plain_rollout(COUNT)


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
