"""Parity and sums modulo V in words (Sec. 2.1.1): the paper's theorem, tried on a language model.

The chain of thought is pick, running value, pick, running value, ..., end:

    x0 -> 1
    x3 -> 0
    end

The secret picks are not told; only the outcome is rewarded, so a wrong chain is right with probability 1/V. Two
forms: `visible`, where the inputs stand in the prompt and the model writes the running values, and `hidden`,
where they do not and an environment answers each pick (`running_value`). A policy can only use picks in the
hidden form; in the visible one it can find shortcuts that depend on the input, so the verdict says whether the
chain took the secret's very picks.

Levels are the stages of the depth-increasing curriculum. Level l = 1..k judges the chain after l picks, as
the family oracle judges a truncated chain, and does not look at the answer block; level k+1 judges the whole
chain with its end, and the answer block must repeat its value. The reward is 1 or 0, as on trees.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Literal

import numpy as np

from stepladder.errors import InputError, check_seed
from stepladder.tasks.format import Blocks
from stepladder.tasks.task import Problem, Prompt, Task, Verdict, column, hint_text, steps_of
from stepladder.trees import Target
from stepladder.trees.catalogue import build_tree

Form = Literal["visible", "hidden"]

SYSTEM = "You are a careful assistant. You pick inputs one by one, and then give the answer."
RULES = (
    "A secret rule picks some of the inputs x0 to x{last}, from left to right; the answer is their sum modulo "
    "{alphabet}. Write one pick a line with the running value, such as `x0 -> 1`, and then `end`, all in "
    "<think> </think> tags. Then give the last running value in <answer> </answer> tags."
)
GIVEN = "The inputs are {inputs}. "
UNSEEN = "You cannot see the inputs; each of your picks is answered with the running value. "

_STEP = re.compile(r"x([0-9]{1,4})\s*->\s*([0-9]{1,7})\s*")
_STREAM = 0xC1


class Chain(Task):
    """Sums over secret positions of d inputs.

    >>> task = Chain("parity", d=4, secret=(0, 2))
    >>> problem = task.generate(level=3, index=0)
    >>> task.verify(problem, task.teacher_completion(problem)).exact_path
    True
    """

    def __init__(
        self,
        name: Literal["parity", "sum"] = "parity",
        d: int = 10,
        secret: Sequence[int] = (0, 1, 2, 3),
        alphabet: int | None = None,
        form: Form = "visible",
    ) -> None:
        """Set the secret; a parity's alphabet is 2."""
        self.name = name
        self.tree = build_tree(name, d, alphabet)
        self.secret = Target(self.tree, tuple(secret)).picks
        self.levels = tuple(range(1, len(self.secret) + 2))
        self.form = form
        self.spurious = 1 / self.tree.alphabet

    def generate(self, level: int, index: int, seed: int = 0) -> Problem:
        """Draw the inputs."""
        picks = self.secret[: self.check_level(level)]
        check_seed(seed)
        rng = np.random.default_rng([seed, level, index, _STREAM])
        inputs = [int(value) for value in rng.integers(0, self.tree.alphabet, self.tree.d)]
        totals = accumulate(inputs[pick] for pick in picks)
        steps = tuple(
            f"x{pick} -> {total % self.tree.alphabet}" for pick, total in zip(picks, totals, strict=True)
        )
        answer = self.running_value(inputs, picks)
        return Problem(f"{self.name}-{level}-{seed}-{index}", inputs, answer, level, steps)

    def running_value(self, inputs: Sequence[int], picks: Sequence[int]) -> int:
        """Return what the environment answers after these picks."""
        return sum(inputs[pick] for pick in picks) % self.tree.alphabet

    def prompt(self, problem: Problem) -> Prompt:
        """State the rules, and the inputs if they are visible."""
        inputs = ", ".join(f"x{number} = {value}" for number, value in enumerate(problem.question))
        opening = GIVEN.format(inputs=inputs) if self.form == "visible" else UNSEEN
        return Prompt(SYSTEM, opening + RULES.format(last=self.tree.d - 1, alphabet=self.tree.alphabet))

    def judge(self, problem: Problem, blocks: Blocks) -> Verdict:
        """Follow the chain as far as the level goes, and compare its value there."""
        picks = self._follow(problem.question, blocks.think)
        if isinstance(picks, str):
            return Verdict(format_ok=True, correct=False, reward=0.0, why=picks, exact_path=False)
        whole = problem.level == self.levels[-1]
        counted = picks if whole else picks[: problem.level]
        value = self.running_value(problem.question, counted)
        why = ""
        if whole and blocks.answer.strip() != str(value):
            why = f"the answer is not the last running value, {value}"
        elif value != problem.answer:
            why = f"the value is {value}, not {problem.answer}"
        return Verdict(True, not why, float(not why), why, exact_path=counted == self.secret[: problem.level])

    def _follow(self, inputs: Sequence[int], think: str) -> tuple[int, ...] | str:
        """Return the picks of a legal chain, or what is wrong with it. Legal picks go from left to right."""
        picks: list[int] = []
        value, place = 0, 0
        text = think.strip()
        while found := _STEP.match(text, place):
            number, pick = len(picks) + 1, int(found[1])
            if not (picks[-1] if picks else -1) < pick < self.tree.d:
                return f"step {number}: x{pick} is not a legal pick here"
            picks.append(pick)
            value = (value + inputs[pick]) % self.tree.alphabet
            if int(found[2]) != value:
                return f"step {number}: the running value is {value}, not {int(found[2])}"
            place = found.end()
        if text[place:] != "end":
            return f"step {len(picks) + 1}: neither `x0 -> 1` nor `end`: {text[place : place + 20]!r}"
        return tuple(picks) if picks else "the chain has no pick"

    def final_answer(self, problem: Problem) -> str:
        """Return the value."""
        return str(problem.answer)

    def teacher_completion(self, problem: Problem) -> str:
        """Return the teacher's chain with its end."""
        return super().teacher_completion(problem).replace("\n</think>", "\nend\n</think>")

    def random_completion(self, problem: Problem, rng: np.random.Generator) -> str:
        """Return a chain drawn from PART: every legal pick alike, the end among them."""
        picks: tuple[int, ...] = ()
        lines = []
        while (pick := int(rng.choice(self.tree.legal(picks)))) != self.tree.eos:
            picks = (*picks, pick)
            lines.append(f"x{pick} -> {self.running_value(problem.question, picks)}")
        value = self.running_value(problem.question, picks)
        return f"{hint_text([*lines, 'end'])}\n</think>\n<answer>{value}</answer>"

    def read(self, row: Mapping[str, Any]) -> Problem:
        """Check a row: d letters, and the answer that the secret gives them."""
        inputs, answer = column(row, "question"), column(row, "answer")
        if not isinstance(inputs, list) or len(inputs) != self.tree.d or not all(map(self._is_letter, inputs)):
            raise InputError(
                f"must be {self.tree.d} numbers below {self.tree.alphabet}, got {inputs!r:.60}", "question"
            )
        given = row.get("level")
        level = self.levels[-1] if given is None else self.check_level(given)
        expected = self.running_value(inputs, self.secret[:level])
        if answer != expected:
            raise InputError(f"must be {expected} for the secret {list(self.secret)}, got {answer!r}", "answer")
        return Problem(str(row.get("id", "")), inputs, expected, level, steps_of(row))

    def _is_letter(self, value: object) -> bool:
        return type(value) is int and 0 <= value < self.tree.alphabet
