"""Margins of the population gradient: tiny at every step without a curriculum, large with one."""

import math

import numpy as np
import pytest
import torch

from stepladder.curriculum import no_curriculum, stages_of
from stepladder.finetune.engines import ExactEngine
from stepladder.finetune.margins import margins
from stepladder.finetune.setup import Setup
from stepladder.finetune.train import Recipe, train
from stepladder.transformer import Readout
from stepladder.trees import ModularSum, Parity, Part, Target

PAPER = Target(Parity(8), (0, 1, 2))
TARGETS = [
    PAPER,
    Target(Parity(8), (1, 4, 6)),
    Target(Parity(8), (5, 6, 7)),
    Target(Parity(16), (0, 1)),
    Target(ModularSum(7, 5), (0, 3, 4)),
]
every_target = pytest.mark.parametrize("target", TARGETS, ids=lambda t: f"{t.tree.name}-d{t.tree.d}-{t.picks}")


def base_weights(target):
    return torch.zeros(1, target.tree.d + 1, target.tree.d + 1, dtype=torch.float64)


def margin_at_each_stage(target, method):
    """The margin of the step each stage scores, the stages before learned by one large exact step."""
    engine = ExactEngine(Setup(target))
    stages = stages_of(method, target.k)
    after = train(engine, stages, Recipe(learning_rates=(1e6,)), trials=1).after_stage
    before = [base_weights(target), *after[:-1]]
    return {
        stage.first_scored: margins(engine.gradient(weights, stage, 1, [0])[0], target)[stage.first_scored - 1]
        for stage, weights in zip(stages, before, strict=True)
    }


def test_without_a_curriculum_the_margin_at_d8_k3_is_1_in_5376_at_every_step():
    # P(S*) = 1/(8 * 8 * 7 * 6) = 1/2688 and wrong chains are accepted half of the time.
    stage = no_curriculum(3)[0]
    gradient = ExactEngine(Setup(PAPER)).gradient(base_weights(PAPER), stage, 1, [0])[0]
    assert margins(gradient, PAPER) == pytest.approx([1 / 5376] * 4, rel=1e-12)


@pytest.mark.parametrize("method", ["depth_increasing", "hint_decreasing"])
def test_with_a_curriculum_the_margins_at_d8_k3_are_a_sixteenth_to_a_twelfth(method):
    found = margin_at_each_stage(PAPER, method)
    assert [found[step] for step in (1, 2, 3, 4)] == pytest.approx([1 / 16, 1 / 16, 1 / 14, 1 / 12], rel=1e-12)


@every_target
@pytest.mark.parametrize("method", ["depth_increasing", "hint_decreasing"])
def test_a_stages_margin_is_the_lead_of_the_right_reward_over_the_number_of_legal_picks(target, method):
    wrong = float(target.tree.wrong_acceptance)
    legal = Part(target.tree).branching(target)
    found = margin_at_each_stage(target, method)
    for step, size in enumerate(legal, start=1):
        expected = (1 - wrong) / size if size > 1 else math.inf
        # Where B cuts, EOS is discarded, which earns 0 and not q: if it is the only other, the lead is 1.
        if method == "depth_increasing" and 1 < step <= target.k and size == 2:
            expected = 1 / size
        assert found[step] == pytest.approx(expected, rel=1e-12)


@every_target
def test_without_a_curriculum_the_margin_is_the_success_probability_times_the_lead_at_every_step(target):
    stage = no_curriculum(target.k)[0]
    gradient = ExactEngine(Setup(target)).gradient(base_weights(target), stage, 1, [0])[0]
    expected = float(Part(target.tree).path_probability(target.picks) * (1 - target.tree.wrong_acceptance))
    open_steps = np.asarray(Part(target.tree).branching(target)) > 1
    assert margins(gradient, target)[open_steps] == pytest.approx(expected, rel=1e-9)


@every_target
def test_the_gradient_without_a_curriculum_has_the_closed_form_of_the_path_and_nothing_elsewhere(
    target, spread_weights
):
    # G = P(S*) (1 - q) (1[edge on path] - policy) on the rows of the path, for any weights.
    setup = Setup(target)
    for weights in (base_weights(target), spread_weights(target.tree, seed=5)):
        law = setup.law(weights)[0]
        edges = list(zip((target.tree.eos, *target.picks), target.path, strict=True))
        probability = math.prod(law[edge] for edge in edges)
        expected = np.zeros_like(law)
        for query, pick in edges:
            expected[query] = -law[query]
            expected[query, pick] += 1
        expected *= probability * (1 - float(target.tree.wrong_acceptance))
        found = ExactEngine(setup).gradient(weights, no_curriculum(target.k)[0], 1, [0])[0]
        assert found.T.numpy() == pytest.approx(expected, abs=1e-14)


def test_the_literal_readout_shrinks_every_margin():
    stage = no_curriculum(3)[0]
    direct, literal = (
        margins(ExactEngine(Setup(PAPER, readout)).gradient(base_weights(PAPER), stage, 1, [0])[0], PAPER)
        for readout in (Readout(), Readout("double_softmax"))
    )
    # The score gains a factor alpha(j) = 1/|legal| (Lemma score_pi_OBI).
    assert literal == pytest.approx(direct / np.array([8, 8, 7, 6]), rel=1e-12)
