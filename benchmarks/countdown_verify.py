"""Countdown completions judged: ours against an unsafe checker that hands the model's text to `eval`.

A completion of each kind for 250 problems of levels 0 and 1: the teacher's, one that makes another value, one
with a number too many, one without an answer block. The baseline is the usual recipe: a regular expression for
the format, one for the characters, sorted numbers, `eval`. Both must agree on every verdict.
The target 1/3 allows ours 3 times the time of the baseline. `eval_ratio` has the teacher's completions alone,
the only kind for which the baseline always gets as far as `eval`.

    python benchmarks/countdown_verify.py
"""

import re
import sys

from stepladder.tasks.countdown import Countdown
from stepladder.tasks.task import Problem
from timing import alternate, report

PROBLEMS = 250
TARGET = round(1 / 3, 3)

FORMAT = re.compile(
    r"^<think>((?:(?!<think>).)*)</think>\s*<answer>((?:(?!<answer>).)*)</answer>\s*$", re.DOTALL
)
ARITHMETIC = re.compile(r"^[\d+\-*/().\s]+$")

Asked = list[tuple[Problem, str]]


def unsafe_reward(problem: Problem, completion: str) -> float:
    found = FORMAT.match("<think>" + completion)
    if found is None:
        return 0.0
    expression = found.group(2).strip()
    numbers = sorted(int(number) for number in re.findall(r"\d+", expression))
    if numbers != sorted(problem.question) or not ARITHMETIC.match(expression):
        return 0.1
    try:
        value = eval(expression, {"__builtins__": None}, {})  # what must never be done with a model's text
    except Exception:
        return 0.1
    return 1.0 if abs(value - problem.answer) < 1e-5 else 0.1


def completions(task: Countdown) -> tuple[Asked, Asked]:
    """Return the teacher's completions, and those of all kinds."""
    problems = [task.generate(index % 2, index) for index in range(PROBLEMS)]
    teacher = [(problem, task.teacher_completion(problem)) for problem in problems]
    asked = [*teacher]
    for problem, text in teacher:
        off = Problem("", problem.question, problem.answer + 1, problem.level, ())
        asked += [(off, text), (problem, text.replace("<answer>", "<answer>1 + ")), (problem, text[:-9])]
    return teacher, asked


def main() -> int:
    task = Countdown()
    teacher, asked = completions(task)

    def ours(some: Asked) -> list[float]:
        return [task.verify(problem, text).reward for problem, text in some]

    def unsafe(some: Asked) -> list[float]:
        return [unsafe_reward(problem, text) for problem, text in some]

    if ours(asked) != unsafe(asked):
        raise SystemExit("countdown_verify: the baseline gives other rewards")
    seconds, baseline = alternate(lambda: ours(asked), lambda: unsafe(asked), repetitions=15)
    right, right_baseline = alternate(lambda: ours(teacher), lambda: unsafe(teacher), repetitions=15)
    return report(
        "countdown_verify",
        baseline / seconds,
        TARGET,
        seconds=seconds,
        baseline_seconds=baseline,
        verdict_us=1e6 * seconds / len(asked),
        eval_ratio=right_baseline / right,
    )


if __name__ == "__main__":
    sys.exit(main())
