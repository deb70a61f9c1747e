"""Blocksworld plans of hostile text: a verdict each, in any thread or process."""

import random
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from stepladder.tasks.blocksworld import Blocksworld

TASK = Blocksworld()
PROBLEMS = [TASK.generate(level, index) for level in (0, 1, 2) for index in range(3)]
COLOURS = ("red", "blue", "yellow", "orange", "green", "white", "puce")

PIECES = (
    *("pick up the {} block", "put down the {} block", "stack the {} block on top of the {} block"),
    *("unstack the {} block from on top of the {} block", "pick up", "the {} block", "the", "on top of"),
    *("\n", "\n", ",", ".", " ", "1.", "(", ")" * 40, "9" * 40, "\x00", "\ud800", "٣", "<think>", "</think>"),
    *("<answer>", "</answer>", "__import__('os')", "{", "}", "[PLAN END]", "\U0001f600", "\u2028", "PICK UP"),
)


def fuzzed(draw, problem):
    """Garbage, or the teacher's plan with an action lost, doubled, moved or mangled, or left as it is."""
    kind = draw.random()
    garbage = "".join(
        piece.replace("{}", draw.choice(COLOURS)) for piece in draw.choices(PIECES, k=draw.randint(0, 15))
    )
    if kind < 0.3:
        return garbage
    plan = list(problem.solution)
    place = draw.randrange(len(plan))
    if kind < 0.5:
        plan[place] = garbage
    elif kind < 0.7:
        plan.insert(draw.randrange(len(plan)), plan.pop(place))
    elif kind < 0.8:
        del plan[place]
    elif kind < 0.9:
        plan.insert(place, plan[place])
    return "so</think>\n<answer>" + "\n".join(plan) + "</answer>"


def judge_all(count, seed):
    draw = random.Random(seed)
    kinds = set()
    longest = 0.0
    for _ in range(count):
        problem = draw.choice(PROBLEMS)
        text = fuzzed(draw, problem)
        began = time.process_time()
        found = TASK.verify(problem, text)
        longest = max(longest, time.process_time() - began)
        assert found.correct == (found.why == "")
        kinds.add((found.format_ok, found.correct, found.reward))
    assert longest < 2
    return kinds


ALL_KINDS = {(False, False, 0.0), (True, False, 1.0), (True, True, 3.0)}


def test_ten_thousand_fuzzed_completions_get_a_verdict_each():
    assert judge_all(10_000, seed=0) == ALL_KINDS


@pytest.mark.slow
def test_two_hundred_thousand_fuzzed_completions_get_a_verdict_each():
    assert judge_all(200_000, seed=1) == ALL_KINDS


HOSTILE = {
    "a megabyte": "pick up the red block\n" * 50_000,
    "deep brackets": "(" * 100_000,
    "nested tags": "<answer>" * 20_000,
    "NUL": "\x00" * 100_000,
    "a long colour": f"pick up the {'red ' * 40_000}block",
    "many spaces": "pick" + " " * 190_000 + "up",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_wrong_within_a_moment_in_a_thread_too(text):
    for form in ("{}", "{}</think><answer></answer>", "</think><answer>{}</answer>"):
        found = []
        completion = form.format(text)
        began = time.process_time()
        thread = threading.Thread(target=lambda: found.append(TASK.verify(PROBLEMS[0], completion)))  # noqa: B023
        thread.start()
        thread.join()
        assert time.process_time() - began < 2
        assert not found[0].correct
        assert found[0].why and len(found[0].why) < 500


def test_hostile_text_is_judged_in_a_subprocess_too():
    program = """
        from stepladder.tasks.blocksworld import Blocksworld
        task = Blocksworld()
        problem = task.generate(0, 0)
        plan = "pick up the red block\\n" * 9000
        for text in (plan, "(" * 100_000, "\\x00" * 1000, "__import__('os').abort()"):
            print(task.verify(problem, f"</think><answer>{text}</answer>").correct)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["False"] * 4
