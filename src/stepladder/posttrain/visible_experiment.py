"""Visible parity: what outcome rewards cannot see.

With the inputs in the prompt, picks may depend on them. Any picks whose sum happens to be the secret's are
rewarded, so a model that reads the inputs can be right on all of them without ever following the secret: a
shortcut, which shows only where the picks are compared with the secret's. The arms, at equal budgets:

    no_curriculum        the whole chain is judged
    no_curriculum, KL    the same, held to the base model by beta times the KL divergence
    depth_increasing     every prefix is judged, which leaves a shortcut less room
    hint_decreasing      the last picks are learned behind the right first ones
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepladder.curriculum.stages import METHODS
from stepladder.posttrain.chain_run import ChainRun, Point
from stepladder.posttrain.parity_experiment import D, base_folder, ends, secret_name, trained
from stepladder.posttrain.run_log import Report, RunLog

SECRETS = ((0, 1),)
LEARNING_RATE = 3e-4
BETA = 0.1
BEYOND_LUCK = 0.1
"""Six standard errors of an accuracy over 1024 inputs."""
ARMS = (("no_curriculum", BETA), *((method, 0.0) for method in METHODS))


@dataclass(frozen=True)
class Plan:
    """What to run."""

    secrets: tuple[tuple[int, ...], ...] = SECRETS
    seeds: int = 5
    budget: int = 25_600

    def runs(self) -> Iterator[ChainRun]:
        """Yield the runs, secret by secret."""
        for secret in self.secrets:
            for seed in range(self.seeds):
                for method, beta in ARMS:
                    yield ChainRun(method, D, secret, LEARNING_RATE, seed, self.budget, "visible", beta)


def experiment(plan: Plan, out: Path, jobs: int, report: Report) -> dict[str, Any]:
    """Run everything that is not finished yet, and return the summary."""
    work = functools.partial(trained, base=str(base_folder(out, "visible", report)))
    runs = list(plan.runs())
    log = RunLog(out / "runs.jsonl")
    log.finish(runs, work, jobs, report)
    return summary(plan, log)


def summary(plan: Plan, log: RunLog) -> dict[str, Any]:
    """Return where every arm ended, and how often by a shortcut."""
    runs = {run: [Point(**point) for point in log[run]] for run in plan.runs()}
    cells = []
    for secret in plan.secrets:
        for arm in ARMS:
            asked = (secret, *arm)
            own = [points for run, points in runs.items() if (run.secret, run.method, run.beta) == asked]
            named = {"secret": secret_name(secret), "arm": arm_name(*arm)}
            cells.append({**named, **ends(own), "shortcuts": shortcuts(own)})
    return {
        "d": D,
        "budget": plan.budget,
        "learning_rate": LEARNING_RATE,
        "beta": BETA,
        "cells": cells,
        "curves": [
            {
                "secret": secret_name(run.secret),
                "method": run.method,
                "arm": arm_name(run.method, run.beta),
                "seed": run.seed,
                "points": log[run],
            }
            for run in runs
        ],
    }


def arm_name(method: str, beta: float) -> str:
    """Name an arm.

    >>> arm_name("no_curriculum", 0.1)
    'no_curriculum, KL'
    """
    return f"{method}, KL" if beta else method


def shortcuts(runs: list[list[Point]]) -> int:
    """Count the runs that end right more often than the secret's picks, and luck on other ones, can explain.

    Picks that do not look at the inputs are right with probability 1/2 off the path, so e + (1 - e) / 2 in all.
    """
    return sum(points[-1].accuracy - (1 + points[-1].exact_path) / 2 > BEYOND_LUCK for points in runs)
