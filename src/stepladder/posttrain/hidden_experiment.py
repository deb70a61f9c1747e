"""The theorem on a real transformer: hidden parity with three methods at equal budgets, on several secrets.

    1. The base model is profiled exactly, and the diagnosis is written down before anything is trained.
    2. Each method's learning rate is the best of RATES by its mean accuracy over all evaluations, on seeds that
       are not reported.
    3. Every (secret, method, seed) is trained with the same budget of rollouts, and none stops early.

Finished runs are appended to runs.jsonl, so an interrupted experiment goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM, PreTrainedModel
from transformers.utils import logging

from stepladder.curriculum.stages import METHODS, MethodName
from stepladder.files import write_whole
from stepladder.posttrain.hidden_run import HiddenRun, Point, base_model, path_rates, train
from stepladder.tasks.chain import Chain
from stepladder.theory.pays import pays

RATES = (1e-4, 3e-4, 1e-3)
D = 10
SECRETS = ((0, 1, 2, 3), (1, 4, 6, 8), (0, 2, 5, 7), (0, 1, 2), (0, 1))
SEEDS = 5
CHOOSING_SEED = 1000
"""Seeds from here on choose learning rates, and are not reported."""

TRIALS = 10**15
"""The base model's rates are exact; `pays` takes counts, so many that their noise does not matter."""

Report = Callable[[float, str], None]


@dataclass(frozen=True)
class Plan:
    """What to run."""

    secrets: tuple[tuple[int, ...], ...] = SECRETS
    seeds: int = SEEDS
    budget: int = 51_200
    rates: tuple[float, ...] = RATES

    def choosing(self) -> Iterator[HiddenRun]:
        """Yield the runs that choose learning rates, on the first secret."""
        for method in METHODS:
            for rate in self.rates:
                yield HiddenRun(method, D, self.secrets[0], rate, CHOOSING_SEED, self.budget)

    def reported(self, chosen: dict[MethodName, float]) -> Iterator[HiddenRun]:
        """Yield the runs that are reported; seed by seed, so that an early look is a fair one."""
        for seed in range(self.seeds):
            for secret in self.secrets:
                for method in METHODS:
                    yield HiddenRun(method, D, secret, chosen[method], seed, self.budget)


def experiment(plan: Plan, out: Path, report: Report) -> dict[str, Any]:
    """Run everything that is not finished yet, and return the summary."""
    torch.set_num_threads(1)
    base = _base(out, report)
    diagnoses = {_name(secret): diagnosis(base, secret) for secret in plan.secrets}
    if not (out / "diagnoses.json").exists():
        write_whole(out / "diagnoses.json", json.dumps(diagnoses, indent=1) + "\n")
    done = _Log(out / "runs.jsonl")
    choosing = list(plan.choosing())
    total = len(choosing) + len(METHODS) * len(plan.secrets) * plan.seeds
    for number, run in enumerate(choosing):
        done.run(run, base, _told(report, number, total, run))
    chosen = _best_rates(choosing, done)
    for number, run in enumerate(plan.reported(chosen), start=len(choosing)):
        done.run(run, base, _told(report, number, total, run))
    return summary(plan, chosen, diagnoses, done)


def _base(out: Path, report: Report) -> PreTrainedModel:
    logging.disable_progress_bar()
    folder = out / "base"
    if not folder.exists():
        report(0.0, "teaching the base model")
        made = base_model(D)
        made.save_pretrained(folder)
    return AutoModelForCausalLM.from_pretrained(folder)


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


class _Log:
    """Finished runs on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, list[Point]] = {}
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        whole = [line for line in lines if line.endswith("\n")]
        if len(whole) < len(lines):  # the last one was cut short
            write_whole(path, "".join(whole))
        for line in whole:
            entry = json.loads(line)
            self.known[json.dumps(entry["run"])] = [Point(**point) for point in entry["points"]]

    def run(self, run: HiddenRun, base: PreTrainedModel, progress: Callable[[float], None]) -> None:
        """Train, unless it has been done."""
        if _key(run) in self.known:
            return
        points = train(run, base, progress)
        self.known[_key(run)] = points
        entry = {"run": json.loads(_key(run)), "points": [asdict(point) for point in points]}
        with self.path.open("a") as file:
            file.write(json.dumps(entry) + "\n")

    def __getitem__(self, run: HiddenRun) -> list[Point]:
        return self.known[_key(run)]


def _key(run: HiddenRun) -> str:
    return json.dumps(asdict(run))


def _told(report: Report, number: int, total: int, run: HiddenRun) -> Callable[[float], None]:
    what = f"run {number + 1} of {total}: {run.method}, secret {_name(run.secret)}, seed {run.seed}"
    return lambda done: report((number + done) / total, what)


def _best_rates(choosing: list[HiddenRun], done: _Log) -> dict[MethodName, float]:
    scores: dict[MethodName, dict[float, float]] = {}
    for run in choosing:
        mean = float(np.mean([point.accuracy for point in done[run]]))
        scores.setdefault(run.method, {})[run.learning_rate] = mean
    return {method: max(found, key=lambda rate: found[rate]) for method, found in scores.items()}


def _name(secret: tuple[int, ...]) -> str:
    return ",".join(map(str, secret))


def rollouts_to(points: list[Point], target: float) -> int | None:
    """Return the rollouts at the first evaluation from which on the accuracy stays at or above the target."""
    below = [place for place, point in enumerate(points) if point.accuracy < target]
    first = below[-1] + 1 if below else 0
    return points[first].rollouts if first < len(points) else None


def summary(
    plan: Plan, chosen: dict[MethodName, float], diagnoses: dict[str, Any], done: _Log
) -> dict[str, Any]:
    """Return what the tables show: every run's end and when it got there, by secret and method."""
    runs = list(plan.reported(chosen))
    cells = []
    for secret in plan.secrets:
        for method in METHODS:
            own = [done[run] for run in runs if (run.secret, run.method) == (secret, method)]
            cells.append(
                {
                    "secret": _name(secret),
                    "method": method,
                    "accuracy": [points[-1].accuracy for points in own],
                    "exact_path": [points[-1].exact_path for points in own],
                    "rollouts_to_0.9": [rollouts_to(points, 0.9) for points in own],
                    "rollouts_to_0.99": [rollouts_to(points, 0.99) for points in own],
                }
            )
    return {
        "d": D,
        "budget": plan.budget,
        "learning_rates": chosen,
        "diagnoses": diagnoses,
        "cells": cells,
        "curves": [
            {
                "secret": _name(run.secret),
                "method": run.method,
                "seed": run.seed,
                "points": [asdict(point) for point in done[run]],
            }
            for run in runs
        ],
    }
