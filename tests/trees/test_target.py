"""Facts of Def. 1 about one path: it is legal or refused by name, its chain, its subtask family."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.errors import InputError
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

SMALL = (
    Parity(3),
    ModularSum(3),
    Countdown(numbers=2),
    MarkovChain(2, alphabet=3),
    Recall(3),
    CausalGraph(3, edges=((0, 1), (1, 2))),
    Translation(3, alphabet=2),
)


def some_inputs(target):
    return target.tree.draw_inputs(20, np.random.default_rng(target.k))


@pytest.mark.parametrize("tree", SMALL, ids=lambda tree: tree.name)
def test_a_tuple_of_positions_is_a_target_exactly_if_it_is_a_legal_path(tree):
    legal = {tuple(row.tolist()) for level in tree.chains() for row in level} - {()}
    for length in range(tree.max_depth + 2):
        for picks in itertools.product(range(-1, tree.d + 1), repeat=length):
            if picks in legal:
                assert Target(tree, picks).picks == picks
            else:
                with pytest.raises(InputError):
                    Target(tree, picks)


@given(st.from_type(Target))
def test_the_path_is_the_picks_and_then_eos(target):
    assert target.path == (*target.picks, target.tree.d)
    assert target.k == len(target.picks)


@pytest.mark.parametrize(
    ("tree", "picks", "problem"),
    [
        (Parity(4), (), "empty"),
        (Parity(4), (4,), r"position 4, outside 0\.\.3"),
        (Parity(4), (-1, 2), r"position -1, outside 0\.\.3"),
        (Parity(4), (0, 9), r"position 9, outside 0\.\.3"),
        (Parity(4), (1, 1), r"repeats position 1.*2,3$"),
        (Parity(4), (2, 0), r"back from position 2 to 0.*3$"),
        (Parity(4), (3, 0), r"must end"),
        (Parity(2), (0, 1, 1), r"too deep.*at most 2 picks, got 3"),
        (ModularSum(4), (2, 1), "back from position 2 to 1"),
        (Recall(3), (0, 2, 0), "repeats position 0"),
        (Translation(5, alphabet=2), (0, 1, 2), r"too deep.*at most 2 picks, got 3"),
        (MarkovChain(2, alphabet=2), (0, 0, 0), r"too deep.*at most 2 picks, got 3"),
        (CausalGraph(4, edges=((0, 2), (2, 3))), (0, 1), r"position 1.*legal.*: 2$"),
        (CausalGraph(4), (2, 1), "back from position 2 to 1"),
        (Countdown(4), (5,), r"position 5 .*0,1,2,3$"),
        (Countdown(4), (0, 8), r"position 8, which an earlier pick used up.*1,2,3,5,6,7"),
    ],
)
def test_an_illegal_path_is_refused_with_the_problem_and_the_secret_named(tree, picks, problem):
    with pytest.raises(InputError, match=problem) as refusal:
        Target(tree, picks)
    assert "secret" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_reusing_a_number_of_countdown_is_not_called_going_back():
    # x0 is used up by the first pick; going back from position 7 to a lower one is legal here.
    tree = Countdown(4)
    assert Target(tree, (0, 7, 5)).k == 3
    with pytest.raises(InputError) as refusal:
        Target(tree, (0, 7, 4))
    assert "goes back" not in str(refusal.value)


@given(st.from_type(Target))
def test_the_subtask_family_is_nested_and_ends_in_the_target_itself(target):
    family = target.family
    assert len(family) == target.k
    assert family[-1] == target
    for depth, subtask in enumerate(family, start=1):
        assert subtask.picks == target.picks[:depth]
        assert subtask.path == (*target.picks[:depth], target.tree.eos)
        assert subtask.family == family[:depth]


@given(st.from_type(Target))
def test_the_token_right_before_eos_is_the_value_and_eos_is_last(target):
    inputs = some_inputs(target)
    chain = target.chain(inputs)
    assert chain.shape[:2] == (len(inputs), target.k + 1)
    assert target.tree.same(chain[:, -1], target.tree.eos_token).all()
    assert target.tree.same(chain[:, -2], target.value(inputs)).all()
    assert not target.tree.same(chain[:, :-1], target.tree.eos_token).any()


@given(st.from_type(Target))
def test_every_state_of_the_chain_is_the_value_of_a_subtask(target):
    inputs = some_inputs(target)
    chain = target.chain(inputs)
    for depth, subtask in enumerate(target.family, start=1):
        assert target.tree.same(chain[:, depth - 1], subtask.value(inputs)).all()


@pytest.mark.parametrize("depth", [-1, 0, 4])
def test_a_subtask_depth_outside_one_to_k_is_refused(depth):
    with pytest.raises(InputError, match=rf"between 1 and 3, got {depth}"):
        Target(Parity(5), (0, 1, 2)).prefix(depth)


def test_a_target_given_as_numpy_integers_equals_the_same_target_given_as_integers():
    given_as_array = Target(Parity(5), tuple(np.array([0, 3])))
    assert given_as_array == Target(Parity(5), (0, 3))
    assert hash(given_as_array) == hash(Target(Parity(5), (0, 3)))
