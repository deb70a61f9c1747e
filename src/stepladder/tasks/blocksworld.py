"""Blocksworld: find a plan that brings blocks into stacks, in the words of PlanBench (Sec. "Blocksworld").

A problem's question is the initial state, its answer the partial goal, its solution the teacher's actions. The
level is the number of actions of a shortest plan, proved by the optimal planner:

    level      0    1    2    3    4
    actions    2    4    6    8    10 or more (10 or 12 with four blocks, up to 16 with five)

Generated goals, like PlanBench's, name what is on top of what, and their shortest plans are even. A goal that
asks for a clear block can have an odd one: it counts with the next even length.

The reward is 1 for the format and, if every action is legal and the last state meets the goal,
1 + min(1, teacher's actions / actions) more. Any state that meets the goal counts. A row without a solution
that works is measured by a shortest plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import comb, factorial
from typing import Any

import numpy as np

from stepladder.errors import InputError, check_seed
from stepladder.tasks.blocks_planner import optimal_plan
from stepladder.tasks.blocks_state import HAND, TABLE, Action, Facts, State
from stepladder.tasks.blocks_text import (
    COLOURS,
    plan_sentences,
    read_action,
    read_goal,
    read_state,
    write_facts,
    write_state,
)
from stepladder.tasks.format import Blocks
from stepladder.tasks.task import Problem, Prompt, Task, Verdict, column, hint_text, steps_of

MOST_ACTIONS = 1000
"""A longer plan is refused unread; shortest plans have fewer than 4 actions per block."""

BLOCKS = ((3, 5), (3, 5), (3, 5), (4, 5), (4, 5))
"""Fewest and most blocks of a generated problem by level."""

SALT = 0xB10C
"""Keeps the random numbers apart from those of other tasks with the same seed."""

SYSTEM = "You are a careful planner. You first think about the problem step by step, then give your plan."

RULES = """\
I have a set of blocks that I want to arrange into stacks. These are the actions I can do:

pick up a block
unstack a block from on top of another block
put down a block
stack a block on top of another block

My actions have these restrictions:

I can hold only one block at a time, and I can only pick up or unstack a block when my hand is empty.
I can only pick up a block that is on the table and clear.
I can only unstack a block that is clear and really is on top of the other block.
A block is clear when no block is on top of it and I am not holding it.
I can only put down or stack a block that I am holding; afterwards my hand is empty.
I can only stack a block on top of a block that is clear, and that block is then no longer clear.
When I unstack a block, the block that was under it becomes clear."""

INSTRUCTION = """\
What is the plan to achieve my goal? Think within <think> </think> tags, then write the plan within \
<answer> </answer> tags, one action per line and nothing else, in these words:

