"""The two 0-1 outcome oracles (Sec. "0-1 Outcome Signals").

    terminal   R_f(tau)     = 1  iff  the token before EOS equals f_S*(x)
    family     R_F(tau, l)  = 1  iff  the token before EOS equals f_S*^l(x), for a queried depth l

Both see the token before EOS and nothing else, so they accept wrong chains that end right. Each
judged row is one query; `queries` counts them all (T_data of Thm. 3).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from stepladder.errors import InputError
from stepladder.trees.target import Target
from stepladder.trees.tree import Mask, Tokens


@dataclass
class FamilyOracle:
    """Judges the token before EOS against a subtask of the target.

    >>> import numpy as np
    >>> from stepladder.trees import Parity
    >>> oracle = FamilyOracle(Target(Parity(d=3), (0, 2)))
    >>> inputs = np.array([[1, 0, 0], [1, 0, 1]], dtype=np.uint8)
    >>> oracle.judge(inputs, np.array([1, 1]), depth=2).tolist(), oracle.queries
    ([True, False], 2)
    """

    target: Target
    queries: int = field(default=0, init=False)

    def judge(self, inputs: Tokens, answers: Tokens, depth: int) -> Mask:
        """Accept each row whose answer is the value of the subtask at `depth` (1..k)."""
        if not 1 <= depth <= self.target.k:
            raise InputError(f"the oracle's depth must be in 1..{self.target.k}, got {depth}")
        self.queries += len(inputs)
        return self.target.tree.same(answers, self.target.prefix(depth).value(inputs))


@dataclass
class TerminalOracle:
    """Judges the token before EOS against the target itself: the family oracle at its last depth."""

    target: Target
    queries: int = field(default=0, init=False)

    def judge(self, inputs: Tokens, answers: Tokens) -> Mask:
        """Accept each row whose answer is f_S*(x)."""
        self.queries += len(inputs)
        return self.target.tree.same(answers, self.target.value(inputs))
