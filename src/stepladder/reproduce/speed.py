"""What exact counting saves: the rollouts a figure stands for, against real ones on the same machine."""

from __future__ import annotations

import time

import torch

from stepladder.curriculum import METHODS, no_curriculum, stages_of
from stepladder.finetune.engines import RolloutEngine
from stepladder.finetune.setup import Setup
from stepladder.reproduce.finetuning import PAPER_TRIALS, sizes_of
from stepladder.reproduce.scale import SETTINGS, Scale
from stepladder.trees import Parity, Target


def rollouts_of_accuracy(scale: Scale) -> int:
    """Count the rollouts that the accuracy figure stands for."""
    total = 0
    for setting in SETTINGS:
        for method in METHODS:
            stages = len(stages_of(method, setting.k))
            total += stages * sum(sizes_of(setting.d, method)) * (scale.trials + PAPER_TRIALS)
    return total


def rollouts_per_second(count: int = 400_000) -> float:
    """Measure real rollouts with their gradients at d = 8 on this machine."""
    setup = Setup(Target(Parity(8), (0, 1, 2)))
    engine = RolloutEngine(setup, [0])
    base = torch.zeros(1, setup.size, setup.size, dtype=torch.float64)
    started = time.perf_counter()
    engine.gradient(base, no_curriculum(3)[0], count, [0])
    return count / (time.perf_counter() - started)
