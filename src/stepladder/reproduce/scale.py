"""How much to compute: everything, or a quick look at the same figures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Sizes that only trade time for precision; the quick ones are a smaller sample of the same thing."""

    trials: int
    """Trials behind each precise mean."""
    sweeps: int
    """Sweeps behind each first-hit median."""
    largest_d: int
    """How far the scaling in d goes."""
    optimizer_steps: int
    optimizer_seeds: int


FULL = Scale(trials=400, sweeps=100, largest_d=128, optimizer_steps=1000, optimizer_seeds=10)
QUICK = Scale(trials=50, sweeps=10, largest_d=32, optimizer_steps=160, optimizer_seeds=4)


@dataclass(frozen=True)
class Setting:
    """One of the paper's parity settings, with its learning rates."""

    d: int
    k: int
    rate_direct: float
    rate_curriculum: float

    @property
    def secret(self) -> tuple[int, ...]:
        """The paper's secret: the first k positions."""
        return tuple(range(self.k))

    @property
    def name(self) -> str:
        """What panels call it."""
        return f"d = {self.d}, k = {self.k}"

    def rate(self, method: str) -> float:
        """The paper's learning rate for a method."""
        return self.rate_direct if method == "no_curriculum" else self.rate_curriculum


SETTINGS = (Setting(8, 3, 1e8, 1e5), Setting(16, 2, 2e12, 1e10), Setting(32, 2, 2e12, 1e10))
