"""The two theories the paper compares itself with, enough to put the three predictions side by side.

E2H (Remark e2h-relation): with accuracies eps_k = eps_K e^(K-k) and sensitivities L_k = L_K / l^(K-k),

    the curriculum needs fewer samples  <=>  ((e l)^(2(1-K)) - 1) / (1 - (e l)^2) < m - 1

where m > 1 says how much harder direct learning is. The left side is the geometric sum of the earlier
stages' costs relative to the last one's: sum_{j=1}^{K-1} (e l)^(-2j).

UFT (Remark uft-relation): nodes to explore for a 50% chance of a correct chain. Looking through the paths
of the tree in random order, half of them must be tried; with hints one level at a time, half of each
level's children in turn. (The remark gives the notion, not the constants; this is its count for a tree.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from stepladder.errors import check_between
from stepladder.trees import Part, Target


@dataclass(frozen=True)
class EasyToHard:
    """E2H's condition for K stages that get harder by the factors `accuracy` (e) and `sensitivity` (l).

    >>> EasyToHard(stages=3, accuracy=2.0, sensitivity=1.0, hardness=1.5).pays
    True
    """

    stages: int
    accuracy: float
    sensitivity: float
    hardness: float
    """m, the cost of direct learning relative to the last stage's."""

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_between("stages", self.stages, 1, 10**6)
        check_between("accuracy", self.accuracy, 1e-6, 1e6)
        check_between("sensitivity", self.sensitivity, 1e-6, 1e6)
        check_between("hardness", self.hardness, 1e-6, 1e300)

    @property
    def earlier_stages(self) -> float:
        """The left side: what the earlier stages cost relative to the last."""
        step = (self.accuracy * self.sensitivity) ** 2
        if math.isclose(step, 1):
            return float(self.stages - 1)
        try:
            return float((step ** (1 - self.stages) - 1) / (1 - step))
        except OverflowError:
            return math.inf

    @property
    def pays(self) -> bool:
        """Whether the curriculum needs fewer samples."""
        return self.earlier_stages < self.hardness - 1


@dataclass(frozen=True)
class NodeExploration:
    """UFT's count for a target of a tree."""

    direct: float
    curriculum: float

    @classmethod
    def of_target(cls, target: Target) -> NodeExploration:
        """Count the nodes for an even chance, with and without hints."""
        sizes = Part(target.tree).branching(target)
        return cls(direct=math.prod(sizes) / 2, curriculum=sum(sizes) / 2)

    @property
    def ratio(self) -> float:
        """Direct over curriculum."""
        return self.direct / self.curriculum
