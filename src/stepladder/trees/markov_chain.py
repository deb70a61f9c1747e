"""Markov-chain reasoning as a tree.

"Markov-chain reasoning (step(z, v) = phi(z) for some phi)": the first pick reads where the chain
starts, every later pick only lets it move on. The cycle phi(z) = z + 1 mod alphabet makes chains of
different length different functions, as Assumption 1 asks; the picks after the first never matter.
"""

from dataclasses import dataclass
from functools import cached_property

from stepladder.errors import check_between
from stepladder.trees.tree import Mask, Tokens, Tree, any_order


@dataclass(frozen=True)
class MarkovChain(Tree):
    """Walk the cycle 0 -> 1 -> ... -> alphabet-1 -> 0 from the letter at the first pick.

    >>> import numpy as np
    >>> tree = MarkovChain(d=3, alphabet=4)
    >>> tree.combine(2, np.array([3]), np.array([1])).tolist()
    [0]
    """

    name = "markov"
    d: int
    alphabet: int = 3

    def __post_init__(self) -> None:
        """Check d and the alphabet."""
        check_between("d", self.d, 1, 4096)
        check_between("alphabet", self.alphabet, 2, 1 << 20)

    @property
    def max_depth(self) -> int:
        """Picks may repeat; a walk longer than the cycle would repeat a function."""
        return self.alphabet

    @cached_property
    def follows(self) -> Mask:
        """Any position after any."""
        return any_order(self.d)

    def combine(self, depth: int, state: Tokens, clue: Tokens) -> Tokens:
        """One step along the cycle, whatever the clue."""
        return (state + 1) % self.alphabet
