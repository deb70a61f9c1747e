""" "Causal-graph reasoning (step(z, v) = phi(v) for some phi)"."""

import itertools

import numpy as np
import pytest

from stepladder.errors import InputError
from stepladder.trees import CausalGraph, Parity, Target


def test_the_state_is_one_fixed_map_phi_of_the_clue_alone():
    tree = CausalGraph(d=3, alphabet=4)
    phi = {}
    for depth, state, clue in itertools.product(range(1, 4), range(5), range(4)):
        found = tree.step(depth, np.array([state], tree.token_type), np.array([clue], tree.token_type))
        assert phi.setdefault(clue, found.item()) == found.item()
    assert sorted(phi.values()) == [0, 1, 2, 3]
    assert phi != {clue: clue for clue in range(4)}


def test_a_chain_follows_the_edges_of_the_graph_or_ends():
    edges = ((0, 2), (0, 4), (2, 3))
    tree = CausalGraph(d=5, edges=edges)
    assert tree.legal() == (0, 1, 2, 3, 4)
    for node in range(5):
        assert tree.legal((node,)) == (*sorted(b for a, b in edges if a == node), 5)


def test_without_edges_given_the_graph_is_complete_and_ordered():
    assert (CausalGraph(d=5).follows == Parity(5).follows).all()


def test_a_graph_with_no_edges_at_all_has_one_path_per_node():
    paths = [row.tolist() for level in CausalGraph(d=3, edges=()).chains() for row in level]
    assert paths == [[], [0], [1], [2]]


@pytest.mark.parametrize("edge", [(1, 0), (2, 2), (0, 3), (-1, 2)])
def test_an_edge_that_does_not_go_forward_inside_the_graph_is_refused_by_name(edge):
    with pytest.raises(InputError, match=rf"{edge[0]}->{edge[1]}.*0\.\.2"):
        CausalGraph(d=3, edges=((0, 1), edge))


def test_the_value_is_that_of_the_last_node_alone():
    tree = CausalGraph(d=4, alphabet=3)
    inputs = tree.all_inputs()
    assert (Target(tree, (0, 1, 3)).value(inputs) == Target(tree, (2, 3)).value(inputs)).all()
