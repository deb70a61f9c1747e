"""Facts of Sec. "0-1 Outcome Signals": what the two oracles see and what they cost."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.errors import InputError
from stepladder.trees import FamilyOracle, Parity, Target, TerminalOracle


def every_chain(tree):
    """All complete paths of a tree."""
    return [tuple(row.tolist()) for level in list(tree.chains())[1:] for row in level]


def test_the_terminal_oracle_accepts_exactly_the_chains_whose_last_state_is_the_value(tree):
    inputs = tree.all_inputs()
    target = Target(tree, every_chain(tree)[-1])
    oracle = TerminalOracle(target)
    for path in every_chain(tree)[:40]:
        answers = Target(tree, path).value(inputs)
        right = np.array([np.array_equal(a, b) for a, b in zip(answers, target.value(inputs), strict=True)])
        assert (oracle.judge(inputs, answers) == right).all()


def test_the_family_oracle_judges_against_the_subtask_of_the_queried_depth(tree):
    inputs = tree.all_inputs()
    target = Target(tree, every_chain(tree)[-1])
    oracle = FamilyOracle(target)
    for depth in range(1, target.k + 1):
        values = target.chain(inputs)[:, depth - 1]
        assert oracle.judge(inputs, values, depth).all()


def test_a_wrong_chain_that_ends_right_is_accepted():
    # Input 0110: the secret (0, 1) gives 1, and so does the wrong path (2,).
    inputs = np.array([[0, 1, 1, 0]], dtype=np.uint8)
    target = Target(Parity(4), (0, 1))
    answers = Target(Parity(4), (2,)).value(inputs)
    assert TerminalOracle(target).judge(inputs, answers).all()


@pytest.mark.parametrize("oracle", [TerminalOracle, FamilyOracle])
def test_an_oracle_is_shown_the_token_before_eos_and_no_chain(oracle):
    shown = set(inspect.signature(oracle.judge).parameters) - {"self", "depth"}
    assert shown == {"inputs", "answers"}


@given(st.lists(st.integers(0, 50), max_size=8))
def test_every_judged_row_is_one_query(batches):
    tree = Parity(3)
    target = Target(tree, (0, 2))
    rng = np.random.default_rng(0)
    terminal, family = TerminalOracle(target), FamilyOracle(target)
    for size in batches:
        inputs = tree.draw_inputs(size, rng)
        assert terminal.judge(inputs, inputs[:, 0]).shape == (size,)
        assert family.judge(inputs, inputs[:, 0], depth=1).shape == (size,)
    assert terminal.queries == family.queries == sum(batches)


def test_a_new_oracle_has_answered_nothing_and_does_not_share_its_count():
    target = Target(Parity(3), (0,))
    used, fresh = TerminalOracle(target), TerminalOracle(target)
    used.judge(Parity(3).all_inputs(), np.zeros(8, dtype=np.uint8))
    assert (used.queries, fresh.queries) == (8, 0)


def test_the_terminal_oracle_is_the_family_oracle_at_its_last_depth():
    tree = Parity(5)
    target = Target(tree, (0, 1, 3))
    inputs = tree.all_inputs()
    answers = Target(tree, (1, 2)).value(inputs)
    last = FamilyOracle(target).judge(inputs, answers, depth=3)
    assert (TerminalOracle(target).judge(inputs, answers) == last).all()


@pytest.mark.parametrize("depth", [-1, 0, 3])
def test_a_depth_the_target_does_not_have_is_refused_and_costs_no_query(depth):
    oracle = FamilyOracle(Target(Parity(4), (0, 1)))
    with pytest.raises(InputError, match=rf"(1\.\.2|between 1 and 2).*{depth}"):
        oracle.judge(Parity(4).all_inputs(), np.zeros(16, dtype=np.uint8), depth)
    assert oracle.queries == 0
