"""One gradient of Algorithm A from a million rollouts: counted against a plain vectorised NumPy rollout.

Parity d=8, k=3. Counts are timed per trial in a batch of 400, as `stepladder complexity` draws them; the
time of a single trial by itself is reported beside it. The plain rollout only holds picks, answers and
rewards at the end: turning them into a gradient would cost it more.

    python benchmarks/counts_vs_rollout.py
"""

import sys

import torch

from plain import SECRET, D, plain_rollout
from stepladder.curriculum import no_curriculum
from stepladder.finetune.engines import CountsEngine
from stepladder.finetune.setup import Setup
from stepladder.trees import Parity, Target
from timing import alternate, report, seconds_of

COUNT = 1_000_000
TRIALS = 400
TARGET = 1000


def counted(trials: int) -> torch.Tensor:
    setup = Setup(Target(Parity(d=D), SECRET))
    weights = torch.zeros(trials, setup.size, setup.size, dtype=torch.float64)
    stage = no_curriculum(len(SECRET))[0]
    return CountsEngine(setup, [0]).gradient(weights, stage, COUNT, range(trials))


def main() -> int:
    counted(TRIALS)
    batch, baseline = alternate(lambda: counted(TRIALS), lambda: plain_rollout(COUNT), repetitions=5)
    single = min(seconds_of(lambda: counted(1)) for _ in range(20))
    ratio = baseline / (batch / TRIALS)
    milliseconds = {"trial_ms": 1e3 * batch / TRIALS, "single_trial_ms": 1e3 * single}
    return report(
        "counts_vs_rollout", ratio, TARGET, seconds=batch / TRIALS, baseline_seconds=baseline, **milliseconds
    )


if __name__ == "__main__":
    sys.exit(main())
