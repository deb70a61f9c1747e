"""The theorem on a real transformer: hidden parity with three methods at equal budgets, on several secrets.

    1. The base model is profiled exactly, and the diagnosis is written down before anything is trained.
    2. Each method's learning rate is the best of RATES by its mean accuracy over the second half of the budget,
       on seeds that are not reported.
    3. Every (secret, method, seed) is trained with the same budget of rollouts, and none stops early.

Finished runs are appended to runs.jsonl, so an interrupted experiment goes on where it was.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM, PreTrainedModel
from transformers.utils import logging

from stepladder.curriculum.stages import METHODS, MethodName
from stepladder.evaluate.passk import BOOTSTRAPS
from stepladder.files import read_json, whole_folder, write_whole
from stepladder.posttrain.chain_run import ChainRun, Point, base_model, path_rates, train
from stepladder.posttrain.run_log import Outcome, Report, RunLog
from stepladder.tasks.chain import Chain, Form
from stepladder.theory.pays import pays

RATES = (1e-4, 3e-4, 1e-3)
D = 10
SECRETS = ((0, 1, 2, 3), (1, 4, 6, 8), (0, 2, 5, 7), (0, 1, 2), (0, 1))
SEEDS = 5
CHOOSING_SEEDS = (1000, 1001)
"""They choose learning rates, and are not reported."""

TRIALS = 10**15
"""The base model's rates are exact; `pays` takes counts, so many that their noise does not matter."""


@dataclass(frozen=True)
class Plan:
    """What to run."""

    secrets: tuple[tuple[int, ...], ...] = SECRETS
    seeds: int = SEEDS
    budget: int = 51_200
    rates: tuple[float, ...] = RATES

    def choosing(self) -> Iterator[ChainRun]:
        """Yield the runs that choose learning rates, on the first secret."""
        for method in METHODS:
            for rate in self.rates:
                for seed in CHOOSING_SEEDS:
                    yield ChainRun(method, D, self.secrets[0], rate, seed, self.budget)

    def reported(self, chosen: dict[MethodName, float]) -> Iterator[ChainRun]:
        """Yield the runs that are reported; seed by seed, so that an early look is a fair one."""
        for seed in range(self.seeds):
            for secret in self.secrets:
                for method in METHODS:
                    yield ChainRun(method, D, secret, chosen[method], seed, self.budget)


def experiment(plan: Plan, out: Path, jobs: int, report: Report) -> dict[str, Any]:
    """Run everything that is not finished yet, and return the summary."""
    base = base_folder(out, "hidden", report)
    diagnoses = _written_down(plan, AutoModelForCausalLM.from_pretrained(base), out / "diagnoses.json")
    log = RunLog(out / "runs.jsonl")
    choosing = list(plan.choosing())
    work = functools.partial(trained, base=str(base))
    log.finish(choosing, work, jobs, report, after=len(METHODS) * len(plan.secrets) * plan.seeds)
    chosen = _best_rates(choosing, log)
    log.finish(list(plan.reported(chosen)), work, jobs, report, before=len(choosing))
    return summary(plan, chosen, diagnoses, log)


def trained(run: ChainRun, base: str) -> Outcome:
    """Train in a process of its own."""
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    return [asdict(point) for point in train(run, AutoModelForCausalLM.from_pretrained(base))]


def base_folder(out: Path, form: Form, report: Report) -> Path:
    """Return the folder of the base model, teaching it first if there is none."""
    logging.disable_progress_bar()
    folder = out / f"base-{form}"
    if not folder.exists():
        report(0.0, "teaching the base model")
        with whole_folder(folder) as unfinished:
            base_model(D, form).save_pretrained(unfinished)
    return folder


def _written_down(plan: Plan, base: PreTrainedModel, path: Path) -> dict[str, Any]:
    """Return the diagnoses; those on disk are never changed, since their runs may have been trained."""
    known: dict[str, Any] = read_json(path, "") if path.exists() else {}
    new = {
        secret_name(secret): diagnosis(base, secret)
        for secret in plan.secrets
        if secret_name(secret) not in known
    }
    if new:
        write_whole(path, json.dumps({**known, **new}, indent=1) + "\n")
    return {secret_name(secret): {**known, **new}[secret_name(secret)] for secret in plan.secrets}


def diagnosis(base: PreTrainedModel, secret: tuple[int, ...]) -> dict[str, Any]:
    """Predict both curricula from the exact rates of the base model.

    The rates are of exact paths; the reward also accepts half of the wrong ones, which `pays` is told.
    """
    task = Chain("parity", D, secret, form="hidden")
    rates = path_rates(base, task)
    by_hint = [_accepted(rate) for rate in rates["hints"]]
    by_level = [_accepted(rate) for rate in rates["levels"]]
    found = {
        "hint_decreasing": pays(hints=by_hint, spurious=0.5),
        "depth_increasing": pays(levels=by_level, spurious=0.5),
    }
    return {
        "path_rate": rates["hints"][0],
        **{
            method: {
                "verdict": one.verdict,
                "saving": asdict(one.ratio),
                "direct": one.direct.value,
                "curriculum": one.curriculum.value,
            }
            for method, one in found.items()
        },
    }


