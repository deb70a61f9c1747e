"""Countdown with the tiny model: three methods with the target at the hardest level, at equal token budgets.

    no_curriculum      problems of the target level only
    depth_increasing   all levels up to the target, the easy ones first (e2h_window)
    hint_decreasing    problems of the target level, with fewer and fewer of the teacher's steps (uft_staged)

1. The base model is profiled, and the diagnosis is written down before anything is trained.
2. Every (method, seed) is trained for as many steps as its token budget allows by the teacher's texts; a step
   of easy problems has fewer tokens, so there are more of them. Tokens are those of prompts and completions,
   hints included; what was used is reported.
3. Every model answers the same held-out problems, none of which is among the training problems.

Finished runs are appended to runs.jsonl, so an interrupted experiment goes on where it was.
"""

from __future__ import annotations

import functools
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers.utils import logging

from stepladder.curriculum.levels import LevelScheduleName, level_schedule
from stepladder.curriculum.stages import METHODS, MethodName
from stepladder.errors import InputError
from stepladder.evaluate.diagnose import diagnose
from stepladder.evaluate.model import completer
from stepladder.evaluate.passk import PAPER_K, Floats, crossed_interval, in_words, pass_matrix
from stepladder.evaluate.profile import profile
from stepladder.evaluate.sampler import Decoding, Request, SampleLog, Sampler
from stepladder.evaluate.table import Evaluated
from stepladder.files import read_json, write_whole
from stepladder.posttrain.config import RunConfig
from stepladder.posttrain.data import held_out
from stepladder.posttrain.run import Run
from stepladder.posttrain.run_log import Outcome, Report, RunLog
from stepladder.report.training_page import write_report
from stepladder.tasks.countdown import Countdown
from stepladder.tasks.generate import generate_many
from stepladder.tasks.rows import read_problems

LARGEST = 9
"""Numbers from 1 to 9, which the tiny model can read."""

PROMPTS, GENERATIONS = 8, 16
DECODING = Decoding(temperature=1.0, top_p=1.0, top_k=0, max_tokens=80)
"""The same for profile, training and evaluation."""

BASE = "base model"
_SCHEDULE: LevelScheduleName = "e2h_window"


@dataclass(frozen=True)
class Study:
    """What to run."""

    target: int = 1
    seeds: int = 5
    tokens: int = 600_000
    """Token budget of a run."""
    per_level: int = 200
    """Held-out problems of each level."""
    samples: int = 8
    """Completions of each problem."""
    learning_rate: float = 1e-4
    model: str = "tiny"
    trained_per_level: int = 512
    profile_limit: int = 4096
    """Most samples for one rate of the profile."""

    @property
    def levels(self) -> tuple[int, ...]:
        """Levels up to the target."""
        return tuple(range(self.target + 1))

    def runs(self, tokens: dict[int, float]) -> Iterator[Trained]:
        """Yield the runs, seed by seed; `tokens` is what a rollout of each level takes."""
        for seed in range(self.seeds):
            for method in METHODS:
                yield Trained(method, seed, self.learning_rate, self.steps(method, tokens), self.target)

    def steps(self, method: MethodName, tokens: dict[int, float]) -> int:
        """Return the updates that use the budget: each level's tokens by its share in the schedule."""
        rollouts = self.tokens / (PROMPTS * GENERATIONS)
        if method != "depth_increasing":
            return round(rollouts / tokens[self.target])
        schedule = level_schedule(_SCHEDULE)
        shares = np.mean([schedule(t, len(self.levels)) for t in (np.arange(1000) + 0.5) / 1000], axis=0)
        return round(rollouts / float(shares @ [tokens[level] for level in self.levels]))


