"""Arithmetic of hostile text: + - * / and brackets over the given numbers, exactly, with bounded work.

An expression is worth judging only if it uses every given number exactly once, so that is checked before
anything is computed: a handful of operations on small numbers remain, whatever was written. No `eval`, no
recursion.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

LONGEST_EXPRESSION = 1000
"""Characters of an answer that are read."""

_TOKEN = re.compile(r"[0-9]+|[-+*/()]")
_ALIKE = str.maketrans("×÷−·", "*/-*")
_RANK = {"+": 1, "-": 1, "*": 2, "/": 2}


class Value(NamedTuple):
    """A fraction; the denominator is never 0 and may be negative."""

    numerator: int
    denominator: int


class Unreadable(NamedTuple):
    """Why an expression has no value."""

    why: str


def evaluate(text: str, numbers: Sequence[int]) -> Value | Unreadable:
    """Compute an expression that uses each of the numbers exactly once.

    >>> evaluate("(76 - 47) / 2", [2, 47, 76])
    Value(numerator=29, denominator=2)
    >>> evaluate("2 ** 3", [2, 3])
    Unreadable(why='two operations stand side by side')
    >>> evaluate("2 + 2", [2, 3])
    Unreadable(why='the numbers used are 2, 2; each of 2, 3 must be used once')
    """
    if len(text) > LONGEST_EXPRESSION:
        return Unreadable(f"the expression has more than {LONGEST_EXPRESSION:,} characters")
    text = text.translate(_ALIKE)
    tokens = _TOKEN.findall(text)
    if sum(map(len, tokens)) != len(text) - sum(map(text.count, " \t\n\r")):
        odd = _TOKEN.sub(" ", text).strip(" \t\n\r").partition(" ")[0]
        return Unreadable(f"{odd[:20]!r} is not arithmetic")
    digits = [token for token in tokens if token not in "+-*/()"]
    wanted = sorted(map(str, numbers))
    if sorted(digits) != wanted:
        return Unreadable(
            f"the numbers used are {', '.join(digits)[:60] or 'none'}; each of "
            f"{', '.join(map(str, sorted(numbers)))} must be used once"
        )
    return _reduce(tokens)


def _reduce(tokens: Sequence[str]) -> Value | Unreadable:
    """Dijkstra's two stacks: values, and the operations and brackets that wait for their right-hand side."""
    values: list[Value] = []
    waiting: list[str] = []
    after_value = False
    for token in tokens:
        if token == "(":
            if after_value:
                return Unreadable("an operation is missing before a bracket")
            waiting.append(token)
        elif token == ")":
            if not after_value:
                return Unreadable("a bracket closes too early")
            while waiting and waiting[-1] != "(":
                if not _apply(values, waiting.pop()):
                    return _DIVISION
            if not waiting:
                return Unreadable("a bracket closes that was never opened")
            waiting.pop()
        elif token in _RANK:
            if not after_value:
                beside = waiting and waiting[-1] in _RANK
                return Unreadable(
                    "two operations stand side by side" if beside else f"a number is missing before {token}"
                )
            while waiting and waiting[-1] != "(" and _RANK[waiting[-1]] >= _RANK[token]:
                if not _apply(values, waiting.pop()):
                    return _DIVISION
            waiting.append(token)
            after_value = False
        else:
            if after_value:
                return Unreadable("an operation is missing between two numbers")
            values.append(Value(int(token), 1))
            after_value = True
    if not after_value:
        return Unreadable("the expression ends too early")
    while waiting:
        operation = waiting.pop()
        if operation == "(":
            return Unreadable("a bracket is never closed")
        if not _apply(values, operation):
            return _DIVISION
    return values[0]


_DIVISION = Unreadable("it divides by zero")


def _apply(values: list[Value], operation: str) -> bool:
    """Join the last two values; False where that would divide by zero."""
    c, d = values.pop()
    a, b = values[-1]
    if operation == "+":
        values[-1] = Value(a * d + c * b, b * d)
    elif operation == "-":
        values[-1] = Value(a * d - c * b, b * d)
    elif operation == "*":
        values[-1] = Value(a * c, b * d)
    elif c == 0:
        return False
    else:
        values[-1] = Value(a * d, b * c)
    return True
