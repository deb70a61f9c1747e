"""When a curriculum beats direct post-training (Cor. 1 and its relaxed form).

    direct cost N, stage costs N_1..N_L,   C* = N^(1/L),   N_l = C*^(p_l)
    ratio         N / (N_1 + .. + N_L)
    root          p_l = 1 for all l:   ratio = C*^L / (L C*)
    relaxed       p_max << L:          ratio >= C*^L / (L C*^p_max)

A cost is anything that adds up over stages: samples, queries, or the inverse of a success rate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from stepladder.errors import InputError


@dataclass(frozen=True)
class CurriculumCost:
    """The cost of the stages against the cost of learning the target directly.

    >>> cost = CurriculumCost(direct=512.0, stages=(8.0, 8.0, 8.0))
    >>> round(cost.root, 9), cost.satisfies_root_condition()
    (8.0, True)
    >>> round(cost.ratio, 3), round(cost.predicted_ratio, 3)
    (21.333, 21.333)
    """

    direct: float
    stages: tuple[float, ...]

    def __post_init__(self) -> None:
        """Costs are positive, and there is at least one stage."""
        if not self.stages or not all(cost > 0 for cost in (*self.stages, self.direct)):
            raise InputError(
                f"costs must be positive, with at least one stage; got direct {self.direct:g} "
                f"and stages {list(self.stages)}"
            )

    @classmethod
    def from_success_rates(cls, target: float, stages: Sequence[float]) -> CurriculumCost:
        """Take the cost of a success rate p to be 1/p, the rejection-sampling cost of one success."""
        for rate in (target, *stages):
            if not 0 < rate <= 1:
                raise InputError(f"a success rate must lie in (0, 1], got {rate:g}")
        return cls(1 / target, tuple(1 / rate for rate in stages))

    @property
    def total(self) -> float:
        """The curriculum's whole cost."""
        return sum(self.stages)

    @property
    def ratio(self) -> float:
        """Direct over curriculum: above 1 the curriculum is cheaper. Exact, whatever the stages are."""
        return self.direct / self.total

    @property
    def root(self) -> float:
        """C*, the L-th root of the direct cost."""
        return float(self.direct ** (1 / len(self.stages)))

    @property
    def exponents(self) -> tuple[float, ...]:
        """The p_l of the relaxed condition: each stage costs C*^p_l."""
        base = math.log(self.root)
        if base <= 0:
            raise InputError(f"the direct cost must exceed 1 to have exponents, got {self.direct:g}")
        return tuple(math.log(stage) / base for stage in self.stages)

    def satisfies_root_condition(self, factor: float = 2.0) -> bool:
        """Say whether every stage costs C* up to a factor."""
        return all(self.root / factor <= stage <= self.root * factor for stage in self.stages)

    @property
    def predicted_ratio(self) -> float:
        """The relaxed lower estimate C*^L / (L C*^p_max); equal to `ratio` when all stages cost C*."""
        return self.direct / (len(self.stages) * max(self.stages))
