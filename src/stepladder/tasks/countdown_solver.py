"""Countdown, solved exactly: can these numbers, each used once, make the target by + - * /?

Work backwards from the target. Some last operation joins a part A of the numbers with the rest B, so for every
value a that A can make there are at most five values that B would have to make:

    a + b = t, |a - b| = t, a * b = t, a / b = t, b / a = t
    <=>  b in {t - a, a - t, a + t, t / a, a / t, a * t}.

Taking A as the smaller part leaves A at most half of the numbers, whose values are few; B is asked in the same
way, down to four numbers, whose values are looked up. Seven numbers take thousands of questions in place of
the billions of expressions of a plain search.

Nothing is lost by keeping every value at or above 0: turning a subtraction round only flips signs further up,
and the target is positive. Values are fractions in lowest terms, as pairs (numerator, denominator), which are
several times faster here than `fractions.Fraction`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from math import gcd
from typing import NamedTuple

Ratio = tuple[int, int]
"""A fraction at or above 0, in lowest terms."""

LOOKED_UP = 4
"""Parts with this many numbers, or fewer, have all their values tabulated."""


class Node(NamedTuple):
    """How a value is made: `left operation right`; a given number has no operation."""

    value: Ratio
    operation: str = ""
    left: Node | None = None
    right: Node | None = None

    def steps(self) -> Iterator[str]:
        """Yield one line for each operation, innermost first."""
        if self.left is not None and self.right is not None:
            yield from self.left.steps()
            yield from self.right.steps()
            yield f"{_text(self.left)} {self.operation} {_text(self.right)} = {_text(self)}"

    def expression(self) -> str:
        """Return the whole expression, with brackets round every part of it that is not a number."""
        if self.left is None or self.right is None:
            return str(self.value[0])
        return f"{_inner(self.left)} {self.operation} {_inner(self.right)}"


def _inner(node: Node) -> str:
    return f"({node.expression()})" if node.operation else node.expression()


def _text(node: Node) -> str:
    numerator, denominator = node.value
    return str(numerator) if denominator == 1 else f"({numerator}/{denominator})"


def solve(numbers: Sequence[int], target: int) -> Node | None:
    """Return a way to make the target (0 or more) from all the numbers, or None if there is none.

    >>> found = solve((3, 7, 11, 13), 21)
    >>> found is not None and found.value
    (21, 1)
    >>> solve((1, 1, 1), 9) is None
    True
    """
    return _Search(numbers).make((1 << len(numbers)) - 1, (target, 1))


def fewest_operations(numbers: Sequence[int], target: int) -> int | None:
    """Return how many operations the target needs when numbers may be left out; None if it cannot be made.

    >>> fewest_operations((25, 4, 7), 100)
    1
    """
    search = _Search(numbers)
    for size in range(1, len(numbers) + 1):
        for chosen in combinations(range(len(numbers)), size):
            if search.make(sum(1 << index for index in chosen), (target, 1)):
                return size - 1
    return None


class _Search:
    """Questions about parts of one set of numbers; a part is a bit mask. Answers are remembered."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = tuple(numbers)
        self.tables: dict[int, dict[Ratio, Node]] = {}
        self.answers: dict[tuple[int, Ratio], Node | None] = {}

    def make(self, part: int, target: Ratio) -> Node | None:
        """Find a way to make the target from the whole part."""
        if part.bit_count() <= LOOKED_UP:
            return self.values(part).get(target)
        key = (part, target)
        if key not in self.answers:
            self.answers[key] = self._divide(part, target)
        return self.answers[key]

    def _divide(self, part: int, target: Ratio) -> Node | None:
        """Ask every way to cut the part in two for the last operation."""
        for smaller in _smaller_parts(part):
            rest = part ^ smaller
            table = self.values(rest) if rest.bit_count() <= LOOKED_UP else None
            for value, left in self.values(smaller).items():
                for operation, swapped, needed in _needed(value, target):
                    right = table.get(needed) if table is not None else self.make(rest, needed)
                    if right:
                        first, second = (right, left) if swapped else (left, right)
                        return Node(target, operation, first, second)
                if value[0] == 0 == target[0]:
                    return Node(target, "*", left, self.anything(rest))
        return None

    def anything(self, part: int) -> Node:
        """Return some value of the part: the sum of its numbers."""
        low = part & -part
        node = next(iter(self.values(low).values()))
        return node if part == low else _join(node, self.anything(part ^ low))

    def values(self, part: int) -> dict[Ratio, Node]:
        """Return every value the part can make, each with one way to make it."""
        known = self.tables.get(part)
        if known is None:
            known = self.tables[part] = self._tabulate(part)
        return known

    def _tabulate(self, part: int) -> dict[Ratio, Node]:
        if part.bit_count() == 1:
            number = self.numbers[part.bit_length() - 1]
            return {(number, 1): Node((number, 1))}
        found: dict[Ratio, Node] = {}
        for smaller in _smaller_parts(part):
            for left in self.values(smaller).values():
                for right in self.values(part ^ smaller).values():
                    for node in _joined(left, right):
                        found.setdefault(node.value, node)
        return found


@cache
def _smaller_parts(part: int) -> tuple[int, ...]:
    """Return the parts to take as A, each cut of the numbers once, small ones first."""
    whole = part.bit_count()
    found = []
    smaller = (part - 1) & part
    while smaller:
        size = smaller.bit_count()
        if 2 * size < whole or (2 * size == whole and smaller > part ^ smaller):
            found.append(smaller)
        smaller = (smaller - 1) & part
    return tuple(sorted(found, key=lambda mask: (mask.bit_count(), mask)))


def _reduced(numerator: int, denominator: int) -> Ratio:
    shared = gcd(numerator, denominator)
    return numerator // shared, denominator // shared


def _join(left: Node, right: Node) -> Node:
    (a, b), (c, d) = left.value, right.value
    return Node(_reduced(a * d + c * b, b * d), "+", left, right)


def _joined(left: Node, right: Node) -> Iterator[Node]:
    """Yield the results of every operation on the two."""
    (a, b), (c, d) = left.value, right.value
    across, back = a * d, c * b
    yield Node(_reduced(across + back, b * d), "+", left, right)
    first, second = (left, right) if across >= back else (right, left)
    yield Node(_reduced(abs(across - back), b * d), "-", first, second)
    yield Node(_reduced(a * c, b * d), "*", left, right)
    if back:
        yield Node(_reduced(across, back), "/", left, right)
    if across:
        yield Node(_reduced(back, across), "/", right, left)


def _needed(value: Ratio, target: Ratio) -> Iterator[tuple[str, bool, Ratio]]:
    """Yield (operation, whether the given value stands on its right, what the other side must make)."""
    (a, b), (t, u) = value, target
    across, back, below = a * u, t * b, b * u
    if back >= across:
        yield "+", False, _reduced(back - across, below)
    if across >= back:
        yield "-", False, _reduced(across - back, below)
    yield "-", True, _reduced(across + back, below)
    if a:
        yield "*", False, _reduced(back, across)
        yield "/", True, _reduced(a * t, below)
        if t:
            yield "/", False, _reduced(across, back)
