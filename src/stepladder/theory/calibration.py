"""Is the prediction of `pays` right? Predicted against measured ratios on trees.

Measured: crossing of no_curriculum over (k+1) times the crossing of depth_increasing, both fixed-n
(`stepladder complexity`). Predicted: the formula of `pays` at PART's exact success rates. The settings in
CALIBRATION set the bias and spread that `pays` uses; those in HELD_OUT test it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from stepladder.curriculum import MethodName
from stepladder.finetune.complexity import FinetuneQuestion
from stepladder.finetune.run import default_rate
from stepladder.scaling import Interval, Log, solve
from stepladder.theory.pays import Calibration, costs
from stepladder.trees import Part, Target
from stepladder.trees.catalogue import TaskName, build_tree


@dataclass(frozen=True)
class Setting:
    """One target on one tree."""

    task: TaskName
    d: int
    secret: tuple[int, ...]
    alphabet: int | None = None

    @property
    def target(self) -> Target:
        """The target."""
        return Target(build_tree(self.task, self.d, self.alphabet), self.secret)

    def __str__(self) -> str:
        """Name it for tables."""
        letters = f" mod {self.alphabet}" if self.alphabet else ""
        return f"{self.task}{letters} d={self.d} [{','.join(map(str, self.secret))}]"


CALIBRATION = (
    Setting("parity", 8, (0, 1, 2)),
    Setting("parity", 8, (1, 4, 6)),
    Setting("parity", 8, (0, 1)),
    Setting("parity", 8, (7,)),
    Setting("parity", 16, (0, 1)),
    Setting("parity", 16, (3, 9)),
    Setting("parity", 32, (0, 1)),
    Setting("parity", 32, (2, 20)),
    Setting("sum", 8, (0, 1), 3),
    Setting("sum", 8, (2, 5, 6), 3),
    Setting("sum", 16, (0, 1), 5),
    Setting("sum", 32, (30, 31), 3),
)

HELD_OUT = (
    Setting("parity", 8, (5, 6, 7)),
    Setting("parity", 8, (0, 7)),
    Setting("parity", 8, (2, 3, 4)),
    Setting("parity", 16, (0, 8)),
    Setting("parity", 16, (0, 1, 2)),
    Setting("parity", 16, (15,)),
    Setting("parity", 32, (0,)),
    Setting("parity", 32, (10, 11)),
    Setting("parity", 32, (31,)),
    Setting("sum", 16, (1, 2), 3),
    Setting("sum", 8, (0, 3, 6), 4),
    Setting("sum", 32, (0, 1), 7),
)


@dataclass(frozen=True)
class Comparison:
    """Predicted and measured ratio of one setting."""

    setting: Setting
    predicted: float
    measured: Interval

    def predicted_interval(self, calibration: Calibration) -> tuple[float, float]:
        """Return the 95% interval that `pays` would give at exactly known success rates."""
        centre = math.log(self.predicted) + calibration.bias
        return math.exp(centre - calibration.quantile), math.exp(centre + calibration.quantile)

    @property
    def residual(self) -> float:
        """log(measured / predicted)."""
        return math.log(self.measured.value / self.predicted)


def compare(setting: Setting, log: Log, trials: int = 400, accuracy: float = 0.99) -> Comparison:
    """Predict a setting's ratio and measure it."""
    target = setting.target
    assert target.tree.wrong_acceptance is not None
    steps = 1 / np.asarray(Part(target.tree).branching(target), dtype=np.float64)
    direct, curriculum = costs(steps, float(target.tree.wrong_acceptance), accuracy)
    needed = {method: _crossings(setting, method, log, trials, accuracy) for method in METHODS}
    stages = target.k + 1
    ratios = needed["no_curriculum"] / (stages * needed["depth_increasing"])
    low, middle, high = np.quantile(ratios, [0.025, 0.5, 0.975])
    return Comparison(setting, float(direct / curriculum), Interval(float(middle), float(low), float(high)))


METHODS: tuple[MethodName, ...] = ("no_curriculum", "depth_increasing")


def _crossings(
    setting: Setting, method: MethodName, log: Log, trials: int, accuracy: float
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    question = FinetuneQuestion(
        method=method,
        task=setting.task,
        d=setting.d,
        secret=setting.secret,
        learning_rate=default_rate(method),
        alphabet=setting.alphabet,
        target=accuracy,
        trials=trials,
    )
    return solve(question, log, sweeps=0).resampled


def calibrate(
    settings: Sequence[Setting], log: Log, report: Callable[[str], None] = lambda what: None
) -> tuple[Calibration, list[Comparison]]:
    """Compare every setting; the spread also allows for having estimated the bias from so few."""
    comparisons = []
    for setting in settings:
        report(str(setting))
        comparisons.append(compare(setting, log))
    residuals = np.array([one.residual for one in comparisons])
    spread = float(residuals.std(ddof=1) * math.sqrt(1 + 1 / len(residuals)))
    return Calibration(float(residuals.mean()), spread, len(residuals)), comparisons
