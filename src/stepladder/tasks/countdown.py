"""Countdown (Fig. 1 and App. C): make the target from all the numbers, each used once, by + - * /.

    level       0   1   2    3    4
    operations  2   3   4    5    6       (Trivial, Easy, Medium, Hard, OOD)
    numbers     3   4   5    6    7       each from 1 to 99
    target up to 100 100 1000 1000 100000

Difficulty is the number of operations a problem needs, and it is checked: no smaller set of the numbers makes
the target. That is why targets grow with the level; of targets up to 100, hardly any needs all of six numbers.

Reward: 1 for a valid equation that makes the target, 0.1 for the right format alone, 0 otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stepladder.errors import InputError, check_between, check_seed
from stepladder.tasks.arithmetic import Unreadable, evaluate
from stepladder.tasks.countdown_solver import fewest_operations, solve
from stepladder.tasks.format import Blocks
from stepladder.tasks.task import Problem, Prompt, Task, Verdict, column, hint_text, steps_of

LARGEST_NUMBER = 99
LARGEST_TARGET = {0: 100, 1: 100, 2: 1000, 3: 1000, 4: 100_000}
MOST_NUMBERS = 20
"""Numbers that a row to score may have; the solver is for seven."""

_STREAM = 0xC0
"""Sets this task's random numbers apart from those of other tasks with the same seed."""

_STEP = re.compile(r"\s*(\S+) ([-+*/]) (\S+) = (\S+)\s*")

SYSTEM = "You are a helpful assistant. You first think about the reasoning process and then give the answer."
USER = (
    "Using the numbers {numbers}, create an equation that equals {target}. You can use the basic operations "
    "+, -, * and /, and you must use each number exactly once. Show your work in <think> </think> tags. Then "
    "return the final equation in <answer> </answer> tags, for example <answer>(1 + 2) / 3</answer>."
)


