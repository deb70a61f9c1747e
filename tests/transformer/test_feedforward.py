"""The feed-forward blocks against the step maps, with the paper's erratum on its XOR block."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stepladder.errors import InputError
from stepladder.transformer import RatioFFN, TableFFN, XorFFN, feedforward
from stepladder.trees import Countdown, ModularSum, Parity, Recall

EOS = 2
BITS = (0, 1)


def xor(clue: int, state: int) -> int:
    return XorFFN()(1, torch.tensor([clue]), torch.tensor([state])).item()


def step(clue: int, state: int) -> int:
    """The step map of the paper's parity convention."""
    tree = Parity(3)
    return int(tree.step(2, np.array([state], tree.token_type), np.array([clue], tree.token_type))[0])


# ---- Eq. FFN_XOR_W


@pytest.mark.parametrize(("clue", "state"), list(itertools.product(BITS, BITS)))
def test_the_papers_xor_block_is_right_for_the_four_pairs_of_bits(clue, state):
    assert xor(clue, state) == step(clue, state) == clue ^ state


@pytest.mark.parametrize("clue", BITS)
def test_the_papers_xor_block_is_right_for_the_empty_state(clue):
    assert xor(clue, EOS) == step(clue, EOS) == clue


@pytest.mark.parametrize(("state", "wrong"), [(0, 0), (1, 1), (EOS, 0)])
def test_the_papers_xor_block_is_wrong_whenever_the_clue_is_eos(state, wrong):
    assert step(EOS, state) == EOS
    assert xor(EOS, state) == wrong


def test_the_papers_xor_block_cannot_tell_its_two_inputs_apart():
    for clue, state in itertools.product((*BITS, EOS), repeat=2):
        assert xor(clue, state) == xor(state, clue)


def test_the_xor_block_holds_the_papers_matrices():
    block = XorFFN()
    assert block.W1.tolist() == [[0.5, 0.5, 0.5], [0, 1, 0], [-0.5, 0.5, -0.5]]
    assert block.W2.tolist() == [[1, -1, 2], [0, 1, -2], [0, 0, 0]]


@pytest.mark.parametrize(("clue", "state"), list(itertools.product((*BITS, EOS), repeat=2)))
def test_the_xor_blocks_output_is_the_embedding_of_its_token_exactly(clue, state):
    block, embedding = XorFFN(), torch.eye(3, dtype=torch.float64)
    hidden = torch.relu(block.W1 @ (embedding[clue] + embedding[state]))
    assert torch.equal(block.W2 @ hidden, embedding[xor(clue, state)])


# ---- finite tables


def test_the_table_block_equals_the_step_map_on_all_pairs_at_all_depths(finite_tree):
    tree = finite_tree
    block = TableFFN(tree)
    pairs = list(itertools.product(range(tree.alphabet + 1), repeat=2))
    clue, state = (np.array(column, dtype=tree.token_type) for column in zip(*pairs, strict=True))
    for depth in range(1, tree.max_depth + 1):
        found = block(depth, *(torch.from_numpy(side.astype(np.int64)) for side in (clue, state)))
        assert found.tolist() == tree.step(depth, state, clue).tolist()


def test_an_alphabet_of_64_still_has_a_table_and_65_is_refused():
    tree = Recall(2, 64)
    assert TableFFN(tree)(1, torch.tensor([63]), torch.tensor([64])).tolist() == [63]
    with pytest.raises(InputError, match=r"64.*65"):
        TableFFN(Recall(2, 65))


# ---- ratios

ratios = st.fractions(-1000, 1000, max_denominator=1000)


@given(st.lists(st.tuples(ratios, st.integers(0, 3), st.integers(1, 100)), min_size=1, max_size=20))
def test_the_ratio_block_equals_fraction_arithmetic_and_countdowns_step_map(rows):
    state = np.array([[before.numerator, before.denominator] for before, _, _ in rows])
    clue = np.array([[operation, number] for _, operation, number in rows])
    found = RatioFFN()(2, torch.from_numpy(clue), torch.from_numpy(state)).tolist()
    for (before, operation, number), (top, bottom) in zip(rows, found, strict=True):
        after = (before + number, before - number, before * number, before / Fraction(number))[operation]
        assert (top, bottom) == (after.numerator, after.denominator)
    assert found == Countdown(2).combine(2, state, clue).tolist()


@given(st.integers(1, 100))
def test_the_ratio_block_takes_the_first_number_as_it_is(number):
    found = RatioFFN()(1, torch.tensor([[0, number]]), torch.tensor([[0, 0]]))
    assert found.tolist() == [[number, 1]]


# ---- which block a tree gets


def test_every_tree_gets_the_block_that_replicates_its_step_map(tree):
    block = feedforward(tree)
    rng = np.random.default_rng(0)
    inputs = tree.draw_inputs(60, rng)
    state = np.broadcast_to(tree.eos_token, (60, *tree.eos_token.shape)).astype(tree.token_type)
    for depth in range(1, tree.max_depth + 1):
        # At the first step Countdown only takes a number: operation +.
        count = tree.slots if depth == 1 else tree.d
        clue = tree.clue(inputs, rng.integers(0, count, size=60))
        found = block(depth, *(torch.from_numpy(side.astype(np.int64)) for side in (clue, state)))
        state = tree.step(depth, state, clue)
        assert found.tolist() == state.tolist()


def test_parity_gets_the_papers_block_and_countdown_exact_arithmetic():
    assert isinstance(feedforward(Parity(3)), XorFFN)
    assert isinstance(feedforward(Countdown(2)), RatioFFN)
    assert isinstance(feedforward(ModularSum(3)), TableFFN)


def test_the_atomic_skills_are_frozen():
    for block in (XorFFN(), TableFFN(ModularSum(3)), RatioFFN()):
        assert not list(block.parameters())
