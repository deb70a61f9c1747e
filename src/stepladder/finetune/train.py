"""The one update loop: stages, an optimiser, and a rule for when a stage is over.

    one large step per stage     plain SGD with the theorem's learning rate, AfterSteps(1), batch = n
    small steps                  SGD with momentum, Adam, AdamW or Muon, AtAccuracy(.99), batch = 256

Trials run side by side, each with weights, optimiser state and stage of its own.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from stepladder.curriculum import Advance, AfterSteps, AtAccuracy, Stage
from stepladder.errors import InputError, check_between, check_choice
from stepladder.finetune.engines import Engine, check_samples

OptimizerName = Literal["one_step", "sgd", "adam", "adamw", "muon"]


@dataclass(frozen=True)
class Recipe:
    """How to train: the optimiser, how many rollouts per update, and when to advance."""

    optimizer: OptimizerName = "one_step"
    learning_rates: tuple[float, ...] = (1e10,)
    """One for every stage, or one for all."""
    samples: int = 1024
    """Rollouts per update."""
    max_steps: int = 1000
    """Updates at most, small steps only."""
    threshold: float = 0.99
    """Validation accuracy at which a stage is over, small steps only."""
    evaluate_every: int = 8
    """Updates between validations, small steps only (8 updates of 256 are the paper's 2048 samples)."""
    stop_when_done: bool = True
    """Stop a trial once its last stage is over; otherwise it trains on that stage to the end."""

    def __post_init__(self) -> None:
        """Check every number."""
        check_choice("optimizer", self.optimizer, get_args(OptimizerName))
        if not self.learning_rates:
            raise InputError("needs at least one value", option="lr")
        for rate in self.learning_rates:
            if not (rate > 0 and math.isfinite(rate)):
                raise InputError(f"must be positive and finite, got {rate:g}", option="lr")
        check_samples(self.samples)
        check_between("steps", self.max_steps, 1, 10**9)
        check_between("evaluate_every", self.evaluate_every, 1, 10**9)
        if self.optimizer != "one_step" and len(self.learning_rates) > 1:
            raise InputError("takes one value with small steps; only one_step has one per stage", "lr")

    @property
    def advance(self) -> Advance:
        """The rule that ends stages."""
        return AfterSteps(1) if self.optimizer == "one_step" else AtAccuracy(self.threshold)

    def rate(self, stage: int, stages: int) -> float:
        """Return the learning rate of a stage (from 0)."""
        if len(self.learning_rates) not in (1, stages):
            raise InputError(
                f"needs one value or one for each of the {stages} stages, got {len(self.learning_rates)}",
                option="lr",
            )
        return self.learning_rates[0 if len(self.learning_rates) == 1 else stage]

    def build(self, parameters: list[Tensor]) -> torch.optim.Optimizer:
        """Return the torch optimiser. Muon keeps its weight decay, which it needs here."""
        rate = self.learning_rates[0]
        match self.optimizer:
            case "one_step":
                return torch.optim.SGD(parameters, lr=rate)
            case "sgd":
                return torch.optim.SGD(parameters, lr=rate, momentum=0.9)
            case "adam":
                return torch.optim.Adam(parameters, lr=rate)
            case "adamw":
                return torch.optim.AdamW(parameters, lr=rate)
            case "muon":
                return torch.optim.Muon(parameters, lr=rate, nesterov=True)


@dataclass
class Training:
    """What a batch of trials learned."""

    weights: Tensor
    """W of every trial at the end, shape (trials, d+1, d+1)."""
    after_stage: list[Tensor]
    """W of every trial when it left each stage (at the end, if it never did)."""
    steps: npt.NDArray[np.int64]
    """Updates each trial took until its last stage was over; the limit if it never was."""
    done: npt.NDArray[np.bool_]
    """Whether each trial finished its last stage."""
    history: list[tuple[int, npt.NDArray[np.float64]]] = field(default_factory=list)
    """(updates, accuracy on the full task of every trial) at each validation, small steps only."""

    def samples_used(self, per_update: int) -> npt.NDArray[np.int64]:
        """Rollouts each trial used."""
        return self.steps * per_update


def train(
    engine: Engine,
    stages: Sequence[Stage],
    recipe: Recipe,
    trials: int,
    progress: Callable[[float], None] = lambda share: None,
) -> Training:
    """Take every trial from the base model W = 0 through the stages."""
    size = engine.setup.size
    parameters = [torch.zeros(size, size, dtype=torch.float64) for _ in range(trials)]
    optimizer = recipe.build(parameters)
    small = recipe.optimizer != "one_step"
    limit = recipe.max_steps if small else len(stages)
    check_every = recipe.evaluate_every if small else 1
    stage_of = np.zeros(trials, dtype=np.int64)
    since = np.zeros(trials, dtype=np.int64)
    result = Training(
        torch.stack(parameters),
        [torch.zeros(trials, size, size, dtype=torch.float64) for _ in stages],
        np.full(trials, limit),
        np.zeros(trials, dtype=np.bool_),
    )
    for step in range(1, limit + 1):
        active = np.flatnonzero(~result.done if recipe.stop_when_done else np.ones(trials, bool))
        if not len(active):
            break
        engine.progress = _within_step(progress, step, limit)
        _update(engine, stages, recipe, optimizer, parameters, stage_of, active)
        since[active] += 1
        if step % check_every and step < limit:
            continue
        weights = torch.stack(parameters)
        if small:
            everyone = list(range(trials))
            result.history.append((step, engine.accuracy(weights, _full_task(stages), everyone)))
        for number, group in _by_stage(stage_of, active).items():
            # One large step per stage advances by plan, whatever the accuracy.
            reached_by = (
                engine.accuracy(weights[group], stages[number], group) if small else np.ones(len(group))
            )
            for trial, reached in zip(group, reached_by, strict=True):
                if result.done[trial] or not recipe.advance.ready(int(since[trial]), float(reached)):
                    continue
                result.after_stage[number][trial] = weights[trial]
                if number + 1 < len(stages):
                    stage_of[trial], since[trial] = number + 1, 0
                else:
                    result.done[trial], result.steps[trial] = True, step
        progress(step / limit)
    result.weights = torch.stack(parameters)
    for unfinished in np.flatnonzero(~result.done):
        for number in range(int(stage_of[unfinished]), len(stages)):
            result.after_stage[number][unfinished] = result.weights[unfinished]
    return result


def _within_step(progress: Callable[[float], None], step: int, limit: int) -> Callable[[float], None]:
    """Turn the progress of one update into that of the training."""
    return lambda share: progress((step - 1 + share) / limit)


def _update(
    engine: Engine,
    stages: Sequence[Stage],
    recipe: Recipe,
    optimizer: torch.optim.Optimizer,
    parameters: list[Tensor],
    stage_of: npt.NDArray[np.int64],
    active: npt.NDArray[np.intp],
) -> None:
    """One optimiser step for every active trial, on its own stage."""
    for parameter in parameters:
        parameter.grad = None
    for number, group in _by_stage(stage_of, active).items():
        for options in optimizer.param_groups:
            options["lr"] = recipe.rate(number, len(stages))
        weights = torch.stack([parameters[trial] for trial in group])
        gradient = engine.gradient(weights, stages[number], recipe.samples, group)
        for trial, ascent in zip(group, gradient, strict=True):
            parameters[trial].grad = -ascent.contiguous()
    optimizer.step()
    if not all(bool(torch.isfinite(parameter).all()) for parameter in parameters):
        raise InputError("is too large: the weights overflowed; use a smaller one", option="lr")


def _by_stage(stage_of: npt.NDArray[np.int64], trials: npt.NDArray[np.intp]) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = defaultdict(list)
    for trial in trials:
        groups[int(stage_of[trial])].append(int(trial))
    return dict(groups)


def _full_task(stages: Sequence[Stage]) -> Stage:
    """The task itself, from any curriculum's stages: nothing given, nothing cut."""
    depth = max(stage.depth for stage in stages)
    return Stage(0, None, "terminal", depth, 1, depth + 1)
