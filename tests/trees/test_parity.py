"""Facts of Sec. "Concrete Example: Parity Problem"."""

import itertools

import numpy as np
import pytest

from stepladder.trees import Parity, Target


@pytest.mark.parametrize("d", range(1, 7))
def test_the_value_is_one_exactly_if_the_sum_over_the_secret_is_odd(d):
    tree = Parity(d)
    inputs = tree.all_inputs()
    for k in range(1, d + 1):
        for secret in itertools.combinations(range(d), k):
            odd = inputs[:, list(secret)].sum(axis=1) % 2
            assert Target(tree, secret).value(inputs).tolist() == odd.tolist()


def test_each_state_is_the_one_before_xor_the_next_secret_bit():
    tree = Parity(6)
    secret = (1, 2, 4, 5)
    inputs = tree.all_inputs()
    chain = Target(tree, secret).chain(inputs)
    assert (chain[:, 0] == inputs[:, 1]).all()
    for depth, pick in enumerate(secret[1:], start=1):
        assert (chain[:, depth] == chain[:, depth - 1] ^ inputs[:, pick]).all()


def test_the_root_offers_the_d_inputs_and_position_i_offers_those_after_it_and_eos():
    tree = Parity(7)
    assert tree.legal() == tuple(range(7))
    for i in range(7):
        assert tree.legal((i,)) == tuple(range(i + 1, 8))


def test_the_vocabulary_is_two_bits_and_eos():
    assert Parity(3).alphabet == 2
    assert int(Parity(3).eos_token) == 2
    assert np.unique(Parity(3).all_inputs()).tolist() == [0, 1]
