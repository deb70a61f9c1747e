"""Facts of Def. 1 that hold for every tree: legal picks, the step map, chains and inputs."""

import itertools
import math

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
    Tree,
)
from stepladder.trees.tree import chain_states

LEVEL = 1e-3
"""Of all chi-square tests of this file together."""

INPUT_TREES = [Parity(3), ModularSum(2, 4), ModularSum(2, 3), Recall(2, 5), Countdown(2, 6)]

ORDERED = (Parity, ModularSum, CausalGraph)
USED_ONCE = (*ORDERED, Recall, Translation)


def rule(tree: Tree, picks: tuple[int, ...]) -> set[int]:
    """The legal picks as the task's sentence in the paper says them, without the tree's own tables."""
    inputs = set(range(tree.d))
    if not picks:
        return set(range(tree.numbers)) if isinstance(tree, Countdown) else inputs
    if len(picks) == tree.max_depth:
        return {tree.d}
    last = picks[-1]
    match tree:
        case CausalGraph(edges=edges) if edges is not None:
            onward = {effect for cause, effect in edges if cause == last}
        case Parity() | ModularSum() | CausalGraph():
            onward = {j for j in inputs if j > last}
        case Recall() | Translation():
            onward = inputs - set(picks)
        case Countdown():
            used = {pick % tree.numbers for pick in picks}
            onward = {j for j in inputs if j % tree.numbers not in used}
        case MarkovChain():
            onward = inputs
    return onward | {tree.d}


def encoded(tree: Tree, tokens: list[int]) -> np.ndarray:
    return np.asarray(tokens, dtype=tree.token_type)


# ---- legality


@given(st.from_type(Target))
def test_the_legal_picks_after_every_prefix_are_those_of_the_tasks_own_sentence(target):
    for depth in range(target.k + 1):
        picks = target.picks[:depth]
        assert set(target.tree.legal(picks)) == rule(target.tree, picks)


@given(st.from_type(Tree))
def test_eos_is_illegal_at_the_root(tree):
    assert tree.eos not in tree.legal()
    assert tree.legal()


@given(st.from_type(Target))
def test_eos_is_legal_after_every_pick(target):
    for depth in range(1, target.k + 1):
        assert target.tree.eos in target.tree.legal(target.picks[:depth])


@given(st.from_type(Target).filter(lambda target: isinstance(target.tree, USED_ONCE)))
def test_a_used_position_is_never_legal_again_where_repeats_are_forbidden(target):
    assert not set(target.tree.legal(target.picks)) & set(target.picks)


@given(st.from_type(Target).filter(lambda target: isinstance(target.tree, ORDERED)))
def test_a_lower_position_is_never_legal_where_the_order_is_strict(target):
    assert min(target.tree.legal(target.picks)) > target.picks[-1]


def test_only_eos_is_legal_at_the_deepest_level(tree):
    *_, deepest = tree.chains()
    for picks in deepest:
        if len(picks) == tree.max_depth:
            assert tree.legal(tuple(picks)) == (tree.eos,)


def test_a_batch_of_legal_masks_equals_the_legal_picks_row_by_row(tree):
    for level in tree.chains():
        for picks, mask in zip(level, tree.legal_mask(level), strict=True):
            assert tuple(np.flatnonzero(mask)) == tree.legal(tuple(picks))


# ---- the step map


def test_eos_as_a_clue_absorbs_every_state_at_every_depth(finite_tree):
    tree = finite_tree
    states = encoded(tree, list(range(tree.alphabet + 1)))
    clues = np.full_like(states, tree.eos_token)
    for depth in range(1, tree.max_depth + 1):
        assert (tree.step(depth, states, clues) == tree.eos_token).all()


def test_eos_as_a_clue_absorbs_every_ratio_of_countdown():
    tree = Countdown(numbers=2)
    states = np.array([[0, 0], [0, 1], [3, 4], [-7, 2]])
    assert tree.same(tree.step(2, states, np.zeros_like(states)), tree.eos_token).all()


def test_the_step_map_never_returns_eos_for_a_letter(finite_tree):
    tree = finite_tree
    pairs = itertools.product(range(tree.alphabet + 1), range(tree.alphabet))
    states, clues = (encoded(tree, list(column)) for column in zip(*pairs, strict=True))
    for depth in range(1, tree.max_depth + 1):
        assert (tree.step(depth, states, clues) < tree.alphabet).all()


def test_the_state_eos_means_that_the_chain_has_no_state_yet(finite_tree):
    tree = finite_tree
    clues = encoded(tree, list(range(tree.alphabet)))
    empty = np.full_like(clues, tree.eos_token)
    assert tree.step(1, empty, clues).tolist() == tree.first(1, clues).tolist()


@pytest.mark.parametrize("tree", [Parity(2), ModularSum(2), MarkovChain(2), Recall(2)], ids=repr)
def test_the_first_clue_becomes_the_state_unchanged_as_the_paper_has_it(tree):
    clues = encoded(tree, list(range(tree.alphabet)))
    assert tree.step(1, np.full_like(clues, tree.eos_token), clues).tolist() == clues.tolist()


