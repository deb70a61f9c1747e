"""The arithmetic of hostile text: as Python's fractions have it, and nothing but + - * / and brackets."""

import random
import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.tasks.arithmetic import LONGEST_EXPRESSION, Unreadable, Value, evaluate

BY_HAND = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}
RANK = {"+": 1, "-": 1, "*": 2, "/": 2}

leaves = st.integers(0, 120)
trees = st.recursive(leaves, lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner), max_leaves=12)


def numbers_of(tree):
    return [tree] if isinstance(tree, int) else [*numbers_of(tree[0]), *numbers_of(tree[2])]


def value_of(tree):
    """The value by Fractions; ZeroDivisionError where it has none."""
    if isinstance(tree, int):
        return Fraction(tree)
    return BY_HAND[tree[1]](value_of(tree[0]), value_of(tree[2]))


def written(tree, draw, times, divide, minus):
    """The tree as text, with brackets where it needs them and sometimes where it does not."""
    if isinstance(tree, int):
        return f"({tree})" if draw.random() < 0.1 else str(tree)
    left, operation, right = tree
    texts = []
    for side, part in ((0, left), (1, right)):
        text = written(part, draw, times, divide, minus)
        needed = not isinstance(part, int) and RANK[part[1]] < RANK[operation] + side
        texts.append(f"({text})" if needed or draw.random() < 0.2 else text)
    sign = {"*": times, "/": divide, "-": minus}.get(operation, operation)
    space = draw.choice(["", " ", "\n", " \t"])
    return f"{texts[0]}{space}{sign}{space}{texts[1]}"


@given(trees, st.randoms(use_true_random=False), st.booleans())
def test_a_value_is_what_fractions_say(tree, draw, fancy):
    signs = ("×", "÷", "−") if fancy else ("*", "/", "-")
    numbers = numbers_of(tree)
    draw.shuffle(numbers)
    found = evaluate(written(tree, draw, *signs), numbers)
    try:
        expected = value_of(tree)
    except ZeroDivisionError:
        assert found == Unreadable("it divides by zero")
    else:
        assert isinstance(found, Value)
        assert Fraction(*found) == expected


def test_operations_of_the_same_rank_go_from_left_to_right():
    assert Fraction(*evaluate("8 - 4 - 2", [2, 4, 8])) == 2
    assert Fraction(*evaluate("8 / 4 / 2", [2, 4, 8])) == 1
    assert Fraction(*evaluate("8 - 4 / 2", [2, 4, 8])) == 6


@given(trees)
def test_every_number_must_be_used_exactly_once(tree):
    numbers = numbers_of(tree)
    text = written(tree, random.Random(0), "*", "/", "-")
    for others in (numbers[1:], [*numbers, 7], [numbers[0] + 1, *numbers[1:]]):
        found = evaluate(text, others)
        assert isinstance(found, Unreadable)
        assert "must be used once" in found.why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the numbers used are none; each of 2, 3 must be used once"),
        (" \n", "the numbers used are none; each of 2, 3 must be used once"),
        ("()", "the numbers used are none; each of 2, 3 must be used once"),
        ("2 ** 3", "two operations stand side by side"),
        ("2 // 3", "two operations stand side by side"),
        ("2 * - 3", "two operations stand side by side"),
        ("-2 + 3", "a number is missing before -"),
        ("+2 + 3", "a number is missing before +"),
        ("2 + (-3)", "a number is missing before -"),
        ("2 3 +", "an operation is missing between two numbers"),
        ("2 (3)", "an operation is missing before a bracket"),
        ("(2)(3)", "an operation is missing before a bracket"),
        ("(2) 3", "an operation is missing between two numbers"),
        ("2 + 3 +", "the expression ends too early"),
        ("2 + ()3", "a bracket closes too early"),
        ("(2 + 3", "a bracket is never closed"),
        ("2 + 3)", "a bracket closes that was never opened"),
        (")2 + 3(", "a bracket closes too early"),
        ("2 ^ 3", "'^' is not arithmetic"),
        ("2 % 3", "'%' is not arithmetic"),
        ("2.0 + 3", "'.' is not arithmetic"),
        ("2e0 + 3", "'e' is not arithmetic"),
        ("1_000", "'_' is not arithmetic"),
        ("0x10", "'x' is not arithmetic"),
        ("2 + ٣", "'٣' is not arithmetic"),
        ("2 + 3²", "'²' is not arithmetic"),
        ("２ + 3", "'２' is not arithmetic"),
        ("2 + 3\x00", "'\\x00' is not arithmetic"),
        ("2\x0b+ 3", "'\\x0b' is not arithmetic"),
        ("2 + 3\ud800", "'\\ud800' is not arithmetic"),
        ("2\xa0+ 3", "'\\xa0' is not arithmetic"),
        ("2 \\times 3", "'\\\\times' is not arithmetic"),
        ("__import__('os').system('true')", "'__import__' is not arithmetic"),
        ("lambda: 2 + 3", "'lambda:' is not arithmetic"),
        ("02 + 3", "the numbers used are 02, 3; each of 2, 3 must be used once"),
        ("9**9**9**9", "the numbers used are 9, 9, 9, 9; each of 2, 3 must be used once"),
        ("2 + 3 = 5", "'=' is not arithmetic"),
        ("2 +" + " " * LONGEST_EXPRESSION + "3", "the expression has more than 1,000 characters"),
    ],
    ids=lambda value: value[:30].encode("ascii", "backslashreplace").decode(),
)
def test_everything_else_is_refused_with_a_reason(text, why):
    assert evaluate(text, [2, 3]) == Unreadable(why)


@given(st.text(st.sampled_from("23+-*/() \n×÷٣_.x=\x00"), max_size=12))
def test_what_has_a_value_has_the_same_by_python(text):
    found = evaluate(text, [2, 3])
    if isinstance(found, Value):
        # Safe here: only digits, operations, brackets and white space are left.
        python = "".join({"×": "*", "÷": "/"}.get(char, char) for char in text).replace("\n", " ").strip()
        for number in "23":
            python = python.replace(number, f"Fraction({number})")
        assert Fraction(*found) == eval(python, {"Fraction": Fraction})
    else:
        assert found.why


@pytest.mark.parametrize(
    "text",
    [
        *("(" * 999, ")" * 999, "9" * 1000, "-" * 1000, "é" * 1000),
        *("(" * 498 + "2+3" + ")" * 498, "2+3" + " " * 990),
    ],
    ids=lambda value: value[:5],
)
def test_the_longest_expressions_are_read_at_once(text):
    began = time.process_time()
    found = evaluate(text, [2, 3])
    assert time.process_time() - began < 2
    assert isinstance(found, Value) == ("2+3" in text)
    if isinstance(found, Unreadable):
        assert len(found.why) < 200
