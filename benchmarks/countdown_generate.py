"""Countdown problems of level 4 made on all cores, against one core.

Both make the same 40 problems, which is checked. `generate_many` works alone for its first second and then
starts the other processes; that start is within its time. On a machine with one core there is nothing to gain.

    python benchmarks/countdown_generate.py
"""

import os
import sys

from stepladder.tasks.countdown import Countdown
from stepladder.tasks.generate import generate_many
from stepladder.tasks.task import Problem
from timing import alternate, report

COUNT = 40
LEVEL = 4
TARGET = 1.3


def main() -> int:
    task = Countdown()
    made: dict[str, list[Problem]] = {}

    def together() -> None:
        made["together"] = generate_many(task, LEVEL, COUNT, seed=0)

    def alone() -> None:
        made["alone"] = [task.generate(LEVEL, index, 0) for index in range(COUNT)]

    seconds, baseline = alternate(together, alone, repetitions=1)
    if made["together"] != made["alone"]:
        raise SystemExit("countdown_generate: several processes make other problems")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    measured = {"seconds": seconds, "baseline_seconds": baseline, "cores": cores}
    return report("countdown_generate", baseline / seconds, TARGET, **measured)


if __name__ == "__main__":
    sys.exit(main())
