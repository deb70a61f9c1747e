"""Every claim of the paper that can be checked, next to the value that checks it.

A claim states what the paper says for given d and k (parity, the secret 0..k-1, q = 1/2), the value of its
formula with constant 1 in every Theta, the exact or measured value, and a verdict:

    holds            the statement is true here
    loose by x       true, with that much room
    fails            false here, with the reason

The checks live with the ideas they are about: `claims_trees` (PART, coverage, the two lemmas on lengths),
`claims_transformer` (representation, scores, readouts), `claims_learning` (margins, sample sizes, learning
rates, variance) and `claims_search` (test-time scaling, bandit lemmas).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from stepladder.curriculum import MethodName
from stepladder.errors import check_between
from stepladder.finetune.complexity import FinetuneQuestion
from stepladder.finetune.run import default_rate
from stepladder.scaling import Log, Point, Question, solve
from stepladder.search import SearchMethod
from stepladder.search.complexity import SearchQuestion
from stepladder.trees import Parity, Part, Target

AnyMethod = MethodName | SearchMethod

HOLDS, FAILS = "holds", "fails"


@dataclass(frozen=True)
class Claim:
    """One claim, checked."""

    id: str
    paper: str
    """Where the paper makes it."""
    statement: str
    formula_value: float | None
    measured: float
    verdict: str
    reason: str


@dataclass
class Case:
    """The setting that claims are checked in, with the measurements they share."""

    d: int
    k: int
    trials: int = 200
    log: Log = field(default_factory=lambda: Log(None))
    answers: dict[str, Point] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the size."""
        check_between("d", self.d, 3, 64)
        check_between("k", self.k, 1, min(3, self.d - 2))

    @property
    def target(self) -> Target:
        """Parity with the paper's secret."""
        return Target(Parity(self.d), tuple(range(self.k)))

    @property
    def part(self) -> Part:
        """The base model."""
        return Part(self.target.tree)

    def measured(self, method: AnyMethod) -> Point:
        """Return the fixed-n answer of a finetuning or search method, measured once."""
        if method not in self.answers:
            self.answers[method] = solve(self._question(method), self.log, sweeps=0)
        return self.answers[method]

    def _question(self, method: AnyMethod) -> Question:
        secret = self.target.picks
        if method == "bai" or method == "ltar":
            return SearchQuestion(method, "parity", self.d, secret, trials=self.trials)
        rate = default_rate(method)
        return FinetuneQuestion(method, "parity", self.d, secret, rate, trials=self.trials)


Check = Callable[[Case], Claim]


def loose(factor: float) -> str:
    """Word a bound that holds with room."""
    return HOLDS if factor < 2 else f"loose by {factor:.3g}"


def upper_bound(formula: float, measured: float) -> str:
    """Judge measured <= formula."""
    if measured <= 0 < formula:
        return HOLDS
    return loose(formula / measured) if measured <= formula * (1 + 1e-9) else FAILS


def lower_bound(formula: float, measured: float) -> str:
    """Judge measured >= formula."""
    return loose(measured / formula) if measured >= formula * (1 - 1e-9) else FAILS


def same_order(formula: float, measured: float, factor: float) -> str:
    """Judge measured = Theta(formula), with the factor that the constants may hide."""
    apart = max(formula / measured, measured / formula) if formula > 0 and measured > 0 else float("inf")
    if apart <= 1 + 1e-9:
        return HOLDS
    return f"holds within a factor {apart:.3g}" if apart <= factor else FAILS


def equal(formula: float, measured: float, tolerance: float = 1e-9) -> str:
    """Judge an exact statement."""
    close = abs(formula - measured) <= tolerance * max(1.0, abs(formula))
    return HOLDS if close else FAILS
