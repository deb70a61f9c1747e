"""Multi-step translation as a tree.

"In the multi-step language translation task the sampled word is translated to different language at
different reasoning steps according to a fixed order": the step map depends on the depth. Language l
writes the word w as w + l mod alphabet, so z_l = x_{i_l} + l mod alphabet. Chains of different
length end in different languages, which keeps them distinct functions (Assumption 1).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stepladder.errors import check_between
from stepladder.trees.tree import Mask, Tokens, Tree, any_order


@dataclass(frozen=True)
class Translation(Tree):
    """Translate one unused word per step, into the language of that step.

    >>> tree = Translation(d=3, alphabet=5)
    >>> tree.first(1, np.array([4])).tolist(), tree.combine(2, np.array([0]), np.array([4])).tolist()
    ([0], [1])
    """

    name = "translation"
    d: int
    alphabet: int = 5

    def __post_init__(self) -> None:
        """Check d and the alphabet."""
        check_between("d", self.d, 1, 4096)
        check_between("alphabet", self.alphabet, 2, 1 << 20)

    @property
    def max_depth(self) -> int:
        """As many steps as languages that differ from each other."""
        return min(self.d, self.alphabet)

    @cached_property
    def follows(self) -> Mask:
        """Any position after any."""
        return any_order(self.d)

    @cached_property
    def excludes(self) -> Mask:
        """No word twice."""
        return np.eye(self.d, self.d + 1, dtype=np.bool_)

    def first(self, depth: int, clue: Tokens) -> Tokens:
        """Translate the word into the language of this depth."""
        return (clue + depth) % self.alphabet

    def combine(self, depth: int, state: Tokens, clue: Tokens) -> Tokens:
        """Translate the word, whatever came before."""
        return self.first(depth, clue)
