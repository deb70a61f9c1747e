""" "Markov-chain reasoning (step(z, v) = phi(z) for some phi)"."""

import numpy as np

from stepladder.trees import MarkovChain, Target


def test_after_the_first_pick_the_state_ignores_the_clue():
    tree = MarkovChain(d=3, alphabet=5)
    states = np.arange(5, dtype=tree.token_type)
    for depth in range(2, 5):
        nexts = {tuple(tree.step(depth, states, np.full_like(states, clue)).tolist()) for clue in range(5)}
        assert len(nexts) == 1


def test_the_state_moves_on_by_one_fixed_map_phi():
    tree = MarkovChain(d=3, alphabet=4)
    inputs = tree.all_inputs()
    chain = Target(tree, (1, 0, 0, 2)).chain(inputs)
    phi = {}
    for depth in range(1, 4):
        for before, after in zip(chain[:, depth - 1].tolist(), chain[:, depth].tolist(), strict=True):
            assert phi.setdefault(before, after) == after
    assert sorted(phi.values()) == [0, 1, 2, 3]


def test_the_first_pick_reads_where_the_walk_starts():
    tree = MarkovChain(d=3, alphabet=4)
    inputs = tree.all_inputs()
    for start in range(3):
        assert (Target(tree, (start,)).value(inputs) == inputs[:, start]).all()


def test_positions_may_be_picked_again_and_in_any_order():
    tree = MarkovChain(d=3, alphabet=4)
    assert tree.legal((2, 0)) == (0, 1, 2, 3)
    assert Target(tree, (2, 0, 0, 2)).k == 4
