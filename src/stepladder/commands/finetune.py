"""`stepladder finetune`: train a tree transformer by REINFORCE, with or without a curriculum."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from stepladder.commands.console import numbers, print_json, say, spread, stdout, whole_numbers
from stepladder.commands.progress import Bar
from stepladder.curriculum import MethodName, Scoring
from stepladder.errors import InputError
from stepladder.finetune.engines import EngineName
from stepladder.finetune.run import PAPER_TESTS, Finetuning, default_rate, finetune
from stepladder.finetune.setup import Setup
from stepladder.finetune.train import OptimizerName, Recipe
from stepladder.report.attention_figure import attention_figure
from stepladder.report.run_folder import write_run
from stepladder.transformer import Readout
from stepladder.transformer.attention import ReadoutName
from stepladder.trees import Target
from stepladder.trees.catalogue import TaskName, build_tree

SMALL_RATE = 0.5
SMALL_BATCH = 256
SMALL_STEPS = 1000


@dataclass(frozen=True)
class Command:
    """Finetune by REINFORCE: Algorithm A (no_curriculum), B (depth_increasing) or C (hint_decreasing).

    Try: stepladder finetune --method depth_increasing --d 8 --secret 0,1,2 --samples 512 --lr 1e5

    Try: stepladder finetune --method no_curriculum --samples 30000000 --lr 1e8 --trials 400 --test 0

    Try: stepladder finetune --method hint_decreasing --optimizer adam --scoring all
    """

    method: MethodName = "depth_increasing"
    """Which curriculum."""
    d: int = 8
    """Number of inputs (for countdown: of numbers)."""
    secret: str = "0,1,2"
    """Target path as positions."""
    samples: int | None = None
    """Rollouts per stage with one_step (1024 by default), per update with small steps (256)."""
    lr: str | None = None
    """Learning rate, or one per stage separated by commas; the paper's by default."""
    trials: int = 10
    """Independent models; trial t has the seed SEED + t."""
    engine: EngineName = "counts"
    """counts: exact in distribution, cost independent of samples; rollout: any task; exact: infinite n."""
    task: TaskName = "parity"
    """Which task; counts and exact know parity and sum."""
    alphabet: int | None = None
    """Letters of the input; the task's usual one by default."""
    optimizer: OptimizerName = "one_step"
    """one_step per stage as in the theorem, or small steps with a torch optimiser."""
    steps: int | None = None
    """Updates at most, small steps only; 1000 by default."""
    scoring: Scoring = "step"
    """Score only the step a stage adds, as the paper does, or all free steps."""
    keep_training: bool = False
    """Go on training after the last stage is mastered, small steps only."""
    baseline: float = 0.0
    """Subtracted from the 0/1 reward; the paper has none."""
    readout: ReadoutName = "direct"
    """How attention becomes a pick."""
    temperature: float = 1.0
    """Temperature of the readout (beta)."""
    test: int = PAPER_TESTS
    """Fresh inputs behind each accuracy; 0 gives the exact accuracy."""
    seed: int = 0
    """Base seed."""
    out: Path | None = None
    """Folder for config.yaml, results.json and the attention maps."""
    json: bool = False
    """Print one JSON object instead."""

    def run(self) -> None:
        """Train, evaluate, print."""
        tree = build_tree(self.task, self.d, self.alphabet)
        target = Target(tree, whole_numbers(self.secret, "secret"))
        setup = Setup(target, Readout(self.readout, self.temperature), self.baseline)
        recipe = self._recipe()
        with Bar("finetuning") as bar:
            result = finetune(
                setup,
                self.method,
                recipe,
                engine=self.engine,
                scoring=self.scoring,
                trials=self.trials,
                tests=self.test,
                seed=self.seed,
                progress=bar.fraction,
            )
        summary = self._summary(result, recipe)
        if self.out is not None:
            titles = ["base", *(f"after stage {i}" for i in range(1, len(result.stages) + 1))]
            heading = f"{self.method}, {self.task}, d = {self.d}, secret [{self.secret}]"
            figure = attention_figure(result.attention, target, titles, heading)
            config = {**asdict(self), "out": str(self.out)}
            write_run(self.out, config, summary, {"attention": figure})
        if self.json:
            print_json(summary)
        else:
            self._show(result, summary)

    def _recipe(self) -> Recipe:
        small = self.optimizer != "one_step"
        for name, given in (("steps", self.steps is not None), ("keep_training", self.keep_training)):
            if given and not small:
                raise InputError("is for small steps; choose another --optimizer than one_step", option=name)
        usual = SMALL_RATE if small else default_rate(self.method)
        rates = (usual,) if self.lr is None else numbers(self.lr, "lr")
        samples = (SMALL_BATCH if small else 1024) if self.samples is None else self.samples
        return Recipe(
            optimizer=self.optimizer,
            learning_rates=rates,
            samples=samples,
            max_steps=SMALL_STEPS if self.steps is None else self.steps,
            stop_when_done=not self.keep_training,
        )

    def _summary(self, result: Finetuning, recipe: Recipe) -> dict[str, Any]:
        updates = float(result.updates.mean())
        summary: dict[str, Any] = {
            "method": self.method,
            "task": self.task,
            "d": self.d,
            "secret": whole_numbers(self.secret, "secret"),
            "samples_per_stage": recipe.samples,
            "total_samples": round(recipe.samples * updates),
            "lr": recipe.learning_rates[0] if len(recipe.learning_rates) == 1 else recipe.learning_rates,
            "trials": self.trials,
            "engine": self.engine,
            "accuracy": spread(result.accuracy),
            "greedy_accuracy": spread(result.greedy),
            "index_accuracy": result.index_accuracy.mean(axis=0).tolist(),
            "attention": result.attention.tolist(),
            "seconds": round(result.seconds, 4),
        }
        if self.optimizer != "one_step":
            summary["samples_per_stage"] = None
            summary["samples_per_update"] = recipe.samples
            summary["updates"] = result.updates.tolist()
            summary["mastered"] = result.done.tolist()
            summary["histories"] = result.histories
        return summary

    def _show(self, result: Finetuning, summary: dict[str, Any]) -> None:
        table = Table(title=f"{self.method}, {self.task} d={self.d}, secret [{self.secret}]")
        table.add_column("")
        table.add_column("mean ± SEM", justify="right")
        for name, key in (("accuracy", "accuracy"), ("greedy accuracy", "greedy_accuracy")):
            table.add_row(name, f"{summary[key]['mean']:.4f} ± {summary[key]['sem']:.4f}")
        for step, share in enumerate(summary["index_accuracy"], start=1):
            name = "EOS" if step == len(summary["index_accuracy"]) else f"pick {step}"
            table.add_row(f"{name} correct", f"{share:.4f}")
        stdout.print(table)
        stdout.print(
            f"{self.trials} trials, {summary['total_samples']:,} samples each, "
            f"engine {self.engine}, {result.seconds:.2f} s"
        )
        if self.optimizer != "one_step":
            stdout.print(
                f"{int(result.done.sum())} of {self.trials} trials mastered every stage, "
                f"median {int(np.median(result.updates))} updates"
            )
        if self.out is not None:
            say(f"wrote {self.out}")
