"""Facts of Thm. 1 and Eq. (forward): the base model is PART, and the closed form is the literal one."""

import itertools
import math

import numpy as np
import pytest
import torch

from stepladder.transformer import Readout, TreeTransformer
from stepladder.trees import Parity, Part
from stepladder.trees.tree import chain_states

COUNT = 20_000
LEVEL = 1e-3 / 30
"""1e-3 for all chi-square tests of this file together; there are fewer than thirty of them."""

READOUTS = [
    Readout("direct"),
    Readout("direct", 0.3),
    Readout("double_softmax"),
    Readout("double_softmax", 0.05),
]

readouts = pytest.mark.parametrize("readout", READOUTS, ids=lambda r: f"{r.name}-{r.temperature}")


def random_weights(tree, seed=0, scale=1.5):
    generator = torch.Generator().manual_seed(seed)
    return scale * torch.randn(tree.d + 1, tree.d + 1, dtype=torch.float64, generator=generator)


def random_positions(tree, seed=0):
    """A random orthonormal basis, one encoding in each row."""
    generator = torch.Generator().manual_seed(100 + seed)
    square = torch.randn(tree.d + 1, tree.d + 1, dtype=torch.float64, generator=generator)
    return torch.linalg.qr(square).Q


def literal_law(model, picks, inputs):
    """Run Eq. (forward) on the embedded sequence x_1..x_d, EOS, z_1..z_l of the same picks."""
    tree, (count, depth) = model.tree, (len(inputs), len(picks))
    prompt = [tree.clue(inputs, position) for position in range(tree.d)]
    prompt.append(np.broadcast_to(tree.eos_token, prompt[0].shape))
    states = chain_states(tree, inputs, picks) if depth else []
    tokens = torch.from_numpy(np.stack([*prompt, *states], axis=1).astype(np.int64))
    positions = torch.tensor([*range(tree.d + 1), *picks]).expand(count, -1)
    legal = tree.legal_mask(np.tile(np.asarray(picks, dtype=np.int64), (count, 1)))
    return model(model.embed(tokens, positions), torch.from_numpy(legal))


def reachable(tree):
    for level in tree.chains():
        yield from (tuple(row.tolist()) for row in level)


def as_batch(picks):
    return np.asarray([picks], dtype=np.int64).reshape(1, len(picks))


def paths_of(written, tree):
    for row in written.picks.tolist():
        yield tuple(itertools.takewhile(lambda pick: pick != tree.eos, row))


# ---- Thm. 1: the base model is PART


@readouts
def test_the_base_models_next_pick_is_parts_in_closed_form(tree, readout):
    model, part = TreeTransformer(tree, readout=readout), Part(tree)
    difference = max(
        np.abs(model.probabilities(level) - part.probabilities(level)).max() for level in tree.chains()
    )
    assert difference <= 1e-6


@readouts
def test_the_base_models_next_pick_is_parts_by_the_literal_forward_pass(tree, readout):
    model, part = TreeTransformer(tree, readout=readout), Part(tree)
    inputs = tree.draw_inputs(2, np.random.default_rng(0))
    with torch.no_grad():
        difference = max(
            np.abs(literal_law(model, picks, inputs).exp().numpy() - part.probabilities(as_batch(picks))).max()
            for picks in reachable(tree)
        )
    assert difference <= 1e-6


def test_chains_the_base_model_writes_follow_parts_exact_law(tree, part_law, fit):
    inputs = tree.draw_inputs(COUNT, np.random.default_rng(1))
    written = TreeTransformer(tree).generate(inputs, torch.Generator().manual_seed(1))
    assert fit(paths_of(written, tree), part_law(tree)) > LEVEL


def test_the_log_probabilities_of_a_written_chain_sum_to_that_of_its_path_under_part(tree):
    inputs = tree.draw_inputs(200, np.random.default_rng(2))
    written = TreeTransformer(tree).generate(inputs, torch.Generator().manual_seed(2))
    expected = [Part(tree).log_probability(path) for path in paths_of(written, tree)]
    assert written.log_probs.sum(1).tolist() == pytest.approx(expected, abs=1e-9)


