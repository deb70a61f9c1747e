"""The finetuning figures: accuracy against samples, index selection, attention maps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stepladder.curriculum import METHODS, MethodName
from stepladder.finetune.complexity import FinetuneQuestion
from stepladder.finetune.evaluate import evaluate
from stepladder.finetune.run import Finetuning, finetune
from stepladder.finetune.setup import Setup
from stepladder.finetune.train import Recipe
from stepladder.report.chart import Chart, Heat, Panel, Series
from stepladder.report.style import LABELS
from stepladder.reproduce.scale import SETTINGS, Scale, Setting
from stepladder.trees import Parity, Target

PAPER_TRIALS = 10

SAMPLES: dict[tuple[int, MethodName], tuple[int, int]] = {
    (8, "no_curriculum"): (12, 28),
    (16, "no_curriculum"): (12, 28),
    (32, "no_curriculum"): (16, 34),
}
"""First and last power of two of the samples that a curve shows; curricula: 2^3 .. 2^13."""


def sizes_of(d: int, method: MethodName) -> list[int]:
    """Return the sample sizes that a method's curve shows."""
    first, last = SAMPLES.get((d, method), (3, 13))
    return [2**power for power in range(first, last + 1)]


def _question(setting: Setting, method: MethodName, seed: int) -> FinetuneQuestion:
    rate = setting.rate(method)
    return FinetuneQuestion(method, "parity", setting.d, setting.secret, rate, seed=seed)


def _curve(question: FinetuneQuestion, sizes: Sequence[int], trials: int, style: str) -> Series:
    """Mean accuracy and standard error at every sample size."""
    means, errors = [], []
    for size in sizes:
        values = question.accuracies(size, trials, stream=trials)
        means.append(float(values.mean()))
        errors.append(float(values.std(ddof=1) / np.sqrt(trials)))
    return Series(
        name=f"{LABELS[question.method]}, {trials} trials",
        x=[float(size) for size in sizes],
        y=means,
        low=[mean - error for mean, error in zip(means, errors, strict=True)],
        high=[mean + error for mean, error in zip(means, errors, strict=True)],
        method=question.method,
        style="faint" if style == "faint" else "line",
    )


def accuracy(scale: Scale, seed: int) -> Chart:
    """Accuracy against samples for A, B, C in the three settings."""
    panels = []
    for setting in SETTINGS:
        series = []
        for method in METHODS:
            question, sizes = _question(setting, method, seed), sizes_of(setting.d, method)
            series.append(_curve(question, sizes, scale.trials, "line"))
            series.append(_curve(question, sizes, PAPER_TRIALS, "faint"))
        panels.append(
            Panel(
                setting.name,
                "samples per stage",
                "accuracy on fresh inputs",
                x_log=True,
                series=series,
            )
        )
    return Chart(
        "accuracy",
        "Accuracy against samples",
        f"Mean accuracy and standard error after one large step per stage. Strong lines: {scale.trials} "
        "trials; faint lines: 10 trials, as in the paper. Both curricula reach 99% with hundreds to "
        "thousands of samples per stage, learning without one needs tens of millions to over a billion. A "
        "single trial can be lucky far to the left of these curves, which is what a sweep with one trial per "
        "point reports.",
        "Fig. Parity_Dynamics (a), Fig. Parity_Dynamics_trials (a), Fig. 16_2 (a), Fig. 32_2 (a)",
        panels,
    )


