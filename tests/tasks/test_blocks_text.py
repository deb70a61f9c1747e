"""PlanBench's sentences to states, goals and actions, and back."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.errors import InputError
from stepladder.tasks.blocks_state import HAND, TABLE, Action, Facts, State
from stepladder.tasks.blocks_text import (
    COLOURS,
    plan_sentences,
    read_action,
    read_goal,
    read_state,
    write_facts,
    write_state,
)

REAL = Path(__file__).parents[2].parent / "shared" / "data" / "blocksworld.jsonl"

TOWER = "the red block is on top of the blue block and the blue block is on the table"


@st.composite
def states(draw):
    names = draw(st.lists(st.sampled_from([*COLOURS, "b1", "x_2", "a-z"]), min_size=1, unique=True))
    below, tops = {}, []
    for name in names:
        place = draw(st.sampled_from([TABLE, *tops]))
        tops = [top for top in tops if top != place] + [name]
        below[name] = place
    return State.of(below)


@st.composite
def goals(draw):
    state = draw(states())
    chosen = draw(st.sets(st.sampled_from(sorted(state.below)), min_size=1))
    free = draw(st.sets(st.sampled_from(sorted(state.free - {TABLE}))))
    return state, Facts({block: state.below[block] for block in chosen}, frozenset(free))


@given(states())
def test_a_written_state_reads_as_the_same_state(state):
    assert read_state(write_state(state)) == state


@given(goals())
def test_a_written_goal_reads_as_the_same_goal(drawn):
    state, goal = drawn
    assert read_goal(write_facts(goal), state) == goal


@pytest.mark.skipif(not REAL.exists(), reason="the shared data are not here")
def test_states_and_goals_are_written_as_planbench_writes_them():
    for row in map(json.loads, REAL.read_text().splitlines()):
        state = read_state(row["initial"])
        assert write_state(state) == row["initial"]
        assert write_facts(read_goal(row["goal"], state)) == row["goal"]


@pytest.mark.parametrize(
    "text",
    [
        f"As initial conditions I have that, {TOWER}.",
        f"as initial conditions I have that {TOWER}\n",
        "The blue block is on the table, and the red block  is on top of\nthe blue block. The hand is empty.",
        f"the hand is empty, the red block is clear, {TOWER}",
    ],
)
def test_openings_periods_order_and_what_follows_anyway_make_no_difference(text):
    assert read_state(text) == State.of({"red": "blue", "blue": TABLE})


def test_a_goal_may_have_the_opening_of_planbench():
    goal = read_goal("My goal is to have that the blue block is on top of the red block.", read_state(TOWER))
    assert goal == Facts({"blue": "red"})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "must have 1 to 20 blocks, got 0"),
        ("the hand is empty", "must have 1 to 20 blocks, got 0"),
        (", ".join(f"the b{i} block is on the table" for i in range(21)), "must have 1 to 20 blocks, got 21"),
        (f"{TOWER}, the red block is on the table", "puts the red block in two places"),
        (f"{TOWER}, the cyan block is on top of the blue block", "puts two blocks on the blue block"),
        (f"{TOWER}, the blue block is clear", "calls the blue block clear, with the red block on it"),
        (f"{TOWER}, the cyan block is clear", "does not say where the cyan block is"),
        ("the red block is on top of the blue block", "does not say where the blue block is"),
        ("the red block is on top of the red block", "puts the red block above itself"),
        (
            "the red block is on top of the blue block and the blue block is on top of the red block",
            "puts the red block above itself",
        ),
        (
            "the hand is holding the red block",
            "must have an empty hand, got 'the hand is holding the red block'",
        ),
        (f"{TOWER}, hello", "must be sentences like 'the red block is clear', got 'hello'"),
        ("the réd block is on the table", "must be sentences like"),
    ],
)
def test_an_impossible_state_is_refused_with_the_reason(text, why):
    with pytest.raises(InputError, match=r"^question ") as error:
        read_state(text)
    assert why in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("the green block is clear", "names the green block, the blocks are red, blue"),
        ("the red block is on top of the green block", "names the green block, the blocks are red, blue"),
        ("the hand is empty", "asks nothing of any block"),
        ("the red block is on top of the blue block, the blue block is clear", "calls the blue block clear"),
        ("the hand is holding the red block", "must have an empty hand"),
        ("make it nice", "must be sentences like"),
    ],
)
def test_a_goal_that_cannot_be_reached_is_refused_with_the_reason(text, why):
    with pytest.raises(InputError, match=r"^answer ") as error:
        read_goal(text, read_state(TOWER))
    assert why in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "put down the red block\npick up the blue block",
        "1. put down the red block\n2. pick up the blue block",
        "1) Put down the red block.\n\n  2)Pick   up the BLUE block ,\r\n",
        "put down the red block, pick up the blue block",
        "1. put down the red block, 2. pick up the blue block.",
    ],
)
def test_case_numbers_periods_commas_and_space_make_no_difference_to_a_plan(text):
    expected = [Action("red", HAND, TABLE), Action("blue", TABLE, HAND)]
    assert [read_action(sentence) for sentence in plan_sentences(text)] == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "pick up red",
        "pick up the red block from on top of the blue block",
        "unstack the red block",
        "put down the red block on the table",
        "stack the red block on the blue block",
        "- pick up the red block",
        "then pick up the red block",
        "pick up the red block and put down the red block",
        "pick up the red block 2. put down the red block",
        "pick up the red block; put down the red block",
        "(pick-up a)",
        "1.",
        "\u0661. pick up the red block",
        "pic\u212a up the red block",
        "pick\u00a0up the red block",
        "pick up the red block\x00",
        "pick up the " + "red " * 100 + "block",
    ],
)
def test_nothing_else_is_an_action(sentence):
    assert [read_action(part) for part in plan_sentences(sentence)] == [None]