class Countdown(Task):
    """Countdown problems.

    >>> task = Countdown()
    >>> problem = task.generate(level=0, index=0)
    >>> task.verify(problem, task.teacher_completion(problem)).reward
    1.0
    """

    name = "countdown"
    levels = (0, 1, 2, 3, 4)

    def __init__(self, largest: int = LARGEST_NUMBER) -> None:
        """Set the largest number of generated problems; small numbers are for tiny models."""
        check_between("largest", largest, 2, LARGEST_NUMBER)
        self.largest = largest

    def generate(self, level: int, index: int, seed: int = 0) -> Problem:
        """Draw numbers and targets until one needs all the operations of its level."""
        operations = self.check_level(level) + 2
        check_seed(seed)
        rng = np.random.default_rng([seed, level, index, _STREAM])
        while True:
            numbers = [int(number) for number in rng.integers(1, self.largest + 1, operations + 1)]
            target = int(rng.integers(1, LARGEST_TARGET[level] + 1))
            if fewest_operations(numbers, target) == operations:
                break
        found = solve(numbers, target)
        assert found is not None
        return Problem(f"countdown-{level}-{seed}-{index}", numbers, target, level, tuple(found.steps()))

    def identity(self, problem: Problem) -> str:
        """Return numbers and target; the order of the numbers does not matter."""
        return str((sorted(problem.question), problem.answer))

    def prompt(self, problem: Problem) -> Prompt:
        """Ask for the equation."""
        return Prompt(SYSTEM, USER.format(numbers=problem.question, target=problem.answer))

    def judge(self, problem: Problem, blocks: Blocks) -> Verdict:
        """Compute the equation exactly; `expression = target` is read as the expression."""
        expression, equals, right = blocks.answer.partition("=")
        if equals and right.strip() != str(problem.answer):
            return _wrong(f"the right-hand side must be {problem.answer}")
        value = evaluate(expression, problem.question)
        if isinstance(value, Unreadable):
            return _wrong(value.why)
        numerator, denominator = value
        if numerator != problem.answer * denominator:
            made = f"{numerator / denominator:.6g}"
            return _wrong(f"the equation makes {made}, not {problem.answer}")
        return Verdict(format_ok=True, correct=True, reward=1.0)

    def final_answer(self, problem: Problem) -> str:
        """Return the equation that the teacher's steps make, or the solver's where they make none."""
        equation = _put_together(problem.solution, problem.question)
        if equation and self.judge(problem, Blocks("", equation)).correct:
            return equation
        found = solve(problem.question, problem.answer)
        if found is None:
            raise InputError(f"{problem.question} cannot make {problem.answer}", option="question")
        return found.expression()

    def random_completion(self, problem: Problem, rng: np.random.Generator) -> str:
        """Join two random numbers by a random operation until one is left.

        Every result is a whole number up to the largest target, so that there is not too much to learn.
        """
        left = [(number, str(number)) for number in problem.question]
        lines = []
        while len(left) > 1:
            pair = [left.pop(int(rng.integers(len(left)))) for _ in range(2)]
            (a, first), (b, second) = sorted(pair, reverse=True)
            results = _results(a, b, most=max(100, problem.answer))
            operation, value = results[int(rng.integers(len(results)))]
            if operation in "+*" and rng.integers(2):  # teachers write sums and products in either order
                (a, first), (b, second) = (b, second), (a, first)
            lines.append(f"{a} {operation} {b} = {value}")
            left.append((value, f"({first} {operation} {second})"))
        equation = left[0][1].removeprefix("(").removesuffix(")")
        return f"{hint_text(lines)}\n</think>\n<answer>{equation}</answer>"

    def read(self, row: Mapping[str, Any]) -> Problem:
        """Check a row: positive numbers and a target that is no less than 0."""
        numbers, target = column(row, "question"), column(row, "answer")
        if not isinstance(numbers, list) or not all(_is_number(number) for number in numbers):
            raise InputError(f"must be a list of whole numbers from 1, got {numbers!r:.60}", option="question")
        if len(numbers) > MOST_NUMBERS:
            raise InputError(f"must have at most {MOST_NUMBERS} numbers, got {len(numbers)}", "question")
        if not isinstance(target, int) or isinstance(target, bool) or target < 0:
            raise InputError(f"must be a whole number from 0, got {target!r:.60}", option="answer")
        level = row.get("level")
        checked = None if level is None else self.check_level(level)
        return Problem(str(row.get("id", "")), numbers, target, checked, steps_of(row))


def _results(a: int, b: int, most: int) -> list[tuple[str, int]]:
    """Return the operations on a >= b that give a whole number from 0 to `most`, with what they give."""
    found = [("-", a - b), ("+", a + b), ("*", a * b)]
    if b and a % b == 0:
        found.append(("/", a // b))
    return [(operation, value) for operation, value in found if value <= most]


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 10**9


def _put_together(steps: Sequence[str], numbers: Sequence[int]) -> str:
    """Return the equation of steps such as `76 - 47 = 29`; empty if they do not use each number once."""
    at_hand = [(str(number), str(number)) for number in numbers]
    for step in filter(None, map(_STEP.fullmatch, steps)):
        left, operation, right, value = step.groups()
        sides = [_take(at_hand, side) for side in (left, right)]
        if not all(sides):
            return ""
        at_hand.append((value, f"({sides[0]} {operation} {sides[1]})"))
    return at_hand[0][1].removeprefix("(").removesuffix(")") if len(at_hand) == 1 else ""


def _take(at_hand: list[tuple[str, str]], value: str) -> str:
    """Take what makes the value out of what is at hand; empty if nothing does."""
    for place, (made, text) in enumerate(at_hand):
        if made == value:
            del at_hand[place]
            return text
    return ""


def _wrong(why: str) -> Verdict:
    return Verdict(format_ok=True, correct=False, reward=0.1, why=why)
