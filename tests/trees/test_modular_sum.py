"""Sums modulo the alphabet: parity's generalisation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.trees import ModularSum, Parity, Target


@given(st.data(), st.integers(2, 300), st.integers(1, 8))
def test_the_value_is_the_sum_over_the_secret_modulo_the_alphabet(data, alphabet, d):
    # 127 is the largest alphabet kept in bytes: sums of two letters must not wrap round at 256.
    tree = ModularSum(d, alphabet)
    secret = tuple(sorted(data.draw(st.sets(st.integers(0, d - 1), min_size=1))))
    letters = data.draw(st.lists(st.integers(0, alphabet - 1), min_size=d, max_size=d))
    inputs = np.array([letters], dtype=tree.token_type)
    expected = sum(letters[pick] for pick in secret) % alphabet
    assert Target(tree, secret).value(inputs).tolist() == [expected]


@pytest.mark.parametrize("alphabet", [126, 127, 128, 129, 255, 256, 257])
def test_the_largest_letters_add_up_without_wrapping_around_a_byte(alphabet):
    tree = ModularSum(4, alphabet)
    inputs = np.full((1, 4), alphabet - 1, dtype=tree.token_type)
    assert Target(tree, (0, 1, 2, 3)).value(inputs).tolist() == [alphabet - 4]


def test_modulo_two_it_is_parity():
    binary, parity = ModularSum(5, 2), Parity(5)
    inputs = parity.all_inputs()
    assert [level.tolist() for level in binary.chains()] == [level.tolist() for level in parity.chains()]
    for level in list(parity.chains())[1:]:
        for picks in map(tuple, level.tolist()):
            ours, theirs = Target(binary, picks).value(inputs), Target(parity, picks).value(inputs)
            assert (ours == theirs).all()
