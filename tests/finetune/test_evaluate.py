"""How a trained W is judged: the exact accuracy, draws with its law, fair greedy ties, and each pick."""

import numpy as np
import pytest
import torch
from scipy.stats import binom

from stepladder.errors import InputError
from stepladder.finetune.evaluate import Greedy, _rolled_out, evaluate, greedy_law
from stepladder.finetune.setup import Setup
from stepladder.transformer import Readout, TreeTransformer, path_weights
from stepladder.trees import ModularSum, Parity, Part, Recall, Target

LEVEL = 1e-3 / 20
"""1e-3 for all chi-square tests of this file together; there are fewer than twenty of them."""

SETUPS = [
    Setup(Target(Parity(5), (0, 2, 3))),
    Setup(Target(Parity(5), (1, 3)), Readout("double_softmax", 0.2)),
    Setup(Target(ModularSum(4, 3), (0, 1))),
]
setups = pytest.mark.parametrize("setup", SETUPS, ids=lambda s: f"{s.target.tree.name}-{s.readout.name}")


def base_weights(setup, trials=1):
    return torch.zeros(trials, setup.size, setup.size, dtype=torch.float64)


def path_probability(law, target):
    edges = zip((target.tree.eos, *target.picks), target.path, strict=True)
    return np.prod([law[:, query, pick] for query, pick in edges], axis=0)


@setups
def test_the_exact_accuracy_is_p_plus_a_lucky_share_of_the_rest(setup, spread_weights):
    weights = spread_weights(setup.target.tree, seed=1, trials=5)
    lucky = float(setup.target.tree.wrong_acceptance)
    found = evaluate(setup, weights, tests=0, seed=0)
    for law, accuracy in (
        (setup.law(weights), found.accuracy),
        (greedy_law(setup.law(weights)), found.greedy),
    ):
        p = path_probability(law, setup.target)
        assert accuracy == pytest.approx(p + (1 - p) * lucky, abs=1e-12)


@setups
def test_a_sampled_accuracy_has_the_law_of_real_rollouts_and_both_have_the_binomial_law(
    setup, spread_weights, fit, same_law
):
    tests, repetitions = 24, 800
    weights = spread_weights(setup.target.tree, seed=2).expand(repetitions, -1, -1)
    exact = evaluate(setup, weights[:1], 0, 0)
    drawn, rolled = evaluate(setup, weights, tests, seed=3), _rolled_out(setup, weights, tests, seed=4)
    for name in ("accuracy", "greedy"):
        law = {n: float(binom.pmf(n, tests, getattr(exact, name)[0])) for n in range(tests + 1)}
        for found in (drawn, rolled):
            right = np.rint(getattr(found, name) * tests).astype(int)
            if getattr(exact, name)[0] == 1:
                assert (right == tests).all()
            else:
                assert fit(right.tolist(), law) > LEVEL
        assert same_law(getattr(drawn, name), getattr(rolled, name)) > LEVEL


def test_the_papers_8192_fresh_inputs_give_an_accuracy_in_multiples_of_1_in_8192(spread_weights):
    setup = SETUPS[0]
    weights = spread_weights(setup.target.tree, seed=3, trials=50)
    found = evaluate(setup, weights, 8192, seed=1).accuracy
    assert (found * 8192 == np.rint(found * 8192)).all()
    exact = evaluate(setup, weights, 0, seed=1).accuracy
    assert np.abs(found - exact).max() < 5 * 0.5 / np.sqrt(8192)
    assert (found == evaluate(setup, weights, 8192, seed=1).accuracy).all()
    assert (found != evaluate(setup, weights, 8192, seed=2).accuracy).any()


