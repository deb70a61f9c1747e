"""Three engines behind one interface: the REINFORCE gradient of a stage, and the stage's accuracy.

    g_hat = 1/n sum_s (R_s - baseline) sum_{scored l} d log pi(i_l) / dW          (Alg. A, B, C)

    counts   draws the sufficient statistic of n rollouts: exact in distribution, at a cost that does not
             depend on n; parity and sums modulo V
    rollout  runs n rollouts in bounded chunks; any task
    exact    the population gradient, n = infinity; parity and sums modulo V

Discarded rollouts (depth_increasing) count in n all the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from stepladder.curriculum import Stage
from stepladder.errors import check_between, check_choice
from stepladder.finetune.flow import Draws, Flow, Means, check_countable, flow, surviving_laws
from stepladder.finetune.setup import Law, Setup
from stepladder.scaling import LARGEST
from stepladder.transformer import TreeTransformer
from stepladder.trees import FamilyOracle, Rollouts, TerminalOracle, rollout

EngineName = Literal["counts", "rollout", "exact"]


class Engine(ABC):
    """Estimates gradients for a batch of trials, each with weights of its own."""

    def __init__(self, setup: Setup) -> None:
        """Take the learning problem."""
        self.setup = setup
        self.progress: Callable[[float], None] = lambda share: None
        """Hears how much of the current gradient is done, where that takes long."""

    @abstractmethod
    def gradient(self, weights: Tensor, stage: Stage, samples: int, trials: Sequence[int]) -> Tensor:
        """Return the gradient of every trial, shape (trials, d+1, d+1), to ascend."""

    @abstractmethod
    def accuracy(self, weights: Tensor, stage: Stage, trials: Sequence[int]) -> npt.NDArray[np.float64]:
        """Return the accuracy of every trial on the stage's own task, its discarded chains left out."""


