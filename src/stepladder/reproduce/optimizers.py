"""The small-learning-rate study: four optimisers, with and without a curriculum."""

from __future__ import annotations

import numpy as np

from stepladder.curriculum import METHODS, stages_of
from stepladder.finetune.engines import CountsEngine
from stepladder.finetune.setup import Setup
from stepladder.finetune.train import OptimizerName, Recipe, train
from stepladder.report.chart import Chart, Panel, Series
from stepladder.report.style import LABELS
from stepladder.reproduce.scale import SETTINGS, Scale
from stepladder.trees import Parity, Target

OPTIMIZERS: tuple[tuple[OptimizerName, str], ...] = (
    ("sgd", "SGD, momentum 0.9"),
    ("adam", "Adam"),
    ("adamw", "AdamW"),
    ("muon", "Muon"),
)


def small_steps(scale: Scale, seed: int) -> Chart:
    """Accuracy against updates at learning rate 0.5 and batch 256."""
    setting = SETTINGS[0]
    setup = Setup(Target(Parity(setting.d), setting.secret))
    panels = []
    for optimizer, name in OPTIMIZERS:
        series = []
        for method in METHODS:
            recipe = Recipe(
                optimizer=optimizer,
                learning_rates=(0.5,),
                samples=256,
                max_steps=scale.optimizer_steps,
            )
            seeds = [seed + trial for trial in range(scale.optimizer_seeds)]
            stages = stages_of(method, setting.k, "all")
            result = train(CountsEngine(setup, seeds), stages, recipe, scale.optimizer_seeds)
            steps = [float(step) for step, _ in result.history]
            values = np.stack([accuracy for _, accuracy in result.history])
            means = values.mean(axis=1)
            errors = values.std(axis=1, ddof=1) / np.sqrt(scale.optimizer_seeds)
            done = int(result.done.sum())
            series.append(
                Series(
                    f"{LABELS[method]} ({done}/{scale.optimizer_seeds} reached .99)",
                    steps,
                    means.tolist(),
                    (means - errors).tolist(),
                    (means + errors).tolist(),
                    method,
                )
            )
        panels.append(Panel(name, "updates", "accuracy", series=series))
    return Chart(
        "small-steps",
        "Small learning rates, four optimisers",
        f"Learning rate 0.5, batch 256, up to {scale.optimizer_steps} updates, {scale.optimizer_seeds} seeds, "
        "mean and standard error; a stage ends at validation accuracy above .99 and a trial stops when its "
        "last stage does. All free steps are scored. With a curriculum every optimiser gets there; without "
        "one SGD and Muon sometimes do, Adam and AdamW hardly.",
        "Fig. small_lr",
        panels,
    )
