r"""MATH (App. "Additional Large-Scale Experiments"): problems in words with a boxed answer, levels 1 to 5.

    reward = 1 for a right answer, 0.1 for a well-formed completion with another, 0 otherwise

"Correctness is determined by normalized symbolic matching of boxed final answers": math-verify's, in a worker
that can be killed. The answer is the last \boxed{...} of the answer block, or the whole block if there is none.
Problems come from a file or data set of any layout in `math_layouts`; without one, from a dozen of our own.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from stepladder.errors import InputError, check_seed
from stepladder.tasks.format import Blocks
from stepladder.tasks.math_check import SECONDS, Outcome, compare
from stepladder.tasks.math_layouts import counts_from_zero, last_boxed, our_columns
from stepladder.tasks.rows import at, load
from stepladder.tasks.task import Problem, Prompt, Task, Verdict, column, steps_of

EXAMPLES = Path(__file__).with_name("math_examples.jsonl")

LONGEST_ANSWER = 1000
"""Characters of an answer that are compared; the longest of MATH has about 150."""

_SYSTEM = (
    "You are a careful mathematician. You first think through the problem step by step, "
    "then give the final answer."
)
_USER = (
    "Solve this problem.\n{question}\n\n"
    "Show your work in <think> </think> tags. Then give the final answer in \\boxed{{}} "
    "within <answer> </answer> tags, for example <answer>\\boxed{{500}}</answer>."
)


class Math(Task):
    """Problems of a file or data set, by level."""

    name = "math"
    levels = (1, 2, 3, 4, 5)

    def __init__(self, source: str | Path = EXAMPLES, split: str = "train") -> None:
        """Take the problems from a .jsonl or .parquet file or a Hugging Face data set, read when needed."""
        self.source = source
        self.split = split

    @cached_property
    def problems(self) -> dict[int | None, list[Problem]]:
        """All problems of the source by level; those without a level under None."""
        found: dict[int | None, list[Problem]] = {level: [] for level in (*self.levels, None)}
        rows = list(load(self.source, self.split))
        shift = int(counts_from_zero(row for _, row in rows))
        for place, row in rows:
            with at(place):
                level = row.get("level")
                problem = self.read({**row, "level": level + shift} if isinstance(level, int) else row)
            found[problem.level].append(problem)
        return found

    def generate(self, level: int, index: int, seed: int = 0) -> Problem:
        """Take the level's problems in an order drawn by the seed; after the last one, draw another order."""
        check_seed(seed)
        if index < 0:
            raise InputError(f"must be at least 0, got {index}", option="index")
        problems = self.problems[self.check_level(level)]
        if not problems:
            raise InputError(f"{level} has no problems in {self.source}", option="level")
        again, position = divmod(index, len(problems))
        return problems[_order(len(problems), f"{seed} {level} {again}")[position]]

    def prompt(self, problem: Problem) -> Prompt:
        """Ask the question, and for a boxed answer."""
        return Prompt(_SYSTEM, _USER.format(question=problem.question))

    def judge(self, problem: Problem, blocks: Blocks) -> Verdict:
        """Compare the answers; identical TeX needs no worker."""
        answer = _answer_of(blocks)
        why = "" if answer == problem.answer else _what_is_wrong(answer, problem.answer)
        return Verdict(format_ok=True, correct=not why, reward=0.1 if why else 1.0, why=why)

    def final_answer(self, problem: Problem) -> str:
        r"""Return the answer in its \boxed{}."""
        return f"\\boxed{{{problem.answer}}}"

    def read(self, row: Mapping[str, Any]) -> Problem:
        """Make a problem of a row of any layout; a row to score needs no level."""
        ours = our_columns(row)
        question = column(ours, "question")
        if not isinstance(question, str):
            raise InputError(f"must be a text, got {question!r:.60}", option="question")
        return Problem(
            id=str(ours["id"] or f"math-{hashlib.sha256(question.encode(errors='replace')).hexdigest()[:10]}"),
            question=question,
            answer=_expected(ours),
            level=None if ours["level"] is None else self.check_level(ours["level"]),
            solution=steps_of(ours),
        )


@lru_cache(maxsize=64)
def _order(count: int, seed: str) -> tuple[int, ...]:
    return tuple(random.Random(seed).sample(range(count), count))


def _expected(row: Mapping[str, Any]) -> str:
    answer = column(row, "answer")
    if isinstance(answer, bool) or not isinstance(answer, str | int | float) or not str(answer).strip():
        raise InputError(f"must be a text or a number, got {answer!r:.60}", option="answer")
    return str(answer).strip()


def _answer_of(blocks: Blocks) -> str:
    boxed = last_boxed(blocks.answer)
    return blocks.answer.strip().removesuffix(".") if boxed is None else boxed


def _what_is_wrong(answer: str, expected: str) -> str:
    if not answer:
        return "the answer is empty"
    if len(answer) > LONGEST_ANSWER:
        return f"the answer has more than {LONGEST_ANSWER:,} characters"
    match compare(answer, expected):
        case Outcome.EQUAL:
            return ""
        case Outcome.DIFFERENT:
            return f"the answer is {_clip(expected)}, not {_clip(answer)}"
        case Outcome.TOO_LONG:
            return f"the comparison took longer than {SECONDS:g} s"
        case Outcome.BROKEN:
            return "the comparison ran out of memory"


def _clip(text: str) -> str:
    """Shorten a text for a message, and show what cannot be printed as a question mark."""
    shown = "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
