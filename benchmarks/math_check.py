"""MATH answers compared in a killable worker, against math-verify in this very process.

512 real answers (../shared/data, or the bundled examples), compared in turn with the same answer written as an
equation, `x = ...`, and with another row's answer, so that equal text decides none. Verdicts must agree.
The target 1/1.3 allows ours 1.3 times the time of the baseline.

    python benchmarks/math_check.py
"""

import json
import sys
from pathlib import Path

from math_verify import parse, verify

from stepladder.tasks.format import Blocks
from stepladder.tasks.math_problems import EXAMPLES, Math
from stepladder.tasks.task import Problem
from timing import alternate, report

REAL = Path(__file__).parents[2] / "shared" / "data" / "math.jsonl"
TARGET = round(1 / 1.3, 3)
REPETITIONS = 5


def pairs() -> list[tuple[Problem, str]]:
    source = REAL if REAL.exists() else EXAMPLES
    problems = [Math().read(json.loads(line)) for line in source.read_text().splitlines()]
    others = problems[1:] + problems[:1]
    asked = [
        (problem, f"x = {problem.answer}" if number % 2 else other.answer)
        for number, (problem, other) in enumerate(zip(problems, others, strict=True))
    ]
    return [(problem, text) for problem, text in asked if text != problem.answer]


def ours(asked: list[tuple[Problem, str]]) -> list[bool]:
    task = Math()
    return [task.judge(problem, Blocks("", f"\\boxed{{{text}}}")).correct for problem, text in asked]


def in_process(asked: list[tuple[Problem, str]]) -> list[bool]:
    return [
        verify(parse(f"\\boxed{{{problem.answer}}}"), parse(f"\\boxed{{{text}}}")) for problem, text in asked
    ]


def main() -> int:
    asked = pairs()
    verdicts = ours(asked)
    agreeing = sum(one == other for one, other in zip(verdicts, in_process(asked), strict=True))
    seconds, baseline = alternate(lambda: ours(asked), lambda: in_process(asked), REPETITIONS)
    missed = report(
        "math_check",
        baseline / seconds,
        TARGET,
        seconds=seconds,
        baseline_seconds=baseline,
        comparisons=len(asked),
        agreeing=agreeing,
        correct=sum(verdicts),
    )
    return missed or int(agreeing < len(asked))


if __name__ == "__main__":
    sys.exit(main())
