"""Countdown solved at 6 operations: ours against a plain recursive search over all pairs and operations.

Five solvable problems of level 4, seven numbers each. The plain search tries every operation on every pair of
the numbers left, until the target stands alone; in floats, which are faster and less sure than our fractions.
Most searches would take many minutes, so each is stopped after LIMIT seconds, which then count as its time: the
true ratio is at least what is reported. `finished` says how many it solved. Seconds are sums over the problems.

    python benchmarks/countdown_solver.py
"""

import contextlib
import sys
import time

from stepladder.tasks.countdown import Countdown
from stepladder.tasks.countdown_solver import solve
from timing import report, seconds_of

PROBLEMS = 5
LIMIT = 4.0
TARGET = 10


class OutOfTimeError(Exception):
    """The plain search has had its time."""


def plain_search(numbers: list[float], target: int, end: float) -> bool:
    if len(numbers) == 1:
        return abs(numbers[0] - target) < 1e-6
    if time.perf_counter() > end:
        raise OutOfTimeError
    for i in range(len(numbers)):
        for j in range(i):
            rest = [number for place, number in enumerate(numbers) if place not in (i, j)]
            a, b = numbers[i], numbers[j]
            results = [a + b, a - b, b - a, a * b]
            if b:
                results.append(a / b)
            if a:
                results.append(b / a)
            if any(plain_search([*rest, result], target, end) for result in results):
                return True
    return False


def main() -> int:
    task = Countdown()
    problems = [task.generate(4, index) for index in range(PROBLEMS)]
    seconds = baseline = 0.0
    finished = 0
    for problem in problems:
        seconds += min(seconds_of(lambda: solve(problem.question, problem.answer)) for _ in range(3))  # noqa: B023
        start = time.perf_counter()
        with contextlib.suppress(OutOfTimeError):
            finished += plain_search([*map(float, problem.question)], problem.answer, start + LIMIT)
        baseline += time.perf_counter() - start
    return report(
        "countdown_solver",
        baseline / seconds,
        TARGET,
        seconds=seconds,
        baseline_seconds=baseline,
        finished=finished,
        problems=PROBLEMS,
    )


if __name__ == "__main__":
    sys.exit(main())
