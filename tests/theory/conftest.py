"""What the tests of the theory room share: checked claims, and parity's base model from the paper's text."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import pytest

from stepladder.theory.checklist import CHECKS
from stepladder.theory.claims import Case, Claim

Path = tuple[int, ...]

CASES = [(d, k) for d in (8, 16, 32) for k in (1, 2, 3)]
"""The settings of docs/theory.md."""


@pytest.fixture(scope="session", params=CASES, ids=lambda case: f"d{case[0]}-k{case[1]}")
def case(request: pytest.FixtureRequest) -> tuple[int, int]:
    """One setting (d, k) of docs/theory.md."""
    return request.param


@pytest.fixture(scope="session", params=[1, 2, 3], ids=lambda k: f"d8-k{k}")
def small_case(request: pytest.FixtureRequest) -> tuple[int, int]:
    """A setting with d = 8, where all 255 paths can be listed."""
    return 8, request.param


@pytest.fixture(scope="session")
def claim() -> Callable[[str, tuple[int, int]], Claim]:
    """Check one claim, by the name of its function, in one setting; each only once a session."""
    checks = {check.__name__: check for check in CHECKS}
    cases: dict[tuple[int, int], Case] = {}

    @cache
    def checked(name: str, case: tuple[int, int]) -> Claim:
        return checks[name](cases.setdefault(case, Case(*case)))

    return checked


# ---- the base model of parity, from the paper's text and nothing else


def legal_picks(d: int, path: Path) -> int:
    """Count the legal picks: d at the root; after position i (from 0) those behind it and EOS."""
    return d - path[-1] if path else d


def path_probability(d: int, path: Path) -> Fraction:
    """The probability that PART picks `path` and then EOS."""
    probability = Fraction(1)
    for depth in range(len(path) + 1):
        probability /= legal_picks(d, path[:depth])
    return probability


def all_paths(d: int) -> list[Path]:
    """Every increasing path but the empty one."""
    return [path for size in range(1, d + 1) for path in itertools.combinations(range(d), size)]


@cache
def agreement(alphabet: int, one: Path, other: Path) -> Fraction:
    """How often two paths have the same sum modulo the alphabet, over every input they read."""
    read = sorted({*one, *other})
    equal = 0
    for letters in itertools.product(range(alphabet), repeat=len(read)):
        x = dict(zip(read, letters, strict=True))
        equal += (sum(x[i] for i in one) - sum(x[i] for i in other)) % alphabet == 0
    return Fraction(equal, alphabet ** len(read))


@pytest.fixture(scope="session")
def part() -> type:
    """PART on parity from first principles, to compare with the package's."""

    class FirstPrinciples:
        paths = staticmethod(all_paths)
        probability = staticmethod(path_probability)
        agreement = staticmethod(agreement)

        @staticmethod
        def sizes(d: int, secret: Path) -> tuple[int, ...]:
            """The legal picks at each of the k+1 steps of a secret."""
            return tuple(legal_picks(d, secret[:depth]) for depth in range(len(secret) + 1))

    return FirstPrinciples