def test_ties_are_broken_uniformly_so_the_base_model_does_not_look_perfect_on_the_lowest_secret():
    # [0,1,2] is always the first legal pick: argmax-first would give the untrained model accuracy 1.
    target = Target(Parity(8), (0, 1, 2))
    found = evaluate(Setup(target), base_weights(Setup(target)), tests=0, seed=0)
    p = float(Part(target.tree).path_probability(target.picks))
    assert found.greedy == pytest.approx([0.5 + p / 2])
    assert found.accuracy == pytest.approx([0.5 + p / 2])


def test_greedy_takes_the_likeliest_pick_and_shares_evenly_between_equals():
    law = np.array([[0.1, 0.6, 0.3], [0.4, 0.2, 0.4], [1 / 3, 1 / 3, 1 / 3]])
    assert greedy_law(law).tolist() == [[0, 1, 0], [0.5, 0, 0.5], [1 / 3, 1 / 3, 1 / 3]]


def test_greedy_decoding_of_any_tree_shares_evenly_between_the_likeliest_legal_picks(tree, spread_weights):
    (W,) = spread_weights(tree, seed=4)
    for weights in (W, torch.zeros_like(W)):
        model = TreeTransformer(tree, weights)
        for level in list(tree.chains())[:2]:
            law = model.probabilities(level)
            greedy = Greedy(model).probabilities(level)
            assert greedy.sum(axis=1) == pytest.approx(np.ones(len(level)))
            assert ((greedy > 0) == (law == law.max(axis=1, keepdims=True))).all()
            assert (greedy[~tree.legal_mask(level)] == 0).all()


@setups
def test_index_accuracy_is_the_law_of_the_correct_pick_after_the_correct_ones(setup, spread_weights):
    weights = spread_weights(setup.target.tree, seed=5, trials=3)
    found = evaluate(setup, weights, tests=100, seed=0).index
    assert found.shape == (3, setup.target.k + 1)
    for own, shares in zip(weights, found, strict=True):
        model = TreeTransformer(setup.target.tree, own, setup.readout)
        for step, (share, pick) in enumerate(zip(shares, setup.target.path, strict=True)):
            prefix = np.asarray([setup.target.picks[:step]], dtype=np.int64).reshape(1, step)
            assert share == pytest.approx(model.probabilities(prefix)[0, pick], abs=1e-12)


def test_the_index_accuracies_multiply_to_the_probability_of_the_target(spread_weights):
    setup = SETUPS[0]
    weights = spread_weights(setup.target.tree, seed=6, trials=3)
    found = evaluate(setup, weights, tests=0, seed=0)
    assert 2 * found.accuracy - 1 == pytest.approx(found.index.prod(axis=1))


def test_real_rollouts_give_the_same_index_accuracies(spread_weights):
    setup = SETUPS[0]
    weights = spread_weights(setup.target.tree, seed=7, trials=2)
    exact, rolled = evaluate(setup, weights, 0, 0), _rolled_out(setup, weights, 10, 0)
    assert rolled.index == pytest.approx(exact.index, abs=1e-12)


def test_a_model_that_knows_a_recall_path_is_always_right_sampled_and_greedy():
    target = Target(Recall(4), (2, 0))
    weights = path_weights(target, strength=50.0)[None]
    found = evaluate(Setup(target), weights, tests=500, seed=0)
    assert found.accuracy.tolist() == found.greedy.tolist() == [1.0]
    assert found.index == pytest.approx(np.ones((1, 3)))


# ---- what cannot be evaluated


def test_the_exact_accuracy_of_another_task_is_refused_with_what_to_give_instead():
    setup = Setup(Target(Recall(4), (0, 1)))
    with pytest.raises(InputError, match=r"0 \(exact\) needs parity or sum; give a number of fresh inputs"):
        evaluate(setup, base_weights(setup), tests=0, seed=0)


@pytest.mark.parametrize("tests", [-1, 10**20])
def test_a_number_of_fresh_inputs_that_means_nothing_or_overflows_is_refused(tests):
    with pytest.raises(InputError, match="test must be"):
        evaluate(SETUPS[0], base_weights(SETUPS[0]), tests=tests, seed=0)
