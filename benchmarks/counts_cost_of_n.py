"""The counts engine costs the same whatever n is: a batch of gradients at n = 1e12 against n = 1e4.

A batch of 400 trials at parity d=8, k=3, as `stepladder complexity` uses it, over every stage of the three
methods. At most 1.5 times the time is allowed, so the ratio is 1.5 t(1e4) / t(1e12) and its target 1.

    python benchmarks/counts_cost_of_n.py
"""

import sys

import torch

from stepladder.curriculum import METHODS, stages_of
from stepladder.finetune.engines import CountsEngine
from stepladder.finetune.setup import Setup
from stepladder.trees import Parity, Target
from timing import alternate, report

D = 8
SECRET = (0, 1, 2)
TRIALS = 400
FEW, MANY = 10**4, 10**12
ALLOWED = 1.5
TARGET = 1


def gradients(samples: int) -> None:
    """Draw the gradient of every stage once for the whole batch."""
    setup = Setup(Target(Parity(d=D), SECRET))
    engine = CountsEngine(setup, [0])
    weights = torch.zeros(TRIALS, setup.size, setup.size, dtype=torch.float64)
    for method in METHODS:
        for stage in stages_of(method, len(SECRET)):
            engine.gradient(weights, stage, samples, range(TRIALS))


def main() -> int:
    gradients(FEW)
    many, few = alternate(lambda: gradients(MANY), lambda: gradients(FEW), repetitions=9)
    return report("counts_cost_of_n", ALLOWED * few / many, TARGET, seconds=many, baseline_seconds=few)


if __name__ == "__main__":
    sys.exit(main())
