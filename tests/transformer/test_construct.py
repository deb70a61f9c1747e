"""Facts of Thm. 1 and of the Representation Theorem: W that realises PART, W that realises a path."""

import itertools

import numpy as np
import pytest
import torch

from stepladder.errors import InputError
from stepladder.transformer import Readout, TreeTransformer, base_weights, path_weights
from stepladder.trees import (
    CausalGraph,
    Countdown,
    MarkovChain,
    ModularSum,
    Parity,
    Recall,
    Target,
    Translation,
)

ONE_TARGET_OF_EACH = [
    Target(ModularSum(4, 3), (0, 2, 3)),
    Target(Countdown(4, 5), (1, 11, 2, 12)),
    Target(MarkovChain(3, 4), (2, 0, 1)),
    Target(Recall(4, 3), (2, 0, 1)),
    Target(CausalGraph(4, 3, ((0, 2), (2, 3))), (0, 2, 3)),
    Target(Translation(4, 4), (3, 1, 0)),
]


def assert_writes_the_papers_chain(target, **options):
    """Generate on every input and compare picks, tokens and probabilities with the target's."""
    tree, inputs = target.tree, target.tree.all_inputs()
    model = TreeTransformer(tree, path_weights(target), **options)
    written = model.generate(inputs, torch.Generator().manual_seed(0))
    steps = target.k + 1
    assert (written.picks[:, :steps].numpy() == np.array(target.path)).all()
    assert (written.tokens[:, :steps].numpy() == target.chain(inputs)).all()
    assert (written.picks[:, steps:] == tree.eos).all()
    assert (written.tokens[:, steps:].numpy() == tree.eos_token).all()
    assert (written.log_probs == 0).all()


@pytest.mark.parametrize("size", [1, 2, 3])
def test_for_every_parity_of_up_to_d_over_2_bits_some_w_writes_the_papers_chain_on_every_input(size):
    for secret in itertools.combinations(range(6), size):
        assert_writes_the_papers_chain(Target(Parity(6), secret))


def test_parities_of_more_than_d_over_2_bits_are_realised_as_well():
    for size in (4, 5, 6):
        for secret in itertools.combinations(range(6), size):
            assert_writes_the_papers_chain(Target(Parity(6), secret))


@pytest.mark.parametrize("target", ONE_TARGET_OF_EACH, ids=lambda target: target.tree.name)
def test_a_path_of_every_other_task_is_realised_on_every_input(target):
    assert_writes_the_papers_chain(target)


def test_a_warm_direct_readout_still_realises_the_path():
    assert_writes_the_papers_chain(Target(Parity(5), (0, 3)), readout=Readout("direct", 5.0))


def test_a_path_that_goes_on_in_two_ways_from_a_position_is_refused_with_the_reason():
    target = Target(MarkovChain(3, alphabet=5), (0, 1, 0))
    with pytest.raises(InputError, match=r"\[0,1,0\] goes on in two ways from position 0"):
        path_weights(target)


def test_such_a_path_cannot_be_realised_because_w_sees_the_last_pick_only():
    tree = MarkovChain(3, alphabet=5)
    W = torch.randn(4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    model = TreeTransformer(tree, W)
    once, again = model.probabilities(np.array([[0]])), model.probabilities(np.array([[0, 1, 0]]))
    assert (once == again).all()


def test_the_base_weights_are_zero_for_every_pair_of_positions(tree):
    W = base_weights(tree)
    assert W.shape == (tree.d + 1, tree.d + 1)
    assert W.dtype == torch.float64
    assert (W == 0).all()


def test_path_weights_have_one_entry_for_each_pick_and_one_for_eos():
    target = Target(Parity(5), (0, 2, 3))
    W = path_weights(target, strength=7.0)
    entries = {tuple(entry) for entry in torch.nonzero(W).tolist()}
    # (key, query): the root, position 5, attends to 0; then 0 to 2, 2 to 3 and 3 to EOS.
    assert entries == {(0, 5), (2, 0), (3, 2), (5, 3)}
    assert W.sum().item() == 7.0 * 4