# ---- closed form and Eq. (forward)


@readouts
@pytest.mark.parametrize("encodings", ["standard", "random"])
def test_the_literal_forward_pass_equals_the_closed_form_for_random_weights(tree, readout, encodings):
    positions = random_positions(tree) if encodings == "random" else None
    inputs = tree.draw_inputs(2, np.random.default_rng(3))
    for seed in range(2):
        model = TreeTransformer(tree, random_weights(tree, seed), readout, positions)
        with torch.no_grad():
            for picks in reachable(tree):
                literal = literal_law(model, picks, inputs).exp().numpy()
                assert np.abs(literal - model.probabilities(as_batch(picks))).max() <= 1e-9


def test_random_orthonormal_encodings_only_rotate_the_weights(tree):
    W, P = random_weights(tree), random_positions(tree)
    plain = TreeTransformer(tree, W)
    rotated = TreeTransformer(tree, P.T @ W @ P, positions=P)
    for level in tree.chains():
        assert np.abs(plain.probabilities(level) - rotated.probabilities(level)).max() < 1e-9


def test_the_next_pick_does_not_depend_on_the_input(tree):
    model = TreeTransformer(tree, random_weights(tree), positions=random_positions(tree))
    inputs = tree.draw_inputs(30, np.random.default_rng(4))
    *_, deepest = tree.chains()
    with torch.no_grad():
        law = literal_law(model, tuple(deepest[0].tolist()), inputs).exp()
    assert (law - law[0]).abs().max().item() < 1e-12


def test_the_root_attends_to_the_tokens_before_it_so_eos_is_never_picked_there(tree):
    W = random_weights(tree)
    W[tree.eos, tree.eos] = 1e3
    model = TreeTransformer(tree, W)
    inputs = tree.draw_inputs(2, np.random.default_rng(5))
    with torch.no_grad():
        assert (literal_law(model, (), inputs)[:, tree.eos] == -torch.inf).all()
    assert model.probabilities(as_batch(()))[0, tree.eos] == 0


# ---- generation


@readouts
def test_chains_written_with_random_weights_follow_the_policys_law(readout, policy_law, fit):
    tree = Parity(4)
    model = TreeTransformer(tree, random_weights(tree), readout, random_positions(tree))
    inputs = tree.draw_inputs(COUNT, np.random.default_rng(6))
    written = model.generate(inputs, torch.Generator().manual_seed(6))
    assert fit(paths_of(written, tree), policy_law(model)) > LEVEL


def test_chains_of_every_task_written_with_random_weights_follow_the_policys_law(tree, policy_law, fit):
    model = TreeTransformer(tree, random_weights(tree, scale=0.7))
    inputs = tree.draw_inputs(COUNT, np.random.default_rng(7))
    written = model.generate(inputs, torch.Generator().manual_seed(7))
    assert fit(paths_of(written, tree), policy_law(model)) > LEVEL


def test_the_tokens_written_are_the_states_of_the_picks_and_then_eos(tree):
    inputs = tree.draw_inputs(300, np.random.default_rng(8))
    model = TreeTransformer(tree, random_weights(tree))
    written = model.generate(inputs, torch.Generator().manual_seed(8))
    assert written.picks.shape == (300, tree.max_depth + 1)
    eos = tree.eos_token.tolist()
    for row, path in enumerate(paths_of(written, tree)):
        states = [state[0].tolist() for state in chain_states(tree, inputs[row : row + 1], path)]
        padding = [eos] * (tree.max_depth + 1 - len(path))
        assert written.tokens[row].tolist() == states + padding
        assert (written.picks[row, len(path) :] == tree.eos).all()


