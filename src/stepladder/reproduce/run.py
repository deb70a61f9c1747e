"""Compute every figure, resume where a run was interrupted, write the results whole.

A figure's data is saved as soon as it is finished, under a key made of all that it depends on; a run that is
killed and started again computes what is missing and ends with the same results.json, byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stepladder.errors import InputError, check_seed
from stepladder.files import make_folder, write_whole
from stepladder.report.chart import Chart
from stepladder.report.static import draw_chart
from stepladder.report.style import render
from stepladder.reproduce import finetuning, optimizers, scaling_figures, searching
from stepladder.reproduce.published import published_table
from stepladder.reproduce.scale import FULL, QUICK, Scale
from stepladder.scaling import Log

Make = Callable[[Scale, int, Log], Chart]

FIGURES: dict[str, Make] = {
    "accuracy": lambda scale, seed, log: finetuning.accuracy(scale, seed),
    "attention-stages": lambda scale, seed, log: finetuning.attention_stages(scale, seed),
    "attention-direct": lambda scale, seed, log: finetuning.attention_direct(scale, seed),
    "index": lambda scale, seed, log: finetuning.index_accuracy(scale, seed),
    "queries": lambda scale, seed, log: searching.queries(scale, seed),
    "query-index": lambda scale, seed, log: searching.query_index(scale, seed),
    "small-steps": lambda scale, seed, log: optimizers.small_steps(scale, seed),
    "growth": scaling_figures.growth,
    "secrets": scaling_figures.secrets,
    "margins": lambda scale, seed, log: scaling_figures.margin_chart(scale, seed),
}
TABLE = "published"


@dataclass(frozen=True)
class Reproduction:
    """What to reproduce, where to, and how precisely."""

    out: Path
    figures: tuple[str, ...]
    quick: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the names of the figures."""
        check_seed(self.seed)
        known = (*FIGURES, TABLE)
        for name in self.figures:
            if name not in known:
                raise InputError(f"{name!r} is not one of {', '.join(known)}", option="figures")

    @property
    def wanted(self) -> tuple[str, ...]:
        """The figures to make, in the report's order; all of them by default."""
        known = (*FIGURES, TABLE)
        return tuple(name for name in known if not self.figures or name in self.figures)


def reproduce(
    plan: Reproduction, step: Callable[[str, int, int], None] = lambda name, done, total: None
) -> dict[str, Any]:
    """Compute the figures that are missing and write results.json; `step` hears of every figure."""
    scale = QUICK if plan.quick else FULL
    key = _key(plan)
    make_folder(plan.out / "data")
    log = Log(plan.out / "data" / "evaluations.jsonl")
    results: dict[str, Any] = {"quick": plan.quick, "seed": plan.seed, "figures": {}}
    for done, name in enumerate(plan.wanted):
        step(name, done, len(plan.wanted))
        data = _saved(plan.out / "data" / f"{name}.json", key)
        if data is None:
            data = _compute(name, scale, plan.seed, log)
            saved = json.dumps({"key": key, "data": data}, indent=1, allow_nan=False)
            write_whole(plan.out / "data" / f"{name}.json", saved + "\n")
        if name == TABLE:
            results[TABLE] = data
        else:
            results["figures"][name] = data
            _draw(plan.out, Chart.from_json(data))
    write_whole(plan.out / "results.json", json.dumps(results, indent=1, allow_nan=False) + "\n")
    return results


def pending(plan: Reproduction) -> tuple[str, ...]:
    """Return the figures that a run of the plan would have to compute."""
    key = _key(plan)
    return tuple(name for name in plan.wanted if _saved(plan.out / "data" / f"{name}.json", key) is None)


def _key(plan: Reproduction) -> dict[str, Any]:
    return {"scale": asdict(QUICK if plan.quick else FULL), "seed": plan.seed}


def _compute(name: str, scale: Scale, seed: int, log: Log) -> Any:
    if name == TABLE:
        computed: Any = published_table(scale, seed, log)
    else:
        computed = FIGURES[name](scale, seed, log).to_json()
    # Through JSON and back, so that fresh data and saved data are the same down to tuples and lists.
    return json.loads(json.dumps(computed))


def _saved(path: Path, key: dict[str, Any]) -> Any:
    """Return a figure's data if it was computed for the same key."""
    try:
        saved = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    if not isinstance(saved, dict) or saved.get("key") != key:
        return None
    return saved.get("data")


def _draw(folder: Path, chart: Chart) -> None:
    figure = draw_chart(chart)
    for suffix in ("png", "svg"):
        write_whole(folder / f"{chart.name}.{suffix}", render(figure, suffix))


def figure_names(names: Sequence[str]) -> tuple[str, ...]:
    """Accept names separated by spaces or commas."""
    return tuple(part for name in names for part in name.split(",") if part)
