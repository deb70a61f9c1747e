"""Data sets for a run: prompts as text, with the columns that rewards and hints need."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from datasets import Dataset

from stepladder.errors import InputError
from stepladder.posttrain.config import Data
from stepladder.tasks.generate import generate_many
from stepladder.tasks.rows import read_problems
from stepladder.tasks.task import ChatTokenizer, Problem, Task, Verdict

TEST_SEED = 1_000_000_007
"""Added to the seed for test problems."""

DRAWS = 10
"""How many draws for each held-out problem before some may come again."""

Quiet = Callable[[float], None]


def training_problems(task: Task, data: Data, seed: int, progress: Quiet = lambda done: None) -> list[Problem]:
    """Read or generate the training problems; every level asked for must be there."""
    levels = data.levels or task.levels[:-1]
    if data.source is None:
        return _generated(task, levels, data.per_level, seed, progress)
    return _of_levels(read_problems(task, data.source, data.split), levels, data.source)


def test_problems(task: Task, data: Data, seed: int, progress: Quiet = lambda done: None) -> list[Problem]:
    """Read or generate the test problems; none unless they are asked for."""
    levels = data.test_levels or task.levels
    if data.test_source is not None:
        return _of_levels(read_problems(task, data.test_source, data.test_split), levels, data.test_source)
    if not data.test_per_level:
        return []
    return _generated(task, levels, data.test_per_level, seed + TEST_SEED, progress)


def _generated(task: Task, levels: tuple[int, ...], count: int, seed: int, progress: Quiet) -> list[Problem]:
    for level in levels:
        task.check_level(level)
    return [
        problem
        for place, level in enumerate(levels)
        for problem in generate_many(
            task,
            level,
            count,
            seed,
            lambda done, place=place: progress((place + done) / len(levels)),  # type: ignore[misc]
        )
    ]


def _of_levels(problems: list[Problem], levels: tuple[int, ...], source: str) -> list[Problem]:
    present = {problem.level for problem in problems}
    for level in levels:
        if level not in present:
            found = ", ".join(str(level) for level in sorted(one for one in present if one is not None))
            raise InputError(f"{level} is not in {source}, which has {found or 'none'}", option="levels")
    return [problem for problem in problems if problem.level in levels]


def held_out(task: Task, level: int, count: int, seed: int, trained: set[str]) -> list[Problem]:
    """Generate test problems of a level: different ones, and none of the trained, as far as there are any.

    A task may have too few problems for that, such as parity of a few visible inputs; then some come again.
    """
    drawn = generate_many(task, level, count, seed + TEST_SEED)
    more = (task.generate(level, index, seed + TEST_SEED) for index in range(count, DRAWS * count))
    kept: dict[str, Problem] = {}
    for problem in itertools.chain(drawn, more):
        name = task.identity(problem)
        if name not in trained:
            kept.setdefault(name, problem)
        if len(kept) == count:
            return list(kept.values())
    seen = {task.identity(problem): problem for problem in drawn if task.identity(problem) in trained}
    return list(itertools.islice(itertools.chain(kept.values(), seen.values(), drawn), count))


def data_set(task: Task, problems: list[Problem], tokenizer: ChatTokenizer) -> Dataset:
    """Return rows for TRL; the prompt is text up to the assistant prefix.

    `problem` is the place in the list, by which the reward finds what to verify.
    """
    start = _added_start(tokenizer)
    return Dataset.from_list(
        [
            {
                "prompt": task.prompt(problem).text(tokenizer).removeprefix(start),
                "level": problem.level,
                "solution": list(problem.solution),
                "problem": place,
                "id": problem.id,
            }
            for place, problem in enumerate(problems)
        ]
    )


def _added_start(tokenizer: Any) -> str:
    """Return the token that the tokenizer puts before any text; the chat template has put it there already."""
    ids = tokenizer("")["input_ids"]
    return tokenizer.bos_token if tokenizer.bos_token and ids[:1] == [tokenizer.bos_token_id] else ""


class TaskReward:
    """The task's verdict as a reward function of TRL."""

    def __init__(
        self,
        task: Task,
        trained: list[Problem],
        tests: Sequence[Problem] = (),
        keep: Callable[[int, dict[str, Any]], None] | None = None,
    ) -> None:
        """Take the problems that rows refer to; `keep` is given the first completion of every training step."""
        self.task = task
        self.problems = [*trained, *tests]
        self.trained = len(trained)
        self.keep = keep
        self.__name__ = task.name

    def __call__(
        self, completions: list[Any], problem: list[int], trainer_state: Any = None, **columns: Any
    ) -> list[float]:
        """Verify each completion."""
        verdicts = [
            self.task.verify(self.problems[place], completion)
            for place, completion in zip(problem, completions, strict=True)
        ]
        if self.keep is not None and trainer_state is not None and problem[0] < self.trained:
            self._keep(trainer_state.global_step + 1, self.problems[problem[0]], completions[0], verdicts[0])
        return [verdict.reward for verdict in verdicts]

    def _keep(self, step: int, problem: Problem, completion: Any, verdict: Verdict) -> None:
        assert self.keep is not None
        text = completion if isinstance(completion, str) else completion[-1]["content"]
        row = {"id": problem.id, "level": problem.level, "correct": verdict.correct, "why": verdict.why}
        self.keep(step, {**row, "completion": text})