def index_accuracy(scale: Scale, seed: int) -> Chart:
    """How often each pick is right, against samples, at d = 8."""
    setting = SETTINGS[0]
    setup = Setup(Target(Parity(setting.d), setting.secret))
    panels = []
    for method in METHODS:
        question, sizes = _question(setting, method, seed), sizes_of(setting.d, method)
        shares = []
        for size in sizes:
            weights = question.weights(size, scale.trials, stream=3)
            shares.append(evaluate(setup, weights, 0, seed).index.mean(axis=0))
        steps = np.asarray(shares)
        names = [f"pick {step}" for step in range(1, setting.k + 1)] + ["EOS"]
        series = [
            Series(name, [float(size) for size in sizes], steps[:, step].tolist())
            for step, name in enumerate(names)
        ]
        panels.append(
            Panel(LABELS[method], "samples per stage", "P(pick is correct)", x_log=True, series=series)
        )
    return Chart(
        "index",
        "Index selection accuracy",
        "Probability that each pick is the correct one given the picks before, d = 8, k = 3, mean over "
        f"{scale.trials} trials. Under a curriculum all steps are learned at about the same sample size; "
        "without one the first pick, whose reward depends on everything after it, comes last.",
        "Fig. Index Selection (finetuning)",
        panels,
    )


def heat(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], target: Target) -> Heat:
    """Turn a law (rows by query, the root's being the last) into a map with the root on top."""
    d = target.tree.d
    rows = np.concatenate([values[d:], values[:d]])
    cells = list(zip((0, *(pick + 1 for pick in target.picks)), target.path, strict=True))
    return Heat(
        values=np.round(rows, 6).tolist(),
        path=cells,
        rows=["root", *map(str, range(d))],
        columns=[*map(str, range(d)), "EOS"],
    )


def _trained(setting: Setting, method: MethodName, samples: int, seed: int) -> Finetuning:
    setup = Setup(Target(Parity(setting.d), setting.secret))
    recipe = Recipe(learning_rates=(setting.rate(method),), samples=samples)
    return finetune(setup, method, recipe, trials=PAPER_TRIALS, tests=0, seed=seed)


def attention_stages(scale: Scale, seed: int) -> Chart:
    """Attention after every stage of B and C at the paper's n = 100,000."""
    setting = SETTINGS[0]
    target = Target(Parity(setting.d), setting.secret)
    panels = []
    for method in ("depth_increasing", "hint_decreasing"):
        result = _trained(setting, method, 100_000, seed)
        names = ["base model", *(f"after stage {i}" for i in range(1, len(result.stages) + 1))]
        for name, law in zip(names, result.attention, strict=True):
            title = f"{LABELS[method]}: {name}"
            panels.append(
                Panel(title, "next pick", "last pick", heat=heat(law, target), steps_of=LABELS[method])
            )
    return Chart(
        "attention-stages",
        "Attention after every stage",
        "Probability of the next pick given the last one, mean over 10 trials, d = 8, k = 3, n = 100,000 "
        "per stage. Squares mark the intended chain. Depth-increasing stages learn it from the root on, "
        "hint-decreasing stages from EOS back; nothing else changes.",
        "Fig. Depth_increasing_d_8_k_3, Fig. Hint_decreasing_d_8_k_3",
        panels,
    )


def attention_direct(scale: Scale, seed: int) -> Chart:
    """Attention without a curriculum at two sample sizes, and with one, averaged over ten trials."""
    setting = SETTINGS[0]
    target = Target(Parity(setting.d), setting.secret)
    panels = []
    for samples in (250_000, 11_000_000, 50_000_000):
        law = _trained(setting, "no_curriculum", samples, seed).attention[-1]
        title = f"A: no curriculum, n = {samples:,}"
        panels.append(Panel(title, "next pick", "last pick", heat=heat(law, target)))
    for method in ("depth_increasing", "hint_decreasing"):
        law = _trained(setting, method, 512, seed).attention[-1]
        title = f"{LABELS[method]}, n = 512"
        panels.append(Panel(title, "next pick", "last pick", heat=heat(law, target)))
    return Chart(
        "attention-direct",
        "Attention with and without a curriculum",
        "The same maps after finetuning, mean over 10 trials. At 250,000 samples learning without a "
        "curriculum follows spurious rewards; at 11,000,000 some of the ten trials are still wrong, which "
        "shows as pale squares beside the chain. Curricula need 512 per stage.",
        "Fig. No_Curriculum, Fig. Parity_Dynamics (b)",
        panels,
    )
