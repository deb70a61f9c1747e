"""What every problem for a language model offers: generate, prompt, teacher steps, verify.

    task.generate(level, index, seed)   item `index` of a level; depends on nothing else
    task.prompt(problem)                system and user message; the assistant prefix is the same for all
    problem.solution                    teacher steps; a hint is the first few of them
    task.verify(problem, completion)    format_ok, correct, reward, and why not

A row of a file is `id question answer level solution`; a row to score also has `completion`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from stepladder.errors import InputError
from stepladder.tasks.format import ASSISTANT_PREFIX, BadFormat, Blocks, Completion, read_blocks


@dataclass(frozen=True)
class Problem:
    """One problem with its answer and the teacher's steps towards it."""

    id: str
    question: Any
    answer: Any
    level: int | None
    solution: tuple[str, ...]

    def row(self) -> dict[str, Any]:
        """Return the problem as a row of a file."""
        return {
            "id": self.id,
            "question": self.question,
            "answer": self.answer,
            "level": self.level,
            "solution": list(self.solution),
        }


class Verdict(NamedTuple):
    """What a completion is worth. `why` is empty when it is correct."""

    format_ok: bool
    correct: bool
    reward: float
    why: str = ""
    exact_path: bool | None = None
    """Whether the chain took the target's very picks; only tasks that have a target path know."""


class ChatTokenizer(Protocol):
    """As much of a Hugging Face tokenizer as a prompt needs."""

    chat_template: str | None

    def apply_chat_template(
        self, conversation: list[dict[str, str]], *, tokenize: bool, add_generation_prompt: bool
    ) -> Any:
        """Render the messages as text."""


@dataclass(frozen=True)
class Prompt:
    """System and user message; the assistant's turn begins with the prefix."""

    system: str
    user: str

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages before the assistant's turn."""
        return [{"role": "system", "content": self.system}, {"role": "user", "content": self.user}]

    def text(self, tokenizer: ChatTokenizer, hint: str = "") -> str:
        """Apply the chat template as text, then open the assistant's turn with the prefix and the hint.

        Given as messages, an assistant prefix would be closed as a finished turn by the trainers in use.
        """
        if not tokenizer.chat_template:
            raise InputError("has no chat template; take an instruct model, or set one", option="model")
        opened = tokenizer.apply_chat_template(self.messages, tokenize=False, add_generation_prompt=True)
        return f"{opened}{ASSISTANT_PREFIX}{hint}"


class Task(ABC):
    """A family of problems by level."""

    name: str
    levels: tuple[int, ...]
    """Levels from the easiest to the hardest."""
    pass_reward = 1.0
    """The reward from which on an answer is correct."""
    spurious = 0.0
    """How often a wrong chain is judged correct."""

    @abstractmethod
    def generate(self, level: int, index: int, seed: int = 0) -> Problem:
        """Make item `index` of a level: the same for the same (seed, level, index), whatever else is made."""

    @abstractmethod
    def prompt(self, problem: Problem) -> Prompt:
        """Ask the problem in words."""

    @abstractmethod
    def judge(self, problem: Problem, blocks: Blocks) -> Verdict:
        """Judge a well-formed completion."""

    @abstractmethod
    def final_answer(self, problem: Problem) -> str:
        """Return the text of the answer block that the teacher's steps lead to."""

    @abstractmethod
    def read(self, row: Mapping[str, Any]) -> Problem:
        """Check a row and make a problem of it; an InputError says which column is wrong."""

    def verify(self, problem: Problem, completion: Completion) -> Verdict:
        """Judge any text at all; hostile text gets a verdict like any other."""
        blocks = read_blocks(completion)
        if isinstance(blocks, BadFormat):
            return Verdict(format_ok=False, correct=False, reward=0.0, why=blocks.why)
        return self.judge(problem, blocks)

    def identity(self, problem: Problem) -> str:
        """Return what two problems share that are the same but for their id."""
        return str((problem.question, problem.answer))

    def hint(self, problem: Problem, steps: int) -> str:
        """Return the first teacher steps as they stand behind the assistant prefix."""
        return hint_text(problem.solution[:steps])

    def teacher_completion(self, problem: Problem) -> str:
        """Return the whole of the teacher's text behind the assistant prefix."""
        steps = self.hint(problem, len(problem.solution))
        return f"{steps}\n</think>\n<answer>{self.final_answer(problem)}</answer>"

    def random_completion(self, problem: Problem, rng: np.random.Generator) -> str:
        """Return a well-formed completion whose steps are legal and lead anywhere: what a tiny model is taught.

        It is to the task what PART is to a tree: the form without the aim.
        """
        raise InputError(
            f"{self.name} has no random legal steps to teach a tiny model; take a real model", "model"
        )

    def check_level(self, level: object) -> int:
        """Return the level as a number, or refuse one that the task does not have."""
        found = _whole(level)
        if found not in self.levels:
            allowed = f"{self.levels[0]} to {self.levels[-1]}"
            raise InputError(f"must be {allowed} for {self.name}, got {level!r}", option="level")
        return found


def hint_text(steps: Sequence[str]) -> str:
    """Return teacher steps as they stand behind the assistant prefix: each on a line of its own."""
    return "".join(f"\n{step.strip()}" for step in steps)


def column(row: Mapping[str, Any], *names: str) -> Any:
    """Return the first of the columns that the row has and that is not empty, or say that it is missing."""
    for name in names:
        value = row.get(name)
        if value is not None and value != "" and value != []:
            return value
    raise InputError(f"has no {' or '.join(names)}", option="the row")


def steps_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the teacher steps of a row: a list of texts, or none at all."""
    steps = row.get("solution")
    if steps is None:
        return ()
    if isinstance(steps, str):
        return (steps,)
    if not isinstance(steps, Sequence) or not all(isinstance(step, str) for step in steps):
        raise InputError(f"must be a list of texts, got {steps!r:.60}", option="solution")
    return tuple(steps)


def _whole(level: object) -> int | None:
    if isinstance(level, bool):
        return None
    if isinstance(level, int):
        return level
    if isinstance(level, str):
        digits = level.removeprefix("Level").strip()
        return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 4 else None
    return int(level) if isinstance(level, float) and level.is_integer() else None
