"""Countdown: problems as hard as their level says, and verdicts that any text gets."""

import random
import subprocess
import sys
import textwrap
import threading
import time
from fractions import Fraction
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.errors import InputError
from stepladder.tasks.arithmetic import Value, evaluate
from stepladder.tasks.countdown import LARGEST_NUMBER, LARGEST_TARGET, Countdown
from stepladder.tasks.task import Problem

TASK = Countdown()
PROBLEM = Problem("one", [47, 76, 55, 60], 24, 1, ("76 - 47 = 29", "29 + 55 = 84", "84 - 60 = 24"))
RIGHT = "((76 - 47) + 55) - 60"


def answered(text, problem=PROBLEM):
    return TASK.verify(problem, f"so </think>\n<answer>{text}</answer>")


# ---- the problems


@pytest.mark.parametrize(("level", "count"), [(0, 60), (1, 40), (2, 15), (3, 3), (4, 2)])
def test_a_level_has_its_operations_its_bounds_and_a_teacher_that_is_right(level, count):
    for index in range(count):
        problem = TASK.generate(level, index, seed=5)
        assert len(problem.question) == level + 3
        assert len(problem.solution) == level + 2
        assert all(1 <= number <= LARGEST_NUMBER for number in problem.question)
        assert 1 <= problem.answer <= LARGEST_TARGET[level]
        assert problem.solution[-1].endswith(f" = {problem.answer}")
        value = evaluate(TASK.final_answer(problem), problem.question)
        assert isinstance(value, Value)
        assert Fraction(*value) == problem.answer
        assert TASK.verify(problem, TASK.teacher_completion(problem)).reward == 1


def values(numbers):
    """Every value of a chain or a balanced tree over the numbers: all expressions of up to four numbers."""
    if len(numbers) == 1:
        return {Fraction(numbers[0])}
    found = set()
    for size in range(1, len(numbers) // 2 + 1):
        for left in combinations(range(len(numbers)), size):
            one = values([numbers[i] for i in left])
            other = values([numbers[i] for i in range(len(numbers)) if i not in left])
            for a, b in ((a, b) for a in one for b in other):
                found |= {a + b, a - b, b - a, a * b}
                found |= ({a / b} if b else set()) | ({b / a} if a else set())
    return found


@pytest.mark.parametrize(("level", "count"), [(0, 60), (1, 30), (2, 4)])
def test_no_smaller_set_of_the_numbers_makes_the_target(level, count):
    for index in range(count):
        problem = TASK.generate(level, index, seed=11)
        for size in range(1, len(problem.question)):
            for some in combinations(problem.question, size):
                assert problem.answer not in values(list(some)), problem


@given(st.integers(0, 1), st.integers(0, 10**9), st.integers(0, 2**63))
def test_an_item_depends_on_its_seed_level_and_index_alone(level, index, seed):
    first = TASK.generate(level, index, seed)
    TASK.generate(level, index + 1, seed)
    assert Countdown().generate(level, index, seed) == first
    assert first.id == f"countdown-{level}-{seed}-{index}"


def test_seed_level_and_index_each_make_another_problem():
    asked = [(0, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0), (1, 1, 0), (1, 0, 1)]
    made = {tuple(TASK.generate(*one).question) for one in asked}
    assert len(made) == len(asked)


@pytest.mark.parametrize("level", [-1, 5, None, "x", True, 1.5])
def test_an_unknown_level_is_refused(level):
    with pytest.raises(InputError, match="level must be 0 to 4 for countdown, got"):
        TASK.generate(level, 0)


def test_a_negative_seed_is_refused():
    with pytest.raises(InputError, match="seed must be at least 0, got -1"):
        TASK.generate(0, 0, seed=-1)


# ---- the teacher


def test_the_answer_is_the_equation_of_the_teachers_own_steps():
    assert TASK.final_answer(PROBLEM) == RIGHT
    swapped = Problem("", [2, 2, 2], 6, 0, ("2 + 2 = 4", "2 + 4 = 6"))
    assert TASK.final_answer(swapped) == "2 + (2 + 2)"


@pytest.mark.parametrize(
    "steps",
    [
        (),
        ("think hard",),
        ("76 - 47 = 29",),
        ("76 - 48 = 28",),
        ("76 - 47 = 29", "29 + 55 = 85", "85 + 60 = 24"),
    ],
)
def test_where_the_steps_lead_nowhere_the_solver_answers(steps):
    problem = Problem("", PROBLEM.question, PROBLEM.answer, 1, steps)
    assert answered(TASK.final_answer(problem), problem).correct


def test_a_problem_without_a_solution_has_no_teacher():
    with pytest.raises(InputError, match=r"question \[1, 1\] cannot make 9"):
        TASK.final_answer(Problem("", [1, 1], 9, None, ()))


def test_hints_are_the_first_steps_and_the_rest_goes_on_from_them():
    whole = TASK.teacher_completion(PROBLEM)
    hints = [TASK.hint(PROBLEM, steps) for steps in range(5)]
    assert hints[:2] == ["", "\n76 - 47 = 29"]
    assert hints[3] == hints[4]
    assert all(whole.startswith(hint) for hint in hints)
    assert whole[len(hints[3]) :] == f"\n</think>\n<answer>{RIGHT}</answer>"


def test_the_prompt_says_numbers_target_and_format():
    user = TASK.prompt(PROBLEM).user
    assert "[47, 76, 55, 60]" in user
    assert "equals 24" in user
    assert "<answer> </answer>" in user


# ---- the verdict


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (RIGHT, ""),
        (f"  {RIGHT} = 24 \n", ""),
        ("55 - 60 + 76 - 47", ""),
        (f"{RIGHT} = 25", "the right-hand side must be 24"),
        (f"24 = {RIGHT}", "the right-hand side must be 24"),
        ("47 + 76 + 55 + 60", "the equation makes 238, not 24"),
        ("47 / 76 * 55 / 60", "the equation makes 0.566886, not 24"),
        ("76 - 47", "the numbers used are 76, 47; each of 47, 55, 60, 76 must be used once"),
        ("24", "the numbers used are 24; each of 47, 55, 60, 76 must be used once"),
        ("47 / (55 - 55) * 76 / 60", "the numbers used are 47, 55, 55, 76, 60; each of 47, 55, 60, 76 must be"),
        ("", "the numbers used are none"),
    ],
)
def test_reward_is_1_for_the_target_a_tenth_for_the_format_and_the_reason_is_given(answer, why):
    found = answered(answer)
    assert (found.format_ok, found.correct, found.reward) == (True, not why, 0.1 if why else 1.0)
    assert found.why.startswith(why)
    assert bool(found.why) == bool(why)


