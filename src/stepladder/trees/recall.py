"""Associative recall as a tree.

"Induction-head for associative recall (step(z, v) = v)": each pick looks a fact up and the state is
what was found. A fact is looked up at most once. The value of a path is its last fact alone, so the
path (j) computes the same function as any longer path that ends in j: recall breaks Assumption 1, and
only the family oracle can tell such paths apart.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stepladder.errors import check_between
from stepladder.trees.tree import Mask, Tokens, Tree, any_order


@dataclass(frozen=True)
class Recall(Tree):
    """Look facts up, each at most once; the answer is the last one.

    >>> tree = Recall(d=3)
    >>> tree.legal((2,))
    (0, 1, 3)
    """

    name = "recall"
    d: int
    alphabet: int = 4

    def __post_init__(self) -> None:
        """Check d and the alphabet."""
        check_between("d", self.d, 1, 4096)
        check_between("alphabet", self.alphabet, 2, 1 << 20)

    @cached_property
    def follows(self) -> Mask:
        """Any position after any."""
        return any_order(self.d)

    @cached_property
    def excludes(self) -> Mask:
        """No fact twice."""
        return np.eye(self.d, self.d + 1, dtype=np.bool_)

    def combine(self, depth: int, state: Tokens, clue: Tokens) -> Tokens:
        """Copy the clue."""
        return clue
