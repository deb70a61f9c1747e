"""Who picks: a distribution over the next position given the picks so far.

Both the base sampler PART and the transformer are policies. A policy never sees the input: attention
reads positions only, so the law of the index path does not depend on x.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from stepladder.trees.tree import Picks, Tree


class Policy(ABC):
    """A next-pick distribution over a tree."""

    tree: Tree

    @abstractmethod
    def probabilities(self, picks: Picks) -> npt.NDArray[np.float64]:
        """Return the next-pick distribution after each row of `picks`, shape (n, d+1)."""