def test_without_the_format_a_right_equation_earns_nothing():
    found = TASK.verify(PROBLEM, RIGHT)
    assert (found.format_ok, found.correct, found.reward) == (False, False, 0.0)


def test_values_are_exact_where_floats_are_not():
    # A checker with floats needs a tolerance, and 1e-5 of it takes 1.000000001 for 1.
    problem = Problem("", [10**9, 10**9 - 1, 10**9, 10**9], 0, None, ())
    close = answered("1000000000 / 999999999 - 1000000000 / 1000000000", problem)
    assert not close.correct
    assert answered("1 / 3 * 3 - 1", Problem("", [1, 3, 3, 1], 0, None, ())).correct


def test_of_all_chains_over_three_numbers_those_are_right_that_fractions_say_are():
    problem = Problem("", [2, 3, 4], 10, 0, ())
    by_hand = {"+": Fraction.__add__, "-": Fraction.__sub__, "*": Fraction.__mul__, "/": Fraction.__truediv__}
    right = 0
    for (a, b, c), one, two in ((p, x, y) for p in permutations((2, 3, 4)) for x in by_hand for y in by_hand):
        value = by_hand[two](by_hand[one](Fraction(a), Fraction(b)), Fraction(c))
        assert answered(f"({a} {one} {b}) {two} {c}", problem).correct == (value == 10)
        right += value == 10
    assert right > 0


# ---- rows


def test_a_row_needs_numbers_and_target_only():
    problem = TASK.read({"question": [47, 76, 55, 60], "answer": 24})
    assert (problem.id, problem.level, problem.solution) == ("", None, ())
    assert TASK.read(PROBLEM.row()) == PROBLEM


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"question": None}, "the row has no question"),
        ({"question": []}, "the row has no question"),
        ({"question": "47 76"}, "question must be a list of whole numbers from 1, got '47 76'"),
        ({"question": [1, 0]}, "question must be a list of whole numbers from 1, got"),
        ({"question": [1, 2.5]}, "question must be a list of whole numbers from 1, got"),
        ({"question": [1, True]}, "question must be a list of whole numbers from 1, got"),
        ({"question": [1, 10**10]}, "question must be a list of whole numbers from 1, got"),
        ({"question": [1] * 21}, "question must have at most 20 numbers, got 21"),
        ({"answer": None}, "the row has no answer"),
        ({"answer": "24"}, "answer must be a whole number from 0, got '24'"),
        ({"answer": -1}, "answer must be a whole number from 0, got -1"),
        ({"answer": True}, "answer must be a whole number from 0, got True"),
        ({"level": 9}, "level must be 0 to 4 for countdown, got 9"),
        ({"solution": [1]}, "solution must be a list of texts, got [1]"),
    ],
)
def test_a_bad_row_is_refused_by_the_name_of_its_column(change, why):
    with pytest.raises(InputError) as refusal:
        TASK.read(PROBLEM.row() | change)
    assert str(refusal.value).startswith(why)


