"""All checks of the paper's claims, in the order of the paper's argument."""

from __future__ import annotations

from stepladder.theory import claims_learning, claims_search, claims_transformer, claims_trees
from stepladder.theory.claims import Case, Check, Claim

CHECKS: tuple[Check, ...] = (
    *claims_trees.CHECKS,
    *claims_transformer.CHECKS,
    *claims_learning.CHECKS,
    *claims_search.CHECKS,
)


def check_all(case: Case) -> list[Claim]:
    """Check every claim in one setting."""
    return [check(case) for check in CHECKS]
