"""What the tests of finetuning share: brute force over all paths and inputs, and two-sample tests."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
import torch
from scipy.stats import chi2_contingency, ks_2samp

from stepladder.curriculum import Stage
from stepladder.finetune.setup import Setup
from stepladder.transformer import Readout
from stepladder.trees import Target, Tree

Path = tuple[int, ...]


@pytest.fixture(scope="session")
def spread_weights() -> Callable[..., torch.Tensor]:
    """Random weights, shape (trials, d+1, d+1), so that no two picks are equally likely."""

    def weights(tree: Tree, seed: int = 0, trials: int = 1, scale: float = 1.0) -> torch.Tensor:
        generator = torch.Generator().manual_seed(seed)
        shape = (trials, tree.d + 1, tree.d + 1)
        return scale * torch.randn(shape, dtype=torch.float64, generator=generator)

    return weights


def increasing_paths(d: int) -> list[Path]:
    """Every path of a tree with strictly increasing picks: every set of positions but the empty one."""
    return [path for size in range(1, d + 1) for path in itertools.combinations(range(d), size)]


def literal_log_laws(W: torch.Tensor, readout: Readout) -> list[torch.Tensor]:
    """Log pi after every query, written out: later positions and EOS are legal, at the root all inputs."""
    d = len(W) - 1
    laws = []
    for query in range(d + 1):
        legal = torch.arange(d + 1) > query if query < d else torch.arange(d + 1) < d
        logits = torch.where(legal, W[:, query], -math.inf)
        if readout.name == "double_softmax":
            logits = torch.where(legal, torch.softmax(logits, dim=0), -math.inf)
        laws.append(torch.log_softmax(logits / readout.temperature, dim=0))
    return laws


@cache
def acceptance(d: int, alphabet: int, path: Path, judged: Path) -> float:
    """Over all inputs, how often the sum along `path` is the sum along `judged`, modulo the alphabet."""
    equal = [
        (sum(x[i] for i in path) - sum(x[i] for i in judged)) % alphabet == 0
        for x in itertools.product(range(alphabet), repeat=d)
    ]
    return sum(equal) / len(equal)


def kept_chains(target: Target, stage: Stage) -> list[tuple[Path, Path]]:
    """Every (path, chain that is judged) of a stage: begins with the hint, cut, early ends discarded."""
    hint = target.picks[: stage.hint]
    whole = [path for path in increasing_paths(target.tree.d) if path[: stage.hint] == hint]
    if stage.truncate is None:
        return [(path, path) for path in whole]
    return [(path, path[: stage.truncate]) for path in whole if len(path) >= stage.truncate]


def log_steps(laws: list[torch.Tensor], path: Path) -> list[torch.Tensor]:
    """Log pi of every pick of a path, EOS included."""
    eos = len(laws) - 1
    return [laws[query][pick] for query, pick in zip((eos, *path), (*path, eos), strict=True)]


@pytest.fixture(scope="session")
def literal_gradient() -> Callable[[Setup, torch.Tensor, Stage], torch.Tensor]:
    """The population REINFORCE gradient of a stage by its definition: all paths, all inputs, autograd."""

    def gradient(setup: Setup, weights: torch.Tensor, stage: Stage) -> torch.Tensor:
        target, tree = setup.target, setup.target.tree
        judged = target.picks[: stage.depth]
        W = weights.clone().requires_grad_()
        laws = literal_log_laws(W, setup.readout)
        objective = torch.zeros((), dtype=torch.float64)
        for path, chain in kept_chains(target, stage):
            steps = log_steps(laws, path)
            probability = torch.stack(steps[stage.hint :]).sum().exp().detach()
            reward = acceptance(tree.d, tree.alphabet, chain, judged) - setup.baseline
            for score in steps[stage.first_scored - 1 : stage.last_scored]:
                objective = objective + probability * reward * score
        objective.backward()
        return W.grad

    return gradient


@pytest.fixture(scope="session")
def literal_accuracy() -> Callable[[Setup, torch.Tensor, Stage], tuple[float, float]]:
    """By enumeration: the accuracy on a stage's own task, discarded chains left out, and the share kept."""

    def accuracy(setup: Setup, W: torch.Tensor, stage: Stage) -> tuple[float, float]:
        target, tree = setup.target, setup.target.tree
        laws = literal_log_laws(W, setup.readout)
        kept, right = 0.0, 0.0
        for path, chain in kept_chains(target, stage):
            probability = math.exp(sum(float(step) for step in log_steps(laws, path)[stage.hint :]))
            kept += probability
            right += probability * acceptance(tree.d, tree.alphabet, chain, target.picks[: stage.depth])
        return right / kept, kept

    return accuracy


@pytest.fixture(scope="session")
def same_law() -> Callable[[np.ndarray, np.ndarray], float]:
    """The p-value of two samples from one law: chi-square if few values are distinct, else KS.

    Values are rounded first, so that equal counts added up in another order stay equal.
    """

    def p_value(one: np.ndarray, other: np.ndarray) -> float:
        one, other = one.round(9) + 0.0, other.round(9) + 0.0
        values, cells = np.unique(np.concatenate([one, other]), return_inverse=True)
        if len(values) == 1:
            return 1.0
        if len(values) > 40:
            return float(ks_2samp(one, other).pvalue)
        table = np.stack(
            [np.bincount(part, minlength=len(values)) for part in (cells[: len(one)], cells[len(one) :])]
        )
        pooled = [table[:, 0]]
        for column in table[:, 1:].T:
            if min(pooled[-1].sum(), column.sum()) < 20:
                pooled[-1] = pooled[-1] + column
            else:
                pooled.append(column)
        if len(pooled) == 1:
            return 1.0
        return float(chi2_contingency(np.stack(pooled, axis=1)).pvalue)

    return p_value
