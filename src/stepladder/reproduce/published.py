"""Published against measured: the sample sizes of the paper's captions, each with a verdict in words.

The captions say at which n a method "converges". They carry no more, so the table sets beside each the
fixed-n answer (n99), the first hit of a rising sweep, and how often a fresh trial succeeds at the published n.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from stepladder.curriculum import MethodName
from stepladder.finetune.complexity import FinetuneQuestion
from stepladder.reproduce.scale import SETTINGS, Scale, Setting
from stepladder.scaling import Log, Point, Question, solve
from stepladder.search import SearchMethod
from stepladder.search.complexity import SearchQuestion


@dataclass(frozen=True)
class Published:
    """One figure of a caption. For searches the unit is taken to be queries per arm where only that fits."""

    setting: Setting
    method: MethodName | SearchMethod
    size: int
    """n as published; per stage, or total queries unless `per_arm`."""
    source: str
    converged: bool = True
    per_arm: bool = False


_D8, _D16, _D32 = SETTINGS
PUBLISHED = (
    Published(_D8, "no_curriculum", 1_600_076, "Fig. Parity_Dynamics"),
    Published(_D8, "depth_increasing", 76, "Fig. Parity_Dynamics"),
    Published(_D8, "hint_decreasing", 76, "Fig. Parity_Dynamics"),
    Published(_D16, "no_curriculum", 1_100_120, "Fig. Parity_Dynamics_16_2"),
    Published(_D16, "depth_increasing", 120, "Fig. Parity_Dynamics_16_2"),
    Published(_D16, "hint_decreasing", 120, "Fig. Parity_Dynamics_16_2"),
    Published(_D32, "no_curriculum", 32_000_260, "Fig. Parity_Dynamics_32_2", converged=False),
    Published(_D32, "depth_increasing", 260, "Fig. Parity_Dynamics_32_2"),
    Published(_D32, "hint_decreasing", 260, "Fig. Parity_Dynamics_32_2"),
    Published(_D8, "bai", 251_410, "Fig. Parity_Dynamics"),
    Published(_D8, "ltar", 1_410, "Fig. Parity_Dynamics"),
    Published(_D16, "bai", 700_005, "Fig. Parity_Dynamics_16_2"),
    Published(_D16, "ltar", 5, "Fig. Parity_Dynamics_16_2", per_arm=True),
    Published(_D32, "bai", 20_310_000, "Fig. Parity_Dynamics_32_2"),
    Published(_D32, "ltar", 310_000, "Fig. Parity_Dynamics_32_2"),
)


def question_for(row: Published, scale: Scale, seed: int) -> Question:
    """Return the question whose answer the row is about."""
    setting, secret = row.setting, row.setting.secret
    if row.method == "bai" or row.method == "ltar":
        return SearchQuestion(row.method, "parity", setting.d, secret, trials=scale.trials, seed=seed)
    rate = setting.rate(row.method)
    return FinetuneQuestion(row.method, "parity", setting.d, secret, rate, trials=scale.trials, seed=seed)


def published_table(scale: Scale, seed: int, log: Log) -> list[dict[str, Any]]:
    """Measure every row."""
    rows = []
    for row in PUBLISHED:
        question = question_for(row, scale, seed)
        point = solve(question, log, scale.sweeps)
        search = row.method in ("bai", "ltar")
        units = question.units if search and not row.per_arm else 1
        size = max(1, round(row.size / units))
        hits = question.accuracies(size, scale.trials, stream=4) >= question.target
        rows.append(_row(row, point, units, float(hits.mean())))
    return rows


def _row(row: Published, point: Point, units: int, success: float) -> dict[str, Any]:
    assert point.size is not None and point.first_hit is not None and point.first_hit_range is not None
    needed, first = point.size * units, point.first_hit * units
    spread = [bound * units for bound in point.first_hit_range]
    return {
        "setting": row.setting.name,
        "method": row.method,
        "unit": _unit(row),
        "published": row.size,
        "converged": row.converged,
        "source": row.source,
        "fixed_n": needed,
        "first_hit": first,
        "first_hit_range": spread,
        "success_at_published": success,
        "verdict": verdict(row, needed, spread, success),
        "question": asdict(row.setting),
    }


def _unit(row: Published) -> str:
    if row.method in ("bai", "ltar"):
        return "queries per arm" if row.per_arm else "total queries"
    return "samples per stage"


def verdict(row: Published, needed: int, spread: list[int], success: float) -> str:
    """Say how the published figure compares, in words."""
    share = f"{success:.0%} of fresh trials reach 99% there"
    if not row.converged and row.size >= needed:
        return f"disagrees: published as not converged, yet a fixed n of {needed:,} suffices ({share})"
    if not row.converged:
        return (
            f"agrees: not converged by the published n ({share}); it takes {needed / row.size:.0f} times more"
        )
    if row.size >= 2 * needed:
        return f"more than enough: {row.size / needed:.0f} times the fixed n that suffices ({share})"
    if row.size >= needed:
        return f"agrees with a fixed n ({share})"
    times = f"a fixed n needs {needed / row.size:.1f} times more"
    if spread[0] <= row.size <= spread[1]:
        return f"fits a first lucky hit in a sweep, not a fixed n: {share}, {times}"
    beside = "above" if row.size > spread[1] else "below"
    return f"not a fixed n: {share}, {times}; {beside} 90% of the first hits of our finer sweeps"
