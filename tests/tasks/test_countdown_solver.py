"""The Countdown solver against a plain exhaustive search that was written on its own."""

import random
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations

import pytest

from stepladder.tasks.arithmetic import Value, evaluate
from stepladder.tasks.countdown_solver import fewest_operations, solve


@cache
def everything(numbers):
    """All values that a sorted tuple of Fractions makes: join any two, in any way, until one is left."""
    if len(numbers) == 1:
        return frozenset(numbers)
    found = set()
    for i, j in combinations(range(len(numbers)), 2):
        a, b = numbers[i], numbers[j]
        rest = numbers[:i] + numbers[i + 1 : j] + numbers[j + 1 :]
        joined = {a + b, a - b, b - a, a * b}
        joined |= {a / b} if b else set()
        joined |= {b / a} if a else set()
        for value in joined:
            found |= everything(tuple(sorted((*rest, value))))
    return frozenset(found)


def makes(numbers, target):
    return Fraction(target) in everything(tuple(sorted(map(Fraction, numbers))))


def check(found, numbers, target):
    """The expression uses each number once and is right by Fractions."""
    value = evaluate(found.expression(), numbers)
    assert isinstance(value, Value)
    assert Fraction(*value) == target
    assert Counter(leaves(found)) == Counter(numbers)
    assert len(list(found.steps())) == len(numbers) - 1


def leaves(node):
    if node.left is None:
        return [node.value[0]]
    return leaves(node.left) + leaves(node.right)


def test_solvability_agrees_with_exhaustive_search_on_2000_random_sets():
    draw = random.Random(0)
    solved = 0
    for _ in range(2000):
        size = draw.choice((2, 3, 3, 4))
        numbers = [draw.randint(1, draw.choice((6, 20, 99))) for _ in range(size)]
        target = draw.randint(0, draw.choice((10, 30, 100)))
        found = solve(numbers, target)
        assert (found is not None) == makes(numbers, target), (numbers, target)
        if found is not None:
            check(found, numbers, target)
            solved += 1
        everything.cache_clear()
    assert 300 < solved < 1700


def reachable(numbers):
    """All absolute values by splitting into two parts, in Fractions: quick enough for five numbers."""

    @cache
    def of(part):
        if len(part) == 1:
            return frozenset({Fraction(numbers[part[0]])})
        found = set()
        for size in range(1, len(part)):
            for left in combinations(part, size):
                right = tuple(place for place in part if place not in left)
                if left < right:
                    for a in of(left):
                        for b in of(right):
                            found |= {a + b, abs(a - b), a * b}
                            found |= ({a / b} if b else set()) | ({b / a} if a else set())
        return frozenset(found)

    return of(tuple(range(len(numbers))))


def test_solvability_of_five_numbers_agrees_with_all_their_values():
    draw = random.Random(1)
    for numbers in ([draw.randint(1, 4) for _ in range(5)] for _ in range(3)):
        values = reachable(numbers)
        for target in range(0, 300, 7):
            found = solve(numbers, target)
            assert (found is not None) == (target in values), (numbers, target)
            if found is not None:
                check(found, numbers, target)


def test_fewest_operations_agrees_with_exhaustive_search_over_all_subsets():
    draw = random.Random(2)
    seen = Counter()
    for _ in range(300):
        numbers = [draw.randint(1, 30) for _ in range(draw.randint(1, 4))]
        target = draw.randint(0, 60)
        sizes = (
            size
            for size in range(1, len(numbers) + 1)
            if any(makes(chosen, target) for chosen in combinations(numbers, size))
        )
        expected = next(sizes, None)
        found = fewest_operations(numbers, target)
        assert found == (None if expected is None else expected - 1), (numbers, target)
        seen[found] += 1
    assert set(seen) == {None, 0, 1, 2, 3}


def test_a_solution_may_need_a_fraction():
    # 24 = 8 / (3 - 8/3), and there is no other way.
    found = solve([8, 3, 8, 3], 24)
    assert found is not None
    assert "(8/3)" in " ".join(found.steps())
    check(found, [8, 3, 8, 3], 24)
    more = solve([8, 3, 8, 3, 5, 7, 2], 24)
    assert more is not None
    check(more, [8, 3, 8, 3, 5, 7, 2], 24)


@pytest.mark.parametrize(
    ("numbers", "target"), [([1], 1), ([5, 5], 0), ([1, 2, 3, 3], 0), ([4, 4, 9, 9, 7], 0)]
)
def test_a_single_number_and_zero_are_targets_like_any_other(numbers, target):
    found = solve(numbers, target)
    assert found is not None
    check(found, numbers, target)


def test_what_cannot_be_made_is_known():
    assert solve([1], 2) is None
    assert solve([1] * 7, 1000) is None
    assert fewest_operations([2, 2], 7) is None


def test_steps_and_expression_are_written_for_people():
    found = solve([76, 47], 29)
    assert found is not None
    assert (found.expression(), list(found.steps())) == ("76 - 47", ["76 - 47 = 29"])