class _FlowEngine(Engine):
    """What counts and exact share: a flow of counts, turned into a gradient."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        check_countable(setup.target)

    def ascent(self, weights: Tensor, flowed: Flow, samples: int) -> Tensor:
        """Turn transition counts into the gradient."""
        baseline = self.setup.baseline
        credit = flowed.accepted * ((1 - baseline) / samples)
        if flowed.rejected is not None:
            credit = credit - flowed.rejected * (baseline / samples)
        logits, legal = self.setup.logits(weights)
        score = self.setup.readout.score(logits, legal, torch.from_numpy(credit))
        return score.transpose(-1, -2)

    def accuracy(self, weights: Tensor, stage: Stage, trials: Sequence[int]) -> npt.NDArray[np.float64]:
        """Return the exact accuracy."""
        return stage_accuracy(self.setup, self.setup.law(weights), stage)


class CountsEngine(_FlowEngine):
    """Draws the transition counts of n rollouts.

    The trials of a batch share one random stream, seeded by all their seeds together.
    """

    def __init__(self, setup: Setup, seeds: Sequence[int]) -> None:
        """Seed one stream for the batch."""
        super().__init__(setup)
        self.chance = Draws(np.random.default_rng(list(seeds)))

    def gradient(self, weights: Tensor, stage: Stage, samples: int, trials: Sequence[int]) -> Tensor:
        """Draw the gradient of `samples` rollouts."""
        check_samples(samples)
        law = self.setup.law(weights)
        with_rejected = self.setup.baseline > 0
        flowed = flow(law, self.setup.target, stage, samples, self.chance, with_rejected)
        return self.ascent(weights, flowed, samples)


class ExactEngine(_FlowEngine):
    """Averages instead of drawing; `samples` does not matter."""

    def gradient(self, weights: Tensor, stage: Stage, samples: int, trials: Sequence[int]) -> Tensor:
        """Return the population gradient."""
        law = self.setup.law(weights)
        flowed = flow(law, self.setup.target, stage, 1, Means(), self.setup.baseline > 0)
        return self.ascent(weights, flowed, 1)


class RolloutEngine(Engine):
    """Runs real rollouts of the transformer; trial t has a random stream of its own."""

    VALIDATION = 2048
    """Rollouts behind each accuracy."""

    def __init__(self, setup: Setup, seeds: Sequence[int]) -> None:
        """Seed a stream for every trial."""
        super().__init__(setup)
        self.streams = [np.random.SeedSequence(seed) for seed in seeds]

    def gradient(self, weights: Tensor, stage: Stage, samples: int, trials: Sequence[int]) -> Tensor:
        """Sum the rewarded scores over `samples` rollouts."""
        check_samples(samples)
        gradients = torch.zeros_like(weights)
        for row, trial in enumerate(trials):
            model = TreeTransformer(self.setup.target.tree, weights[row], self.setup.readout)
            done = 0
            for chunk in self._chunks(model, stage, samples, trial):
                gradients[row] += self._scored(model, stage, chunk) / samples
                done += len(chunk)
                self.progress((row + done / samples) / len(trials))
        return gradients

    def accuracy(self, weights: Tensor, stage: Stage, trials: Sequence[int]) -> npt.NDArray[np.float64]:
        """Estimate the accuracy on fresh rollouts."""
        rates = []
        for row, trial in enumerate(trials):
            model = TreeTransformer(self.setup.target.tree, weights[row], self.setup.readout)
            judged = [
                self._accepted(stage, chunk)[~self._discarded(stage, chunk)]
                for chunk in self._chunks(model, stage, self.VALIDATION, trial)
            ]
            kept = np.concatenate(judged)
            rates.append(kept.mean() if len(kept) else 0.0)
        return np.asarray(rates)

    def _chunks(self, model: TreeTransformer, stage: Stage, samples: int, trial: int) -> Iterator[Rollouts]:
        hint = self.setup.target.picks[: stage.hint]
        stream = self.streams[trial].spawn(1)[0]
        return rollout(model, samples, stream, start=hint, truncate=stage.truncate)

    def _accepted(self, stage: Stage, chunk: Rollouts) -> npt.NDArray[np.bool_]:
        if stage.oracle == "terminal":
            return TerminalOracle(self.setup.target).judge(chunk.inputs, chunk.answers)
        return FamilyOracle(self.setup.target).judge(chunk.inputs, chunk.answers, stage.depth)

    def _discarded(self, stage: Stage, chunk: Rollouts) -> npt.NDArray[np.bool_]:
        shortest = 0 if stage.truncate is None else stage.truncate
        return np.asarray(chunk.lengths < shortest)

    @torch.no_grad()
    def _scored(self, model: TreeTransformer, stage: Stage, chunk: Rollouts) -> Tensor:
        """Sum reward times score over the chunk, step by step."""
        tree = self.setup.target.tree
        credit = self._accepted(stage, chunk) - self.setup.baseline
        credit[self._discarded(stage, chunk)] = 0
        total = torch.zeros_like(model.W)
        picks = chunk.picks.astype(np.int64)
        for step in range(stage.first_scored, min(stage.last_scored, picks.shape[1]) + 1):
            rows = np.flatnonzero((chunk.lengths >= step - 1) & (credit != 0))
            before = picks[rows, : step - 1]
            legal = torch.from_numpy(tree.legal_mask(before))
            query = torch.from_numpy(before[:, -1] if step > 1 else np.full(len(rows), tree.eos))
            picked = torch.nn.functional.one_hot(torch.from_numpy(picks[rows, step - 1]), tree.d + 1)
            weighted = picked * torch.from_numpy(credit[rows]).unsqueeze(1)
            score = self.setup.readout.score(model.logits(query), legal, weighted)
            total.index_add_(1, query, score.T)
        return total


def stage_accuracy(setup: Setup, law: Law, stage: Stage) -> npt.NDArray[np.float64]:
    """Return the exact accuracy on a stage: p + (1-p) q, with p the probability of the judged path."""
    acceptance = check_countable(setup.target)
    eos, path = setup.target.tree.eos, setup.target.path
    queries = (eos, *setup.target.picks)
    last = setup.target.k + 1 if stage.truncate is None else stage.truncate
    probability = np.ones(len(law))
    for step in range(stage.hint + 1, last + 1):
        probability = probability * law[:, queries[step - 1], path[step - 1]]
    _, survival = surviving_laws(law, stage, queries[stage.hint], eos)
    probability = np.divide(probability, survival, out=np.zeros_like(survival), where=survival > 0)
    return np.asarray(probability + (1 - probability) * acceptance)


def check_samples(samples: int) -> None:
    """Refuse sample sizes that mean nothing or overflow."""
    check_between("samples", samples, 1, LARGEST)


def make_engine(name: EngineName, setup: Setup, seeds: Sequence[int]) -> Engine:
    """Build an engine for trials with the given seeds."""
    check_choice("engine", name, get_args(EngineName))
    match name:
        case "counts":
            return CountsEngine(setup, seeds)
        case "rollout":
            return RolloutEngine(setup, seeds)
        case "exact":
            return ExactEngine(setup)