def test_the_states_of_a_chain_are_the_full_step_map_folded_from_eos(tree):
    inputs = tree.all_inputs()
    *_, deepest = tree.chains()
    for picks in deepest[:20]:
        state = np.broadcast_to(tree.eos_token, (len(inputs), *tree.eos_token.shape))
        folded = []
        for depth, pick in enumerate(picks, start=1):
            state = tree.step(depth, state, tree.clue(inputs, int(pick)))
            folded.append(state)
        direct = chain_states(tree, inputs, tuple(int(pick) for pick in picks))
        assert all(tree.same(a, b).all() for a, b in zip(folded, direct, strict=True))


def test_clues_at_one_position_and_at_a_position_per_row_agree(tree):
    inputs = tree.draw_inputs(50, np.random.default_rng(0))
    for position in range(tree.d):
        per_row = tree.clue(inputs, np.full(50, position))
        assert tree.same(tree.clue(inputs, position), per_row).all()


# ---- chains


def test_chains_lists_every_legal_chain_exactly_once_and_level_by_level(tree):
    def walk(picks):
        yield picks
        for pick in sorted(rule(tree, picks) - {tree.eos}):
            yield from walk((*picks, pick))

    levels = list(tree.chains())
    assert [level.shape[1] for level in levels] == list(range(len(levels)))
    listed = [tuple(int(pick) for pick in row) for level in levels for row in level]
    assert len(listed) == len(set(listed))
    assert set(listed) == set(walk(()))


def test_chains_from_a_start_are_those_that_begin_with_it(tree):
    start = tree.legal()[:1]
    below = {tuple(row.tolist()) for level in tree.chains(start) for row in level}
    everything = {tuple(row.tolist()) for level in tree.chains() for row in level}
    assert below == {chain for chain in everything if chain[:1] == start}


@pytest.mark.parametrize("d", range(1, 9))
def test_parity_has_d_choose_k_paths_of_k_picks(d):
    assert [len(level) for level in Parity(d).chains()] == [math.comb(d, k) for k in range(d + 1)]


def test_a_tree_too_large_to_enumerate_is_refused_with_its_name_and_the_limit():
    with pytest.raises(InputError, match=r"parity.*d=12.*1,000"):
        list(Parity(12).chains(limit=1000))


# ---- inputs


def test_all_inputs_lists_every_input_once(tree):
    inputs = tree.all_inputs()
    letters = itertools.product(range(tree.alphabet), repeat=tree.slots)
    assert sorted(map(tuple, inputs.tolist())) == sorted(letters)


def test_all_inputs_over_some_slots_leaves_the_others_at_letter_zero():
    inputs = ModularSum(5, 3).all_inputs([1, 4])
    assert sorted(map(tuple, inputs.tolist())) == [(0, a, 0, 0, b) for a in range(3) for b in range(3)]


def test_too_many_inputs_to_list_are_refused_with_their_number():
    with pytest.raises(InputError, match="1,048,576"):
        Parity(20).all_inputs(limit=1 << 19)


@pytest.mark.parametrize("tree", INPUT_TREES, ids=repr)
def test_drawn_inputs_are_uniform_and_independent_over_all_slots(tree, fit):
    count = tree.alphabet**tree.slots
    law = dict.fromkeys(itertools.product(range(tree.alphabet), repeat=tree.slots), 1 / count)
    drawn = tree.draw_inputs(40_000, np.random.default_rng(3))
    assert drawn.shape == (40_000, tree.slots)
    assert fit(map(tuple, drawn.tolist()), law) > LEVEL / len(INPUT_TREES)


# ---- what a user may ask for


@pytest.mark.parametrize(
    ("build", "named"),
    [
        (lambda: Parity(0), r"\bd\b.*got 0"),
        (lambda: Parity(5000), r"\bd\b.*4,096.*got 5,000"),
        (lambda: ModularSum(3, 1), r"alphabet.*got 1"),
        (lambda: Recall(-1), r"\bd\b.*got -1"),
        (lambda: Translation(2, 0), r"alphabet.*got 0"),
        (lambda: Countdown(7), r"\bd\b.*6.*got 7"),
        (lambda: Countdown(3, 101), r"alphabet.*100.*got 101"),
        (lambda: CausalGraph(0), r"\bd\b.*got 0"),
    ],
)
def test_a_size_out_of_range_is_refused_with_its_name_and_value(build, named):
    with pytest.raises(InputError, match=named):
        build()


def test_tokens_are_spelled_as_letters_and_eos(finite_tree):
    assert finite_tree.spell(encoded(finite_tree, 1)) == "1"
    assert finite_tree.spell(finite_tree.eos_token) == "EOS"


def test_trees_with_the_same_sizes_are_equal_and_hash_alike():
    assert {Parity(3), Parity(3), Parity(4)} == {Parity(3), Parity(4)}