def test_the_log_probabilities_written_are_those_of_the_picks(tree):
    model = TreeTransformer(tree, random_weights(tree), Readout("direct", 0.8))
    inputs = tree.draw_inputs(100, np.random.default_rng(9))
    written = model.generate(inputs, torch.Generator().manual_seed(9))
    for row, path in enumerate(paths_of(written, tree)):
        for depth, pick in enumerate((*path, tree.eos)):
            expected = math.log(model.probabilities(as_batch(path[:depth]))[0, pick])
            assert written.log_probs[row, depth].item() == pytest.approx(expected, abs=1e-9)
        assert (written.log_probs[row, len(path) + 1 :] == 0).all()


def test_the_same_generator_seed_writes_the_same_chains_and_another_seed_others(tree):
    inputs = tree.draw_inputs(200, np.random.default_rng(10))
    model = TreeTransformer(tree, random_weights(tree))
    one, again, other = (
        model.generate(inputs, torch.Generator().manual_seed(seed)).picks for seed in (3, 3, 4)
    )
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


# ---- the gradient


@readouts
@pytest.mark.parametrize("d", [2, 5, 9])
def test_the_score_of_a_pick_fills_the_querys_column_of_w_with_the_closed_form(readout, d):
    tree = Parity(d)
    model = TreeTransformer(tree, random_weights(tree, d), readout)
    for picks in [(), *((pick,) for pick in range(d))]:
        query = picks[-1] if picks else tree.eos
        legal = torch.from_numpy(tree.legal_mask(as_batch(picks)))[0]
        logits = model.W.detach()[:, query]
        for pick in tree.legal(picks):
            score = readout.score(logits, legal, torch.eye(d + 1, dtype=torch.float64)[pick])
            model.zero_grad()
            model.log_probabilities(as_batch(picks))[0, pick].backward()
            expected = torch.zeros_like(model.W)
            expected[:, query] = score
            assert (model.W.grad - expected).abs().max().item() <= 1e-6


@readouts
def test_with_any_orthonormal_encodings_the_score_is_the_lemmas_sum_of_outer_products(readout):
    tree = Parity(5)
    P = random_positions(tree)
    model = TreeTransformer(tree, random_weights(tree), readout, P)
    for picks in [(), (1,), (0, 3)]:
        query = picks[-1] if picks else tree.eos
        legal = torch.from_numpy(tree.legal_mask(as_batch(picks)))[0]
        logits = (P @ model.W.detach() @ P.T)[:, query]
        for pick in tree.legal(picks):
            score = readout.score(logits, legal, torch.eye(tree.d + 1, dtype=torch.float64)[pick])
            model.zero_grad()
            model.log_probabilities(as_batch(picks))[0, pick].backward()
            expected = torch.einsum("k,ke,f->ef", score, P, P[query])
            assert (model.W.grad - expected).abs().max().item() <= 1e-6


@readouts
def test_the_literal_forward_pass_has_the_gradient_of_the_closed_form(readout):
    tree = Parity(4)
    model = TreeTransformer(tree, random_weights(tree), readout)
    inputs = tree.draw_inputs(1, np.random.default_rng(11))
    for picks in [(), (1,), (0, 2)]:
        for pick in tree.legal(picks):
            gradients = []
            for law in (model.log_probabilities(as_batch(picks)), literal_law(model, picks, inputs)):
                model.zero_grad()
                law[0, pick].backward()
                gradients.append(model.W.grad.clone())
            assert torch.isfinite(gradients[1]).all()
            assert (gradients[0] - gradients[1]).abs().max().item() <= 1e-9


def test_only_w_is_trainable(tree):
    assert [name for name, _ in TreeTransformer(tree).named_parameters()] == ["W"]


def test_the_model_keeps_its_own_copy_of_the_weights_it_was_given():
    W = torch.zeros(4, 4, dtype=torch.float64)
    model = TreeTransformer(Parity(3), W)
    W[0, 3] = 9.0
    assert (model.W == 0).all()