def _accepted(rate: float) -> tuple[int, int]:
    return round(TRIALS * (rate + (1 - rate) / 2)), TRIALS


def _best_rates(choosing: list[ChainRun], log: RunLog) -> dict[MethodName, float]:
    scores: dict[MethodName, dict[float, float]] = {}
    for run in choosing:
        late = [point["accuracy"] for point in log[run] if point["rollouts"] > run.budget / 2]
        own = scores.setdefault(run.method, {})
        own[run.learning_rate] = own.get(run.learning_rate, 0.0) + float(np.mean(late))
    return {method: max(found, key=lambda rate: found[rate]) for method, found in scores.items()}


def secret_name(secret: tuple[int, ...]) -> str:
    """Name a secret by its picks."""
    return ",".join(map(str, secret))


def rollouts_to(points: list[Point], target: float) -> int | None:
    """Return the rollouts at the first evaluation from which on the accuracy stays at or above the target."""
    below = [place for place, point in enumerate(points) if point.accuracy < target]
    first = below[-1] + 1 if below else 0
    return points[first].rollouts if first < len(points) else None


def summary(
    plan: Plan, chosen: dict[MethodName, float], diagnoses: dict[str, Any], log: RunLog
) -> dict[str, Any]:
    """Return what the tables show: every run's end and when it got there, by secret and method."""
    runs = {run: [Point(**point) for point in log[run]] for run in plan.reported(chosen)}
    cells = []
    for secret in plan.secrets:
        for method in METHODS:
            own = [points for run, points in runs.items() if (run.secret, run.method) == (secret, method)]
            cells.append({"secret": secret_name(secret), "method": method, **ends(own)})
    return {
        "d": D,
        "budget": plan.budget,
        "learning_rates": chosen,
        "diagnoses": diagnoses,
        "cells": cells,
        "savings": _savings(plan, diagnoses, cells),
        "curves": [
            {"secret": secret_name(run.secret), "method": run.method, "seed": run.seed, "points": log[run]}
            for run in runs
        ],
    }


def ends(runs: list[list[Point]]) -> dict[str, list[Any]]:
    """Return where runs ended and when they got there."""
    return {
        "accuracy": [points[-1].accuracy for points in runs],
        "exact_path": [points[-1].exact_path for points in runs],
        "rollouts_to_0.9": [rollouts_to(points, 0.9) for points in runs],
        "rollouts_to_0.99": [rollouts_to(points, 0.99) for points in runs],
    }


def _savings(plan: Plan, diagnoses: dict[str, Any], cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return every curriculum's saving, as predicted before training and as measured."""
    reached = {(cell["secret"], cell["method"]): cell["rollouts_to_0.9"] for cell in cells}
    return [
        {
            "secret": name,
            "method": method,
            "predicted": diagnoses[name][method]["saving"],
            "verdict": diagnoses[name][method]["verdict"],
            "measured": saving(reached[name, METHODS[0]], reached[name, method], plan.budget),
        }
        for name in map(secret_name, plan.secrets)
        for method in METHODS[1:]
    ]


def saving(direct: list[int | None], curriculum: list[int | None], budget: int) -> dict[str, Any] | None:
    """Return the ratio of the median rollouts to a target, with its 95% bootstrap interval over seeds.

    A run that did not get there counts with its whole budget. So the ratio is a bound where half of the runs of
    one side did not: at least for direct training, at most for the curriculum; None where neither did.

    >>> saving([None, None, None], [100, 100, 100], budget=1000)
    {'value': 10.0, 'low': 10.0, 'high': 10.0, 'bound': 'at least'}
    """
    missed = [2 * sum(value is None for value in side) >= len(side) for side in (direct, curriculum)]
    if all(missed):
        return None
    above, below = (
        np.array([budget if value is None else value for value in side]) for side in (direct, curriculum)
    )
    rng = np.random.default_rng(0)
    drawn = [
        np.median(side[rng.integers(len(side), size=(BOOTSTRAPS, len(side)))], axis=1)
        for side in (above, below)
    ]
    low, high = np.quantile(drawn[0] / drawn[1], [0.025, 0.975])
    bound = "at least" if missed[0] else "at most" if missed[1] else ""
    value = float(np.median(above) / np.median(below))
    return {"value": value, "low": float(low), "high": float(high), "bound": bound}
