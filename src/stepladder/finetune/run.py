"""Finetuning from start to finish: train a number of trials and evaluate them.

Trial t has the seed base + t and can be run again by itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from stepladder.curriculum import MethodName, Scoring, Stage, stages_of
from stepladder.errors import check_between, check_seed
from stepladder.finetune.engines import EngineName, make_engine
from stepladder.finetune.evaluate import check_tests, evaluate
from stepladder.finetune.setup import Setup
from stepladder.finetune.train import Recipe, train

PAPER_TESTS = 8192
"""n_test, the fresh inputs behind each accuracy in the paper."""


def default_rate(method: MethodName) -> float:
    """Return the paper's learning rate of its larger settings (d = 16 and 32)."""
    return 2e12 if method == "no_curriculum" else 1e10


@dataclass(frozen=True)
class Finetuning:
    """Results of all trials."""

    method: MethodName
    stages: tuple[Stage, ...]
    accuracy: npt.NDArray[np.float64]
    greedy: npt.NDArray[np.float64]
    index_accuracy: npt.NDArray[np.float64]
    """Shape (trials, k+1)."""
    attention: npt.NDArray[np.float64]
    """Mean next-pick law over trials after each stage, base model first, shape (stages+1, d+1, d+1)."""
    updates: npt.NDArray[np.int64]
    """Updates each trial took."""
    done: npt.NDArray[np.bool_]
    """Whether each trial finished its last stage."""
    histories: list[list[tuple[int, float]]]
    """(updates, accuracy) of every trial, small steps only."""
    seconds: float


def finetune(
    setup: Setup,
    method: MethodName,
    recipe: Recipe,
    *,
    engine: EngineName = "counts",
    scoring: Scoring = "step",
    trials: int = 10,
    tests: int = PAPER_TESTS,
    seed: int = 0,
    progress: Callable[[float], None] = lambda done: None,
) -> Finetuning:
    """Train `trials` models and evaluate them.

    >>> from stepladder.trees import Parity, Target
    >>> setup = Setup(Target(Parity(d=8), (0, 1, 2)))
    >>> result = finetune(setup, "depth_increasing", Recipe(samples=2000))
    >>> bool(result.accuracy.mean() > 0.99)
    True
    """
    check_between("trials", trials, 1, 10**6)
    check_seed(seed)
    check_tests(setup, tests)
    started = time.perf_counter()
    stages = stages_of(method, setup.target.k, scoring)
    accuracy, greedy, index, updates, done = [], [], [], [], []
    histories = []
    attention = np.zeros((len(stages) + 1, setup.size, setup.size))
    for trial in range(trials):
        own_seed = seed + trial
        learner = make_engine(engine, setup, [own_seed])
        result = train(learner, stages, recipe, trials=1, progress=_share_of_trial(progress, trial, trials))
        measured = evaluate(setup, result.weights, tests, own_seed)
        accuracy.append(measured.accuracy[0])
        greedy.append(measured.greedy[0])
        index.append(measured.index[0])
        updates.append(result.steps[0])
        done.append(result.done[0])
        histories.append([(step, float(values[0])) for step, values in result.history])
        base = torch.zeros(1, setup.size, setup.size, dtype=torch.float64)
        attention += attention_maps(setup, [base, *result.after_stage]) / trials
    return Finetuning(
        method=method,
        stages=stages,
        accuracy=np.asarray(accuracy),
        greedy=np.asarray(greedy),
        index_accuracy=np.asarray(index),
        attention=attention,
        updates=np.asarray(updates),
        done=np.asarray(done),
        histories=histories,
        seconds=time.perf_counter() - started,
    )


def _share_of_trial(progress: Callable[[float], None], trial: int, trials: int) -> Callable[[float], None]:
    """Turn one trial's progress into that of all of them."""
    return lambda share: progress((trial + share) / trials)


def attention_maps(setup: Setup, weights: list[Tensor]) -> npt.NDArray[np.float64]:
    """Return one map per tensor of weights, rows by query: which position is picked after which.

    Where earlier picks rule others out, the map shows the law after that pick alone.
    """
    return np.stack([setup.law(one).mean(axis=0) for one in weights])