# ---- hostile text

HOSTILE = {
    "a power tower": "9**9**9**9",
    "a megabyte": "7" * 1_000_000,
    "a megabyte of spaces": " " * 1_000_000,
    "deep brackets": "(" * 100_000,
    "deep brackets that close": "(" * 50_000 + "47" + ")" * 50_000,
    "huge digits": "9" * 190_000,
    "many minus signs": "-" * 190_000 + "47",
    "many equal signs": "=" * 190_000,
    "NUL": "\x00" * 1000,
    "code": "__import__('os').system('touch hacked')",
    "a lambda": "(lambda: (yield))()",
    "unicode digits": "٤٧ + ７６ + 五",
    "nested tags": "<answer>" * 20_000,
    "half tags": "<answer" * 20_000,
    "nested think": "<think></think>" * 10_000,
    "surrogates": "\ud800" * 1000,
    "many numbers": "47 + " * 30_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("form", ["{}", "</think><answer>{}</answer>", "<think>{}</think><answer>1</answer>"])
def test_hostile_text_is_wrong_within_a_moment(form, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    began = time.process_time()
    found = TASK.verify(PROBLEM, form.format(text))
    assert time.process_time() - began < 2
    assert not found.correct
    assert found.why and len(found.why) < 300
    assert list(tmp_path.iterdir()) == []


def test_hostile_text_is_judged_in_a_thread_too():
    found = []
    thread = threading.Thread(target=lambda: found.extend(answered(text) for text in HOSTILE.values()))
    thread.start()
    thread.join(timeout=20)
    assert len(found) == len(HOSTILE)
    assert not any(one.correct for one in found)


def test_hostile_text_is_judged_in_a_subprocess_too(tmp_path):
    program = """
        from stepladder.tasks.countdown import Countdown
        problem = Countdown().read({"question": [47, 76, 55, 60], "answer": 24})
        for text in ("9**9**9**9", "(" * 100_000, "7" * 1_000_000, "__import__('os').system('touch hacked')"):
            print(Countdown().verify(problem, f"</think><answer>{text}</answer>").correct)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["False"] * 4
    assert list(tmp_path.iterdir()) == []


PIECES = (
    *("47", "76", "55", "60", "+", "-", "*", "/", "(", ")", " ", "\n", "=", "24", RIGHT, "**", "//"),
    *("<think>", "</think>", "<answer>", "</answer>", "\x00", "\ud800", "٣", "²", "9" * 40, "(" * 40),
    *("__import__('os')", "1_000", "0x10", "1e9", ".", ",", "×", "÷", "−", "\\frac{1}{2}", "\U0001f600", "a"),
)


def fuzzed(draw):
    """Garbage, garbage in blocks, or an equation of the four numbers that is nearly or wholly well formed."""
    inside = "".join(draw.choices(PIECES, k=draw.randint(0, 25)))
    kind = draw.random()
    if kind < 0.3:
        return inside
    if kind < 0.7:
        numbers = draw.sample(PIECES[:4], 4)
        inside = f"({numbers[0]}{draw.choice('+-*/')}{numbers[1]}){draw.choice('+-*/')}{numbers[2]}"
        inside += f"{draw.choice('+-*/')}{numbers[3]}"
        if draw.random() < 0.5:
            place = draw.randrange(len(inside))
            inside = inside[:place] + draw.choice(PIECES) + inside[place + draw.randint(0, 2) :]
    return f"{draw.choice(('', '<think>'))}so</think> <answer>{inside}</answer>"


def judge_all(count, seed):
    draw = random.Random(seed)
    kinds = set()
    longest = 0.0
    for _ in range(count):
        text = fuzzed(draw)
        began = time.process_time()
        found = TASK.verify(PROBLEM, text)
        longest = max(longest, time.process_time() - began)
        assert found.correct == (found.why == "")
        kinds.add((found.format_ok, found.correct, found.reward))
    assert longest < 2
    return kinds


ALL_KINDS = {(False, False, 0.0), (True, False, 0.1), (True, True, 1.0)}


def test_ten_thousand_fuzzed_completions_get_a_verdict_each():
    assert judge_all(10_000, seed=0) == ALL_KINDS


@pytest.mark.slow
def test_two_hundred_thousand_fuzzed_completions_get_a_verdict_each():
    assert judge_all(200_000, seed=1) == ALL_KINDS


@given(st.text(max_size=60))
def test_any_text_gets_a_verdict(text):
    for completion in (text, f"</think><answer>{text}</answer>", [{"role": "assistant", "content": text}]):
        found = TASK.verify(PROBLEM, completion)
        assert found.correct == (found.why == "")
