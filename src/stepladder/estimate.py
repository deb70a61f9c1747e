"""A number and what is known of it: an exact value, or an estimate with its confidence interval."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from scipy.stats import beta

from stepladder.errors import InputError


@dataclass(frozen=True)
class Estimate:
    """A value between `low` and `high`; exact where the three agree by construction."""

    value: float | Fraction
    low: float | Fraction
    high: float | Fraction
    exact: bool

    @classmethod
    def known(cls, value: float | Fraction) -> Estimate:
        """Wrap an exact value."""
        return cls(value, value, value, exact=True)

    @classmethod
    def proportion(cls, successes: int, trials: int, level: float = 0.95) -> Estimate:
        """Estimate a probability with the Clopper-Pearson interval, which never covers too little.

        >>> Estimate.proportion(0, 10).high < 0.31
        True
        """
        if not 0 <= successes <= trials or trials < 1:
            raise InputError(f"{successes} successes of {trials} trials is not a proportion")
        tail = (1 - level) / 2
        low = float(beta.ppf(tail, successes, trials - successes + 1)) if successes else 0.0
        missed = trials - successes
        high = float(beta.ppf(1 - tail, successes + 1, missed)) if missed else 1.0
        return cls(successes / trials, low, high, exact=False)

    def __str__(self) -> str:
        """Show the value, and the interval unless it is exact."""
        if self.exact:
            return str(self.value) if isinstance(self.value, Fraction) else f"{self.value:.6g}"
        return f"{float(self.value):.4g} [{float(self.low):.4g}, {float(self.high):.4g}]"
