"""Sparse parity as a tree (Sec. "Concrete Example: Parity Problem").

"The Sparse Parity Problem can be seen as a V=2 subcase of Def. 1, with U={0,1} and the deterministic
kernel defined by the XOR operation", with strictly increasing picks: z_l = z_{l-1} xor x_{i_l}.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from stepladder.errors import check_between
from stepladder.trees.tree import Mask, Tokens, Tree, ordered


@dataclass(frozen=True)
class Parity(Tree):
    """Sparse parity over d bits.

    >>> tree = Parity(d=3)
    >>> tree.legal(), tree.legal((1,))
    ((0, 1, 2), (2, 3))
    """

    name = "parity"
    alphabet = 2
    d: int

    def __post_init__(self) -> None:
        """Check d."""
        check_between("d", self.d, 1, 4096)

    @property
    def wrong_acceptance(self) -> Fraction:
        """Two different sets of bits have equal parity on exactly half of the inputs."""
        return Fraction(1, 2)

    @cached_property
    def follows(self) -> Mask:
        """Strictly increasing positions."""
        return ordered(self.d)

    def combine(self, depth: int, state: Tokens, clue: Tokens) -> Tokens:
        """Exclusive or."""
        return state ^ clue
