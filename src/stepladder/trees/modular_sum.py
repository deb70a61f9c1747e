"""Sums modulo V: parity's plain generalisation, with spurious rate 1/V in place of 1/2.

"Both families depend on task class parameters (e.g., output alphabet size K) and encapsulate the
severity of reward hacking" (Remark on spurious-acceptance parameters): this is the task that turns
that knob. z_l = z_{l-1} + x_{i_l} mod V, strictly increasing picks.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from stepladder.errors import check_between
from stepladder.trees.tree import Mask, Tokens, Tree, ordered


@dataclass(frozen=True)
class ModularSum(Tree):
    """Sum modulo the alphabet size over d letters.

    >>> import numpy as np
    >>> tree = ModularSum(d=4, alphabet=5)
    >>> tree.combine(2, np.array([3]), np.array([4])).tolist()
    [2]
    """

    name = "sum"
    d: int
    alphabet: int = 3

    def __post_init__(self) -> None:
        """Check d and the alphabet."""
        check_between("d", self.d, 1, 4096)
        check_between("alphabet", self.alphabet, 2, 1 << 20)

    @property
    def wrong_acceptance(self) -> Fraction:
        """The difference of two different sums is uniform modulo the alphabet size."""
        return Fraction(1, self.alphabet)

    @cached_property
    def follows(self) -> Mask:
        """Strictly increasing positions."""
        return ordered(self.d)

    def combine(self, depth: int, state: Tokens, clue: Tokens) -> Tokens:
        """Addition modulo the alphabet size."""
        return (state + clue) % self.alphabet
