"""The whole fixed-n search for Algorithm A at d=8, k=3 with 400 trials against one plain rollout of 1e7.

The search evaluates every n it needs from 1 to 5e7, 400 trained models at each; it stands for about 1e11
rollouts. First-hit sweeps are left out. The plain rollout runs in parts of a million, which is faster than
all at once and fits any memory.

    python benchmarks/complexity_search.py
"""

import sys

from plain import SECRET, D, plain_rollout
from stepladder.finetune.complexity import FinetuneQuestion
from stepladder.scaling import Log, Point, solve
from timing import compare

COUNT = 10_000_000
PART = 1_000_000
TRIALS = 400
TARGET = 1


def search() -> Point:
    question = FinetuneQuestion("no_curriculum", "parity", D, SECRET, learning_rate=1e8, trials=TRIALS)
    return solve(question, Log(None), sweeps=0)


def baseline() -> None:
    for part in range(COUNT // PART):
        plain_rollout(PART, seed=part)


if __name__ == "__main__":
    # The first search also pays for torch's optimiser imports, once per process.
    found = search().size
    if found is None or not 1e7 < found < 1e8:
        sys.exit(f"the search should find about 3e7 samples, got {found}")
    sys.exit(compare("complexity_search_d8_k3", TARGET, search, baseline))
