"""Blocksworld plans judged: ours against a simulator that re-parses the state text at every action.

200 problems of all levels, 8 answers each, as a GRPO step has them: the teacher's plan four times, twice
without its last action, twice without its middle one. The baseline keeps the state as PlanBench's sentences: it
reads them before an action and writes them again after it. Both must give the same rewards.

`ratio` is what a verdict costs once the problem has been read, as `read` does with a row. The format rule comes
before either and is the same code, so it is left out; `verify_ratio` has it on both sides. `cold_ratio` has
ours read every problem anew before its 8 answers.

    python benchmarks/blocksworld_verify.py
"""

import re
import sys

from stepladder.tasks.blocksworld import Blocksworld, read_scene
from stepladder.tasks.format import Blocks, read_blocks
from stepladder.tasks.task import Problem
from timing import alternate, report

PROBLEMS = 200
TARGET = 10

Facts = set[tuple[str, ...]]

FACTS = {
    "clear": re.compile(r"the (\w+) block is clear"),
    "empty": re.compile(r"the hand is empty"),
    "holding": re.compile(r"the hand is holding the (\w+) block"),
    "on": re.compile(r"the (\w+) block is on top of the (\w+) block"),
    "table": re.compile(r"the (\w+) block is on the table"),
}
WORDS = {
    "clear": "the {} block is clear",
    "empty": "the hand is empty",
    "holding": "the hand is holding the {} block",
    "on": "the {} block is on top of the {} block",
    "table": "the {} block is on the table",
}
ACTIONS = {
    "pick up": re.compile(r"pick up the (\w+) block"),
    "unstack": re.compile(r"unstack the (\w+) block from on top of the (\w+) block"),
    "put down": re.compile(r"put down the (\w+) block"),
    "stack": re.compile(r"stack the (\w+) block on top of the (\w+) block"),
}


def facts_of(text: str) -> Facts:
    facts: Facts = set()
    for sentence in text.replace(" and ", ", ").split(", "):
        for kind, pattern in FACTS.items():
            match = pattern.fullmatch(sentence)
            if match:
                facts.add((kind, *match.groups()))
                break
    return facts


def text_of(facts: Facts) -> str:
    return ", ".join(WORDS[kind].format(*blocks) for kind, *blocks in facts)


def effects(action: str) -> tuple[Facts, Facts, Facts] | None:
    """Return what must be true, what becomes false and what becomes true."""
    for verb, pattern in ACTIONS.items():
        match = pattern.fullmatch(action)
        if match is None:
            continue
        block, *others = match.groups()
        free: Facts = {("clear", block), ("empty",)}
        if verb == "pick up":
            before = free | {("table", block)}
            return before, before, {("holding", block)}
        if verb == "put down":
            return {("holding", block)}, {("holding", block)}, free | {("table", block)}
        other = others[0]
        if verb == "unstack":
            before = free | {("on", block, other)}
            return before, before, {("holding", block), ("clear", other)}
        before = {("holding", block), ("clear", other)}
        return before, before, free | {("on", block, other)}
    return None


def after(state: str, action: str) -> str | None:
    found = effects(action)
    facts = facts_of(state)
    if found is None or not found[0] <= facts:
        return None
    return text_of((facts - found[1]) | found[2])


def reparsing_reward(problem: Problem, answer: str) -> float:
    actions = [line.strip().lower() for line in answer.splitlines() if line.strip()]
    state = problem.question
    for action in actions:
        changed = after(state, action)
        if changed is None:
            return 1.0
        state = changed
    if not facts_of(problem.answer) <= facts_of(state):
        return 1.0
    return 2.0 + min(1.0, len(problem.solution) / len(actions))


def answers_of(problem: Problem) -> list[str]:
    plan = list(problem.solution)
    middle = len(plan) // 2
    plans = [plan] * 4 + [plan[:-1]] * 2 + [plan[:middle] + plan[middle + 1 :]] * 2
    return ["\n".join(actions) for actions in plans]


def main() -> int:
    task = Blocksworld()
    problems = [task.generate(index % len(task.levels), index) for index in range(PROBLEMS)]
    groups = [(problem, answers_of(problem)) for problem in problems]
    judged = [(problem, [Blocks("", answer) for answer in answers]) for problem, answers in groups]
    written = [
        (problem, [f"</think><answer>{answer}</answer>" for answer in answers]) for problem, answers in groups
    ]

    def ours() -> list[float]:
        return [task.judge(problem, blocks).reward for problem, group in judged for blocks in group]

    def baseline() -> list[float]:
        return [reparsing_reward(problem, answer) for problem, group in groups for answer in group]

    def ours_cold() -> list[float]:
        read_scene.cache_clear()
        return ours()

    def ours_with_format() -> list[float]:
        return [task.verify(problem, text).reward for problem, group in written for text in group]

    def baseline_with_format() -> list[float]:
        found = [(problem, read_blocks(text)) for problem, group in written for text in group]
        return [
            reparsing_reward(problem, blocks.answer) for problem, blocks in found if isinstance(blocks, Blocks)
        ]

    if not ours() == baseline() == ours_with_format() == baseline_with_format():
        raise SystemExit("blocksworld_verify: the baseline gives other rewards")
    seconds, slow = alternate(ours, baseline, repetitions=7)
    cold, slow_cold = alternate(ours_cold, baseline, repetitions=5)
    verify, slow_verify = alternate(ours_with_format, baseline_with_format, repetitions=5)
    return report(
        "blocksworld_verify",
        slow / seconds,
        TARGET,
        seconds=seconds,
        baseline_seconds=slow,
        verdict_us=1e6 * seconds / len(ours()),
        cold_ratio=slow_cold / cold,
        verify_ratio=slow_verify / verify,
    )


if __name__ == "__main__":
    sys.exit(main())