@dataclass(frozen=True)
class Trained:
    """Everything a run depends on, beside the problems."""

    method: MethodName | str
    seed: int
    learning_rate: float
    steps: int
    target: int

    @property
    def name(self) -> str:
        """What the run is called; its samples depend on it, and not on where it is kept."""
        return f"{self.method}-{self.seed}"

    def config(self, source: Path, model: str) -> RunConfig:
        """Return the config that `stepladder train` would take."""
        levels = range(self.target + 1) if self.method == "depth_increasing" else [self.target]
        order = {
            "no_curriculum": {"levels": "e2h_balanced"},
            "depth_increasing": {"levels": _SCHEDULE},
            "hint_decreasing": {"levels": "e2h_balanced", "hints": "uft_staged"},
        }[self.method]
        return RunConfig.model_validate(
            {
                "data": {
                    "task": "countdown",
                    "levels": list(levels),
                    "source": str(source),
                    "largest": LARGEST,
                },
                "model": model,
                "lora": None,
                "curriculum": order,
                "grpo": {
                    "max_steps": self.steps,
                    "learning_rate": self.learning_rate,
                    "lr_scheduler_type": "constant",
                    "per_device_train_batch_size": PROMPTS * GENERATIONS,
                    "num_generations": GENERATIONS,
                    "max_completion_length": DECODING.max_tokens,
                    "beta": 0.0,
                    "gradient_checkpointing": False,
                    "use_cpu": True,
                    "bf16": False,
                    "save_strategy": "no",
                },
                "seed": self.seed,
            }
        )


def experiment(study: Study, out: Path, jobs: int, report: Report) -> dict[str, Any]:
    """Run everything that is not finished yet, and return the summary."""
    task = Countdown(LARGEST)
    report(0.0, "making problems")
    make_problems(task, study, out)
    report(0.0, "profiling the base model")
    predicted = _written_down(task, study, out)
    runs = [Trained(BASE, 0, 0.0, 0, study.target), *study.runs(rollout_tokens(task, study.model, out))]
    log = RunLog(out / "runs.jsonl")
    work = functools.partial(trained, base=study.model, samples=study.samples, out=out)
    log.finish(runs, work, jobs, report)
    return summary(study, predicted, {run: log[run] for run in runs})


def make_problems(task: Countdown, study: Study, out: Path) -> None:
    """Write train.jsonl and test.jsonl, which have no problem in common."""
    if (out / "test.jsonl").exists():
        return
    train = [
        problem for level in study.levels for problem in generate_many(task, level, study.trained_per_level, 0)
    ]
    seen = {task.identity(problem) for problem in train}
    test = [problem for level in study.levels for problem in held_out(task, level, study.per_level, 0, seen)]
    if seen & {task.identity(problem) for problem in test}:
        raise InputError("has too few problems for a test set of its own", option="per_level")
    for name, problems in (("train", train), ("test", test)):
        rows = "".join(json.dumps(problem.row()) + "\n" for problem in problems)
        write_whole(out / f"{name}.jsonl", rows)


def rollout_tokens(task: Countdown, model: str, out: Path) -> dict[int, float]:
    """Return the mean tokens of a rollout by level, as the teacher would write it."""
    tokenizer = completer(model, task).tokenizer
    found: dict[int, list[int]] = {}
    for problem in read_problems(task, out / "train.jsonl"):
        text = task.prompt(problem).text(tokenizer) + task.teacher_completion(problem)
        found.setdefault(problem.level or 0, []).append(len(tokenizer(text)["input_ids"]) + 1)
    return {level: float(np.mean(lengths)) for level, lengths in found.items()}


def _written_down(task: Countdown, study: Study, out: Path) -> dict[str, Any]:
    """Profile the base model and return its diagnosis; one on disk is never changed."""
    path = out / "diagnosis.json"
    if not path.exists():
        sampler = _sampler(task, study.model, out / "profile-samples.jsonl", study.model)
        found = profile(sampler, study.model, study.target, study.profile_limit)
        text = {**diagnose(found).to_json(), "profile": found.to_json()}
        write_whole(path, json.dumps(text, indent=1) + "\n")
    known: dict[str, Any] = read_json(path, "")
    return known


