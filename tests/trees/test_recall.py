""" "Induction-head for associative recall (step(z, v) = v)"."""

import itertools

import numpy as np

from stepladder.trees import Recall, Target


def test_the_state_equals_the_clue_whatever_the_state_before():
    tree = Recall(d=3, alphabet=4)
    for state, clue in itertools.product(range(5), range(4)):
        for depth in range(1, 4):
            found = tree.step(depth, np.array([state], tree.token_type), np.array([clue], tree.token_type))
            assert found.tolist() == [clue]


def test_the_answer_is_the_last_fact_looked_up():
    tree = Recall(d=4, alphabet=3)
    inputs = tree.all_inputs()
    for picks in itertools.permutations(range(4), 3):
        assert (Target(tree, picks).value(inputs) == inputs[:, picks[-1]]).all()


def test_a_fact_is_looked_up_at_most_once_but_in_any_order():
    assert Recall(4).legal((2, 0)) == (1, 3, 4)
