"""Many problems at once, on all cores when it takes long. Item i is the same whoever makes it, and in order."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor

from stepladder.processes import begin_worker
from stepladder.tasks.task import Problem, Task

ALONE_SECONDS = 1.0
"""How long one process goes on alone: other processes take about that long to start."""

CHUNK_SECONDS = 0.2
"""About how much work is handed to a process at a time."""


def generate_many(
    task: Task, level: int, count: int, seed: int, progress: Callable[[float], None] = lambda done: None
) -> list[Problem]:
    """Make items 0 to count - 1 of a level.

    Other processes import the main script: one that calls this needs `if __name__ == "__main__":`.
    """
    found: list[Problem] = []
    for problem in _as_they_come(task, level, count, seed):
        found.append(problem)
        progress(len(found) / count)
    return found


def _as_they_come(task: Task, level: int, count: int, seed: int) -> Iterator[Problem]:
    began = time.monotonic()
    done = 0
    while done < count and time.monotonic() - began < ALONE_SECONDS:
        yield task.generate(level, done, seed)
        done += 1
    left = range(done, count)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores == 1 or len(left) < 2:
        yield from (task.generate(level, index, seed) for index in left)
        return
    pace = done / ALONE_SECONDS if ALONE_SECONDS else 0
    chunk = max(1, min(int(pace * CHUNK_SECONDS), len(left) // (4 * cores)))
    # Spawned, not forked: a fork would copy whatever threads this process has in the middle of their work.
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(cores, spawned, _begin, (task, level, seed)) as pool:
        yield from pool.map(_item, left, chunksize=chunk)


# ---- in the other processes

_work: tuple[Task, int, int]
"""Set once for each process: a task may carry a whole data set."""


def _begin(task: Task, level: int, seed: int) -> None:
    global _work
    _work = (task, level, seed)
    begin_worker()


def _item(index: int) -> Problem:
    task, level, seed = _work
    return task.generate(level, index, seed)