def _sampler(task: Countdown, model: str, log: Path | None, identity: str) -> Sampler:
    return Sampler(task, completer(model, task), DECODING, SampleLog(log), batch=256, identity=identity)


def trained(run: Trained, base: str, samples: int, out: Path) -> Outcome:
    """Train in a process of its own, and answer the held-out problems."""
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    if run.method == BASE:
        return answers(run, base, samples, out)
    folder = out / "runs" / run.name
    shutil.rmtree(folder, ignore_errors=True)  # left by a run that was cut short
    results = Run(run.config(out / "train.jsonl", base), folder).train()
    write_report(folder)
    seconds = json.loads((folder / "run.json").read_text())["seconds"]
    costs = {"tokens": results["tokens"], "rollouts": results["rollouts"], "seconds": seconds}
    return {**costs, **answers(run, str(folder), samples, out)}


def answers(run: Trained, model: str, samples: int, out: Path) -> dict[str, Any]:
    """Let a model answer the held-out problems, and count what is right."""
    task = Countdown(LARGEST)
    problems = read_problems(task, out / "test.jsonl")
    requests = [Request(problem, 0, copy) for problem in problems for copy in range(samples)]
    drawn = _sampler(task, model, None, run.name).draw(requests)
    found = Evaluated.of(task.name, run.method, drawn)
    correct = [own for own, _ in found.counts]
    return {"levels": list(found.levels), "correct": correct, "samples": samples}


# ---- what came out


def summary(study: Study, predicted: dict[str, Any], outcomes: dict[Trained, Outcome]) -> dict[str, Any]:
    """Return pass@K of every method by level, over seeds, and what the differences allow to say."""
    methods = [BASE, *METHODS]
    by_seed = {method: [out for run, out in outcomes.items() if run.method == method] for method in methods}
    ks = [k for k in PAPER_K if k <= study.samples]
    cells = [
        {"method": method, "level": level, "pass_at_k": [_row(by_seed[method], level, k) for k in ks]}
        for level in study.levels
        for method in methods
    ]
    return {
        "target": study.target,
        "token_budget": study.tokens,
        "learning_rate": study.learning_rate,
        "held_out_per_level": study.per_level,
        "k": ks,
        "diagnosis": {name: predicted[name] for name in ("verdict", "method", "reasons", "predictions")},
        "costs": {
            method: {name: [out[name] for out in by_seed[method]] for name in ("tokens", "rollouts", "seconds")}
            for method in METHODS
        },
        "cells": cells,
        "comparisons": _comparisons(study, by_seed, ks),
    }


def _row(outcomes: list[Outcome], level: int, k: int) -> dict[str, Any]:
    values = _problems(outcomes, level, k)
    found = crossed_interval(values)
    bounds = {"value": found.value, "low": max(0.0, found.low), "high": min(1.0, found.high)}
    return {"seeds": values.mean(axis=1).tolist(), **bounds}


def _problems(outcomes: list[Outcome], level: int, k: int) -> Floats:
    """Return pass@K of every seed (rows) on every problem of a level (columns)."""
    found = []
    for outcome in outcomes:
        correct = [own for own, at in zip(outcome["correct"], outcome["levels"], strict=True) if at == level]
        found.append(pass_matrix([(own, outcome["samples"]) for own in correct], [k])[:, 0])
    return np.array(found)


def _comparisons(study: Study, by_seed: dict[str, list[Outcome]], ks: list[int]) -> list[str]:
    """Compare at the target level, problem by problem: methods with the base model, curricula with none."""
    said = []
    pairs = [(method, BASE) for method in METHODS] + [(method, METHODS[0]) for method in METHODS[1:]]
    for k in dict.fromkeys((ks[0], ks[-1])):
        for first, second in pairs:
            gaps = _problems(by_seed[first], study.target, k) - _problems(by_seed[second], study.target, k)
            words = in_words(first, second, crossed_interval(gaps))
            said.append(f"pass@{k} at level {study.target}: {words}.")
    return said
