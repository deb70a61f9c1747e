"""What a search spends: T_data, the oracle queries, and T_comp, the tokens the base model emits.

Retries of forced sampling, the roll-outs after them and the commit steps all count. A limit stops a
search, which then returns what it knows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stepladder.errors import check_between

Numbers = npt.NDArray[np.int64]
LARGEST = 10**18


@dataclass(frozen=True)
class Budget:
    """How much one search may spend."""

    queries: int = LARGEST
    """Oracle queries (T_data); never exceeded."""
    tokens: int = LARGEST
    """Tokens of the base model (T_comp); no further query is made once they are spent."""

    def __post_init__(self) -> None:
        """Check both limits."""
        check_between("max_queries", self.queries, 1, LARGEST)
        check_between("max_tokens", self.tokens, 1, LARGEST)


class Ledger:
    """What every search of a batch has spent, and whether it may go on."""

    def __init__(self, searches: int, budget: Budget) -> None:
        """Start at zero."""
        self.budget = budget
        self.queries: Numbers = np.zeros(searches, dtype=np.int64)
        self.tokens: Numbers = np.zeros(searches, dtype=np.int64)

    def affords(self, queries: Numbers) -> npt.NDArray[np.bool_]:
        """Say which searches may make so many more queries."""
        enough = self.queries + queries <= self.budget.queries
        return enough & (self.tokens < self.budget.tokens)

    def spend(self, queries: Numbers, tokens: Numbers) -> None:
        """Book queries and tokens."""
        self.queries = self.queries + queries
        self.tokens = self.tokens + tokens
