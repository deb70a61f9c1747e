"""How well a trained W does on fresh inputs: sampled and greedy accuracy, and each pick by itself.

    accuracy          terminal reward of sampled decoding; exact = p + (1-p) q with p = P(target path)
    greedy            the same for the most likely pick at every step, ties broken uniformly
    index accuracy    P(correct pick at step l | correct picks before), l = 1..k+1

A base model's picks all tie, and the paper's secret [0,1,2] is always the first legal pick, so breaking
ties by position would make the untrained model look perfect.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch import Tensor

from stepladder.curriculum import no_curriculum
from stepladder.errors import InputError
from stepladder.finetune.engines import stage_accuracy
from stepladder.finetune.setup import Setup
from stepladder.scaling import LARGEST
from stepladder.transformer import TreeTransformer
from stepladder.trees import Policy, TerminalOracle, rollout
from stepladder.trees.tree import Picks

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Evaluation:
    """Accuracies of every trial."""

    accuracy: Floats
    greedy: Floats
    index: Floats
    """Shape (trials, k+1)."""


class Greedy(Policy):
    """Takes the most likely pick of another policy; ties are broken uniformly."""

    def __init__(self, policy: Policy) -> None:
        """Wrap a policy."""
        self.policy = policy
        self.tree = policy.tree

    def probabilities(self, picks: Picks) -> Floats:
        """Spread the mass evenly over the most likely picks."""
        return greedy_law(self.policy.probabilities(picks))


def greedy_law(law: Floats) -> Floats:
    """Return the law of greedy decoding over the last axis."""
    best = law == law.max(axis=-1, keepdims=True)
    even: Floats = best / best.sum(axis=-1, keepdims=True)
    return even


def check_tests(setup: Setup, tests: int) -> None:
    """Refuse a number of fresh inputs that means nothing for the task."""
    if not 0 <= tests <= LARGEST:
        most = "" if tests < 0 else f"; at most {LARGEST:g}"
        raise InputError(f"must be 0 (exact) or a number of fresh inputs, got {tests}{most}", option="test")
    if not tests and setup.target.tree.wrong_acceptance is None:
        raise InputError(
            f"0 (exact) needs parity or sum; give a number of fresh inputs for {setup.target.tree.name}",
            option="test",
        )


def evaluate(setup: Setup, weights: Tensor, tests: int, seed: int) -> Evaluation:
    """Evaluate every trial on `tests` fresh inputs; 0 asks for the exact value (parity and sums)."""
    check_tests(setup, tests)
    if setup.target.tree.wrong_acceptance is None:
        return _rolled_out(setup, weights, tests, seed)
    law = setup.law(weights)
    queries = (setup.target.tree.eos, *setup.target.picks)
    index = np.stack([law[:, q, pick] for q, pick in zip(queries, setup.target.path, strict=True)], 1)
    task = no_curriculum(setup.target.k)[0]
    exact = [stage_accuracy(setup, one, task) for one in (law, greedy_law(law))]
    if tests:
        # Fresh inputs are judged independently, each right with the exact probability.
        rng = np.random.default_rng([seed, tests])
        exact = [rng.binomial(tests, np.minimum(one, 1.0)) / tests for one in exact]
    return Evaluation(exact[0], exact[1], index)


def _rolled_out(setup: Setup, weights: Tensor, tests: int, seed: int) -> Evaluation:
    """Evaluate a task whose accuracy has no closed form."""
    target = setup.target
    rates, index = [], []
    for trial, own in enumerate(weights):
        model = TreeTransformer(target.tree, own, setup.readout)
        for policy in (model, Greedy(model)):
            oracle = TerminalOracle(target)
            chunks = rollout(policy, tests, np.random.SeedSequence([seed, trial, tests]))
            accepted = sum(int(oracle.judge(chunk.inputs, chunk.answers).sum()) for chunk in chunks)
            rates.append(accepted / oracle.queries)
        prefixes = [np.asarray(target.picks[:step]).reshape(1, step) for step in range(target.k + 1)]
        laws = [model.probabilities(prefix.astype(np.int64))[0] for prefix in prefixes]
        index.append([law[pick] for law, pick in zip(laws, target.path, strict=True)])
    return Evaluation(np.asarray(rates[::2]), np.asarray(rates[1::2]), np.asarray(index))
