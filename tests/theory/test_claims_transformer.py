"""The values behind the claims about the transformer, found again by other means."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import brentq

from stepladder.theory.claims_transformer import ERROR
from stepladder.transformer import Readout, TreeTransformer, path_weights
from stepladder.trees import Parity, Target


def double_softmax(scores, beta):
    """Eq. (forward) as written, over legal positions only."""
    attention = np.exp(scores - scores.max())
    attention /= attention.sum()
    weights = np.exp((attention - attention.max()) / beta)
    return weights / weights.sum()


def softmax_guarantee(attention, tokens, beta):
    """The lemma's lower bound on the probability of the pick."""
    return 1 / (1 + tokens * math.exp(-(2 * attention - 1) / beta))


def test_base_is_part(claim, case):
    d, _ = case
    model = TreeTransformer(Parity(d))
    worst = 0.0
    for last in range(d):
        law = model.probabilities(np.array([[last]]))[0]
        expected = np.where(np.arange(d + 1) > last, 1 / (d - last), 0)
        worst = max(worst, float(np.abs(law - expected).max()))
    found = claim("base_is_part", case)
    assert found.formula_value == 0
    assert max(found.measured, worst) < 1e-14


def test_path_is_representable_token_by_token(claim, case):
    d, k = case
    target = Target(Parity(d), tuple(range(k)))
    inputs = target.tree.draw_inputs(200, np.random.default_rng(1))
    written = TreeTransformer(target.tree, path_weights(target)).generate(
        inputs, torch.Generator().manual_seed(0)
    )
    right = (written.picks[:, : k + 1].numpy() == target.path).all(axis=1)
    values = np.bitwise_xor.reduce(inputs[:, :k], axis=1)
    assert (written.tokens[:, k - 1].numpy() == values).all()
    assert claim("path_is_representable", case).measured == right.mean() == 1


def test_score_lemma_by_finite_differences(claim, case):
    d, _ = case
    rng = np.random.default_rng(2)
    scores, beta, step = rng.normal(size=d), 0.7, 1e-5
    readout = Readout("double_softmax", beta)
    legal = torch.ones(1, d, dtype=torch.bool)
    for pick in (0, d - 1):
        closed = readout.score(
            torch.tensor(scores)[None], legal, torch.eye(d, dtype=torch.float64)[pick][None]
        )[0]
        slopes = []
        for key in range(d):
            bump = step * (np.arange(d) == key)
            up, down = (double_softmax(scores + sign * bump, beta)[pick] for sign in (1, -1))
            slopes.append((math.log(up) - math.log(down)) / (2 * step))
        assert closed.numpy() == pytest.approx(np.array(slopes), abs=1e-8)
    assert claim("score_lemma", case).measured < 1e-12


def test_eta_bound_is_measured_close_to_the_largest_value_there_is(claim, case):
    """With beta = 1 the supremum is at one-hot attention on a wrong pick: 1 + (e-1)/(e+d-1)."""
    d, _ = case
    policy = double_softmax(np.array([0.0] + [1e4] + [0.0] * (d - 2)), 1.0)
    supremum = 1 - policy[0] + policy[1]
    assert supremum == pytest.approx(1 + (math.e - 1) / (math.e + d - 1))
    found = claim("eta_bound", case)
    assert found.formula_value == 4
    assert 0.97 * supremum < found.measured <= supremum


def test_literal_readout_at_a_logit_gap_without_end(claim, case):
    d, _ = case
    found = claim("literal_readout", case)
    law = Readout("double_softmax").log_probabilities(
        1e6 * torch.eye(d, dtype=torch.float64)[:1], torch.ones(1, d, dtype=torch.bool)
    )
    assert found.measured == pytest.approx(float(law[0, 0].exp()))
    assert found.formula_value == 0.99


def test_margin_lemma_feasible_by_solving_the_lemmas_bound(claim, case):
    found = claim("margin_lemma_feasible", case)
    needed = brentq(lambda attention: softmax_guarantee(attention, 3, 1.0) - (1 - ERROR), 0, 20, xtol=1e-13)
    assert found.measured == pytest.approx(needed)
    assert found.formula_value == 1


def test_margin_lemma_by_solving_for_the_gap(claim, case):
    d, _ = case
    found = claim("margin_lemma", case)
    needed = brentq(lambda a: softmax_guarantee(a, d + 1, 0.05) - (1 - ERROR), 0, 1, xtol=1e-14)
    gap = brentq(lambda gap: 1 / (1 + (d - 1) * math.exp(-gap)) - needed, 0, 100, xtol=1e-12)
    law = double_softmax(np.array([gap] + [0.0] * (d - 1)), 0.05)
    assert found.measured == pytest.approx(law[0], rel=1e-9)
    assert found.formula_value == 1 - ERROR


def test_xor_block_by_multiplying_the_papers_matrices(claim, case):
    first = np.array([[1, 1, 1], [0, 2, 0], [-1, 1, -1]]) / 2
    second = np.array([[1, -1, 2], [0, 1, -2], [0, 0, 0]])
    one_hot = np.eye(3)
    outputs = [second @ np.maximum(first @ (one_hot[2] + one_hot[state]), 0) for state in (0, 1)]
    right = [int(output.argmax() == 2) for output in outputs]
    assert claim("xor_block", case).measured == np.mean(right) == 0