pick up the A block
unstack the A block from on top of the B block
put down the A block
stack the A block on top of the B block"""


@dataclass(frozen=True)
class Scene:
    """A problem as it is judged: read once for all the completions of a group."""

    state: State
    goal: Facts

    @cached_property
    def optimal_plan(self) -> tuple[str, ...]:
        """The actions of a shortest plan."""
        return tuple(str(action) for action in optimal_plan(self.state, self.goal))

    def what_is_wrong(self, plan: Sequence[str]) -> str:
        """Do the actions of a plan one by one and say what keeps it from the goal; empty when it gets there."""
        if not plan:
            return "the plan has no action"
        if len(plan) > MOST_ACTIONS:
            return f"the plan has more than {MOST_ACTIONS:,} actions"
        state = self.state.copy()
        for step, sentence in enumerate(plan, start=1):
            action = read_action(sentence)
            if action is None:
                return f"step {step}: {_shown(sentence)} is not an action"
            if not state.do(action):
                return f"step {step}: cannot {action}: {state.why_not(action)}"
        if self.goal.met(state):
            return ""
        return f"the plan ends without: {write_facts(self.goal.unmet(state))}"


@lru_cache(maxsize=4096)
def read_scene(question: str, answer: str) -> Scene:
    """Read an initial state and a goal that does not hold there already."""
    state = read_state(question)
    goal = read_goal(answer, state)
    if goal.met(state):
        raise InputError("is reached before any action", option="answer")
    return Scene(state, goal)


def level_of(length: int) -> int:
    """Return the level of a problem by the length of its shortest plan.

    >>> [level_of(length) for length in (1, 2, 4, 8, 10, 12)]
    [0, 0, 1, 3, 4, 4]
    """
    return min((length - 1) // 2, len(BLOCKS) - 1)


class Blocksworld(Task):
    """Blocksworld with one hand."""

    name = "blocksworld"
    pass_reward = 2.0
    levels = tuple(range(len(BLOCKS)))

    def generate(self, level: int, index: int, seed: int = 0) -> Problem:
        """Draw two states until a shortest plan from the one to the stacks of the other has the level."""
        level = self.check_level(level)
        check_seed(seed)
        rng = np.random.default_rng([SALT, seed, level, index])
        fewest, most = BLOCKS[level]
        count = int(rng.integers(fewest, most + 1))
        names = [COLOURS[i] for i in sorted(rng.choice(len(COLOURS), count, replace=False))]
        while True:
            state = State.of(random_stacks(names, rng))
            stacks = random_stacks(names, rng)
            goal = Facts({block: place for block, place in stacks.items() if place != TABLE})
            plan = optimal_plan(state, goal)
            if plan and level_of(len(plan)) == level:
                break
        return Problem(
            id=f"{self.name}-{level}-{seed}-{index}",
            question=write_state(state),
            answer=write_facts(goal),
            level=level,
            solution=tuple(str(action) for action in plan),
        )

    def prompt(self, problem: Problem) -> Prompt:
        """Give the rules, the initial state and the goal."""
        start = f"As initial conditions I have that, {problem.question}."
        goal = f"My goal is to have that {problem.answer}."
        return Prompt(system=SYSTEM, user=f"{RULES}\n\n{start}\n{goal}\n\n{INSTRUCTION}")

    def judge(self, problem: Problem, blocks: Blocks) -> Verdict:
        """Follow the plan in the answer block."""
        scene = read_scene(problem.question, problem.answer)
        plan = plan_sentences(blocks.answer)
        why = scene.what_is_wrong(plan)
        if why:
            return Verdict(format_ok=True, correct=False, reward=1.0, why=why)
        expert = len(problem.solution or scene.optimal_plan)
        return Verdict(format_ok=True, correct=True, reward=2.0 + min(1.0, expert / len(plan)))

    def final_answer(self, problem: Problem) -> str:
        """Return the teacher's plan, or a shortest one where there is none."""
        return "\n".join(problem.solution or read_scene(problem.question, problem.answer).optimal_plan)

    def random_completion(self, problem: Problem, rng: np.random.Generator) -> str:
        """Return a random walk of legal actions, as long as a plan of some level."""
        state = read_scene(problem.question, problem.answer).state.copy()
        lines = []
        for _ in range(2 * int(rng.integers(1, len(BLOCKS) + 1))):
            legal = [action for action in _all_actions(state) if state.copy().do(action)]
            action = legal[int(rng.integers(len(legal)))]
            state.do(action)
            lines.append(str(action))
        plan = "\n".join(lines)
        return f"{hint_text(lines)}\n</think>\n<answer>{plan}</answer>"

    def read(self, row: Mapping[str, Any]) -> Problem:
        """Read a row in PlanBench's words; a solution that does not reach the goal counts as none."""
        scene = read_scene(_sentences(row, "question"), _sentences(row, "answer"))
        return Problem(
            id=str(row.get("id", "")),
            question=write_state(scene.state),
            answer=write_facts(scene.goal),
            level=None if row.get("level") is None else self.check_level(row["level"]),
            solution=_solution(scene, steps_of(row)),
        )


def _all_actions(state: State) -> list[Action]:
    """Return every action on the blocks that are there, legal or not."""
    names = sorted(state.below)
    places = [TABLE, *names]
    return [
        Action(block, *ends)
        for block in names
        for place in places
        if place != block
        for ends in ((place, HAND), (HAND, place))
    ]


def random_stacks(names: list[str], rng: np.random.Generator) -> dict[str, str]:
    """Draw what each block is on, every arrangement with the same probability.

    There are C(n-1, k-1) n! / k! arrangements of n blocks in k stacks, and each is as many (k!) of the ways
    to line the blocks up and cut the line into k pieces.
    """
    n = len(names)
    ways = np.array([comb(n - 1, k - 1) * factorial(n) / factorial(k) for k in range(1, n + 1)])
    stacks = 1 + int(rng.choice(n, p=ways / ways.sum()))
    line = [names[i] for i in rng.permutation(n)]
    bottoms = {0, *(1 + rng.choice(n - 1, stacks - 1, replace=False)).tolist()}
    below = {block: TABLE if i in bottoms else line[i - 1] for i, block in enumerate(line)}
    return {name: below[name] for name in names}


def _sentences(row: Mapping[str, Any], name: str) -> str:
    text = column(row, name)
    if not isinstance(text, str):
        raise InputError(f"must be sentences about blocks, got {text!r:.60}", option=name)
    return text


def _solution(scene: Scene, steps: tuple[str, ...]) -> tuple[str, ...]:
    """Return the teacher's actions in our words; a plan that fails is no teacher, and counts as none."""
    plan = plan_sentences("\n".join(steps))
    if not steps or scene.what_is_wrong(plan):
        return ()
    return tuple(str(read_action(sentence)) for sentence in plan)


def _shown(sentence: str) -> str:
    return repr(sentence if len(sentence) <= 60 else sentence[:57] + "...")
