"""Success rate, coverage and what they cost (Sec. "Success Rate and Sample Complexity").

    coverage           C = sup pi*(y|x) / pi_ref(y|x) = 1 / success rate, for a target with one right chain
    one correct chain  C log(1/delta) draws by rejection sampling
    telling policies apart at a margin of 1/C:  of order C^2

A measured success rate is k of n; everything below carries its Clopper-Pearson interval along. An oracle
that accepts wrong chains with probability q shows the rate s = p + (1-p) q, so p = (s - q) / (1 - q).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from stepladder.errors import InputError, check_between
from stepladder.estimate import Estimate
from stepladder.trees import Part, Target


@dataclass(frozen=True)
class SuccessRate:
    """The true success rate p, with spurious acceptance taken out; 0 where the interval reaches it."""

    rate: Estimate

    @classmethod
    def measured(cls, accepted: int, trials: int, spurious: float = 0.0, level: float = 0.95) -> SuccessRate:
        """Estimate p from accepted trials.

        >>> seen = SuccessRate.measured(600, 1000, spurious=0.5)
        >>> round(float(seen.rate.value), 3)
        0.2
        """
        check_between("spurious", spurious, 0, 0.999)
        shown = Estimate.proportion(accepted, trials, level)

        def true(rate: float) -> float:
            return min(1.0, max(0.0, (rate - spurious) / (1 - spurious)))

        value, low, high = (true(float(bound)) for bound in (shown.value, shown.low, shown.high))
        return cls(Estimate(value, low, high, exact=False))

    @classmethod
    def of_target(cls, target: Target) -> SuccessRate:
        """Return PART's exact probability of the target's path."""
        return cls(Estimate.known(Part(target.tree).path_probability(target.picks)))

    @property
    def coverage(self) -> Estimate:
        """C = 1/p; infinite where p may be 0."""
        return self._map(lambda rate: 1 / rate)

    def rejection_cost(self, delta: float) -> Estimate:
        """Draws for one correct chain with probability 1 - delta, log(delta) / log(1 - p), at least 1."""
        if not 0 < delta < 1:
            raise InputError(f"must lie strictly between 0 and 1, got {delta:g}", option="delta")
        return self._map(lambda rate: 1.0 if rate >= 1 else max(1.0, math.log(delta) / math.log1p(-rate)))

    @property
    def squared_margin_cost(self) -> Estimate:
        """C^2, the order of what telling policies apart at a margin of 1/C costs."""
        return self._map(lambda rate: 1 / rate**2)

    def _map(self, decreasing: Callable[[float], float]) -> Estimate:
        """Apply a decreasing function to the rate; the ends of the interval change places."""

        def at(rate: float) -> float:
            return math.inf if rate <= 0 else decreasing(rate)

        value, low, high = (float(x) for x in (self.rate.value, self.rate.low, self.rate.high))
        return Estimate(at(value), at(high), at(low), self.rate.exact)
