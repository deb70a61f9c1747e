"""Causal-graph reasoning as a tree.

"Causal-graph reasoning (step(z, v) = phi(v) for some phi)": positions are the nodes of a directed
acyclic graph, a chain follows its edges, and each node's value passes through phi(v) = v + 1 mod
alphabet. Like recall, the value of a path is that of its last node alone.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stepladder.errors import InputError, check_between
from stepladder.trees.tree import Mask, Tokens, Tree, ordered


@dataclass(frozen=True)
class CausalGraph(Tree):
    """Follow the edges i -> j (i < j) of a graph; without edges given, the complete ordered graph.

    >>> CausalGraph(d=4, edges=((0, 2), (2, 3))).legal((0,))
    (2, 4)
    """

    name = "causal"
    d: int
    alphabet: int = 3
    edges: tuple[tuple[int, int], ...] | None = None

    def __post_init__(self) -> None:
        """Check d, the alphabet and that every edge goes forward."""
        check_between("d", self.d, 1, 4096)
        check_between("alphabet", self.alphabet, 2, 1 << 20)
        for cause, effect in self.edges or ():
            if not 0 <= cause < effect < self.d:
                raise InputError(f"the edge {cause}->{effect} must go forward within 0..{self.d - 1}")

    @cached_property
    def follows(self) -> Mask:
        """The edges, and EOS after any node."""
        follows = ordered(self.d)
        if self.edges is not None:
            allowed = np.zeros((self.d, self.d), dtype=np.bool_)
            for cause, effect in self.edges:
                allowed[cause, effect] = True
            follows[: self.d, : self.d] = allowed
        return follows

    def first(self, depth: int, clue: Tokens) -> Tokens:
        """Pass the first node's value through phi too."""
        return (clue + 1) % self.alphabet

    def combine(self, depth: int, state: Tokens, clue: Tokens) -> Tokens:
        """phi of the clue alone."""
        return self.first(depth, clue)
