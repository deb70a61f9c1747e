"""A target path S* of a tree, its chain of thought and its prefix subtask family (Def. 1).

S*   = (i_1, ..., i_k, EOS)          the index path
S*^m = (i_1, ..., i_m, EOS)          the m-th curriculum subtask
f_S(x) = z_k                         the function value: the token right before EOS
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepladder.errors import InputError
from stepladder.trees.tree import Tokens, Tree, chain_states


@dataclass(frozen=True)
class Target:
    """The task f_S of a tree, given by its picks without the closing EOS.

    >>> from stepladder.trees import Parity
    >>> target = Target(Parity(d=4), (0, 2))
    >>> target.path
    (0, 2, 4)
    >>> target.value(np.array([[1, 0, 1, 1], [1, 1, 0, 0]])).tolist()
    [0, 1]
    """

    tree: Tree
    picks: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse a path that the tree does not contain, naming the rule it breaks."""
        object.__setattr__(self, "picks", tuple(int(pick) for pick in self.picks))
        tree = self.tree
        if not self.picks:
            raise InputError("is empty; give at least one position, such as 0,1,2", option="secret")
        if len(self.picks) > tree.max_depth:
            raise InputError(
                f"{self._shown()} is too deep: {tree.name} with d={tree.d} allows at most "
                f"{tree.max_depth} picks, got {len(self.picks)}",
                option="secret",
            )
        for pick in self.picks:
            if not 0 <= pick < tree.d:
                raise InputError(
                    f"{self._shown()} picks position {pick}, outside 0..{tree.d - 1}",
                    option="secret",
                )
        for depth, pick in enumerate(self.picks):
            if pick not in tree.legal(self.picks[:depth]):
                raise InputError(self._broken_rule(depth), option="secret")

    def _shown(self) -> str:
        return "[" + ",".join(map(str, self.picks)) + "]"

    def _broken_rule(self, depth: int) -> str:
        pick, before = self.picks[depth], self.picks[:depth]
        excludes = self.tree.excludes
        if pick in before:
            reason = f"repeats position {pick}"
        elif before and excludes is not None and excludes[list(before), pick].any():
            reason = f"picks position {pick}, which an earlier pick used up"
        elif before and pick < before[-1]:
            reason = f"goes back from position {before[-1]} to {pick}"
        else:
            reason = f"may not pick position {pick} here"
        legal = [j for j in self.tree.legal(before) if j != self.tree.eos]
        shown = ",".join(map(str, legal)) or "none, the chain must end"
        return f"{self._shown()} {reason}; legal positions there: {shown}"

    @property
    def k(self) -> int:
        """k*, the number of picks before EOS."""
        return len(self.picks)

    @property
    def path(self) -> tuple[int, ...]:
        """S*, the picks with the closing EOS."""
        return (*self.picks, self.tree.eos)

    def prefix(self, depth: int) -> Target:
        """Return the subtask S*^depth."""
        if not 1 <= depth <= self.k:
            raise InputError(f"the subtask depth must be between 1 and {self.k}, got {depth}")
        return Target(self.tree, self.picks[:depth])

    @property
    def family(self) -> tuple[Target, ...]:
        """The curriculum subtask family, S*^1 up to S*^k = S* itself."""
        return tuple(self.prefix(depth) for depth in range(1, self.k + 1))

    def chain(self, inputs: Tokens) -> Tokens:
        """Return the chain of thought z_1..z_k, EOS for every input, shape (n, k+1, ...)."""
        eos = np.broadcast_to(self.tree.eos_token, (len(inputs), *self.tree.eos_token.shape))
        return np.stack([*chain_states(self.tree, inputs, self.picks), eos], axis=1)

    def value(self, inputs: Tokens) -> Tokens:
        """Return f_S(x), the token right before EOS, for every input."""
        return chain_states(self.tree, inputs, self.picks)[-1]
