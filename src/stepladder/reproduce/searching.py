"""The test-time figures: accuracy and index selection against oracle queries, for BAI and LTAR."""

from __future__ import annotations

import numpy as np

from stepladder.report.chart import Chart, Panel, Series
from stepladder.report.style import LABELS
from stepladder.reproduce.scale import SETTINGS, Scale, Setting
from stepladder.search import CountsArms, Fixed, Identification, SearchMethod, identify
from stepladder.trees import Parity, Part, Target

METHODS: tuple[SearchMethod, ...] = ("bai", "ltar")
PER_ARM = {"bai": {8: range(6, 23), 16: range(6, 23), 32: range(8, 27)}, "ltar": None}
"""Powers of two of the queries per arm that a curve shows; ltar: 2^0 .. 2^6 in half steps."""


def _sizes(setting: Setting, method: SearchMethod) -> list[int]:
    powers = PER_ARM[method]
    if powers is None:
        return sorted({round(2 ** (half / 2)) for half in range(0, 13)})
    return [2**power for power in powers[setting.d]]


def _searches(setting: Setting, method: SearchMethod, size: int, count: int, seed: int) -> Identification:
    target = Target(Parity(setting.d), setting.secret)
    arms = CountsArms(method, target, Part(target.tree), [seed, size], tokens=False)
    return identify(arms, Fixed((size,)), count, [seed, size])


def queries(scale: Scale, seed: int) -> Chart:
    """Accuracy against oracle queries in the three settings."""
    panels = []
    for setting in SETTINGS:
        series = []
        for method in METHODS:
            spent, means, errors = [], [], []
            for size in _sizes(setting, method):
                found = _searches(setting, method, size, scale.trials, seed)
                values = found.accuracy()
                spent.append(float(found.t_data.mean()))
                means.append(float(values.mean()))
                errors.append(float(values.std(ddof=1) / np.sqrt(scale.trials)))
            low = [mean - error for mean, error in zip(means, errors, strict=True)]
            high = [mean + error for mean, error in zip(means, errors, strict=True)]
            series.append(Series(LABELS[method], spent, means, low, high, method))
        panels.append(
            Panel(setting.name, "oracle queries, total", "accuracy of the path", x_log=True, series=series)
        )
    return Chart(
        "queries",
        "Accuracy against oracle queries",
        f"Test-time scaling of the fixed base model: mean over {scale.trials} searches and standard error. "
        "LTAR truncates and asks the family oracle, BAI can only ask the terminal oracle after full "
        "roll-outs. Queries count all arms of all depths.",
        "Fig. Parity_Dynamics (c), Fig. Parity_Dynamics_trials (b), Fig. 16_2 (b), Fig. 32_2 (b)",
        panels,
    )


def query_index(scale: Scale, seed: int) -> Chart:
    """How often each depth's pick is right, against queries, at d = 8."""
    setting = SETTINGS[0]
    panels = []
    for method in METHODS:
        spent, shares = [], []
        for size in _sizes(setting, method):
            found = _searches(setting, method, size, scale.trials, seed)
            spent.append(float(found.t_data.mean()))
            shares.append(found.index_accuracy)
        depths = np.asarray(shares)
        series = [
            Series(f"depth {depth + 1}", spent, depths[:, depth].tolist()) for depth in range(setting.k + 1)
        ]
        panels.append(
            Panel(LABELS[method], "oracle queries, total", "share of correct picks", x_log=True, series=series)
        )
    return Chart(
        "query-index",
        "Index selection at test time",
        f"Share of {scale.trials} searches whose pick at each depth is the target's, d = 8, k = 3. After a "
        "wrong pick a later one can still be right by chance, EOS most of all.",
        "Fig. Index Selection (test-time scaling)",
        panels,
    )
