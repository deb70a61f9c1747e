"""Hostile completions: a verdict for each, in less than two seconds, and nothing is run."""

import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from stepladder.tasks import math_check
from stepladder.tasks.math_check import compare
from stepladder.tasks.math_problems import Math
from stepladder.tasks.task import Verdict

pytest.importorskip("math_verify")

PROBLEM = Math().read({"question": "?", "answer": "9"})
MARK = "/tmp/stepladder-math-was-run"

FAST = [
    "9**9**9**9",
    f"__import__('os').system('touch {MARK}')",
    f"\\text{{__import__('os').system('touch {MARK}')}}",
    f"\\write18{{touch {MARK}}} \\input{{/etc/passwd}}",
    f"eval(open('{MARK}', 'w'))",
    "1" * 1000,
    "0." + "9" * 900,
    "\x00",
    "9\x00",
    "\ud800",
    "\U0001f600" * 200,
    "٩",
    "９",
    "⁹₉",
    "²",
    "\\frac" * 200,
    "\\frac{1}{",
    "}{" * 400,
    "$" * 900,
    "\\" * 999,
    "\\left(" * 150,
    "\\begin{pmatrix}" * 60,
    "\\boxed{" * 10_000 + "8" + "}" * 10_000,
    "\\boxed{" * 20_000,
    "\\boxed " * 20_000,
    "\\boxed" + " " * 150_000,
    "{" * 90_000 + "}" * 90_000,
    "8\n" * 400,
    "nan",
    "\\infty - \\infty",
    "\\frac{0}{0}",
    "\\text{" + "x" * 900 + "}",
    "{'a': 1}.__class__",
    "lambda: 9",
    "<think>" * 3,
    "</answer>" * 3,
    '["9", "9"]\n["9", "9"]',
]

ENDLESS = [
    "9^{9^{9^9}}",
    "(" * 400 + "8" + ")" * 400,
    "\\sum_{n=1}^{10^9} n^n",
]


def answered(answer: str) -> Verdict:
    return Math().verify(PROBLEM, f"</think><answer>{answer}</answer>")


@pytest.fixture(scope="module", autouse=True)
def started():
    compare("1", "2")


@pytest.fixture(autouse=True)
def nothing_is_run():
    yield
    assert not Path(MARK).exists()


@pytest.mark.parametrize("answer", FAST + ENDLESS, ids=range(len(FAST + ENDLESS)))
def test_hostile_text_is_wrong_within_two_seconds(answer):
    start = time.monotonic()
    found = answered(answer)
    assert time.monotonic() - start < 2
    assert not found.correct and found.why and found.why.isprintable()


def test_a_comparison_that_is_cut_off_says_so():
    assert answered(ENDLESS[0]).why == "the comparison took longer than 1 s"


def test_hostile_text_is_judged_in_a_thread_too():
    found = []
    thread = threading.Thread(target=lambda: found.extend(map(answered, [*FAST[:3], ENDLESS[0]])))
    thread.start()
    thread.join()
    assert len(found) == 4 and not any(one.correct for one in found)


def test_hostile_text_is_judged_in_a_subprocess_too():
    folders = [str(Path(math_check.__file__).parents[2]), str(Path(__file__).parent)]
    program = (
        f"import sys; sys.path[:0] = {folders}\n"
        "import test_math_hostile as hostile\n"
        "print([hostile.answered(answer).correct for answer in [*hostile.FAST[:3], hostile.ENDLESS[0]]])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"{[False] * 4}\n"


# ---- fuzz

PIECES = (
    *(
        "<think>",
        "</think>",
        "<answer>",
        "</answer>",
        "\\boxed{",
        "\\boxed ",
        "{",
        "}",
        "\\{",
        "$",
        "\\",
        "\\\\",
    ),
    *(
        "\\frac",
        "\\sqrt",
        "^",
        "_",
        "(",
        ")",
        "9",
        "8",
        "1" * 60,
        "**",
        "!",
        "%",
        ",",
        ".",
        "=",
        "x",
        " ",
        "\n",
    ),
    *("\x00", "\ud800", "٩", "²", "\U0001f600", "__import__('os')", "\\text{", "\\begin{", "&", "[", "]", "-"),
)


def garbage(draw: random.Random) -> str:
    return "".join(draw.choices(PIECES, k=draw.randint(0, 40)))


def completion(draw: random.Random) -> str:
    """Garbage, or blocks around garbage: far too long, empty, or (one in a hundred) short enough to compare."""
    kind = draw.random()
    if kind < 0.5:
        return garbage(draw)
    inside = garbage(draw)
    for tag in ("<think>", "</think>", "<answer>", "</answer>"):
        inside = inside.replace(tag, "")
    if kind < 0.75:
        inside = f"\\boxed{{{inside * 20}{'7' * 1001}}}"
    elif kind < 0.99:
        inside += "\\boxed{9}" if draw.random() < 0.5 else "\\boxed{}"
    else:
        inside = inside[:40]
    return f"{draw.choice(('', '<think>'))}so</think>\n<answer>{inside}</answer>"


def judge_all(count: int, seed: int) -> set[tuple[bool, bool, float]]:
    draw = random.Random(seed)
    task = Math()
    kinds = set()
    for _ in range(count):
        text = completion(draw)
        start = time.monotonic()
        found = task.verify(PROBLEM, text)
        assert time.monotonic() - start < 2, text
        assert found.correct == (not found.why)
        kinds.add((found.format_ok, found.correct, found.reward))
    return kinds


ALL_KINDS = {(False, False, 0.0), (True, False, 0.1), (True, True, 1.0)}


def test_a_thousand_fuzzed_completions_get_a_verdict_each():
    assert judge_all(1000, seed=0) == ALL_KINDS


@pytest.mark.slow
def test_two_hundred_thousand_fuzzed_completions_get_a_verdict_each():
    assert judge_all(200_000, seed=1) == ALL_KINDS


def test_a_megabyte_of_text_gets_a_verdict():
    assert answered("9" * 1_000_000).why.startswith("the completion has more than")
