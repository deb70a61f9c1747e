"""The four actions and partial goals of Blocksworld."""

import itertools

import pytest

from stepladder.tasks.blocks_state import HAND, TABLE, Action, Facts, State

PICK_UP_RED = Action("red", TABLE, HAND)
PUT_DOWN_RED = Action("red", HAND, TABLE)
STACK_RED_ON_BLUE = Action("red", HAND, "blue")
UNSTACK_RED_FROM_BLUE = Action("red", "blue", HAND)


def flat():
    return State.of({"red": TABLE, "blue": TABLE, "orange": TABLE})


def tower():
    return State.of({"red": "blue", "blue": "orange", "orange": TABLE})


def after(state, *actions):
    assert all(state.do(action) for action in actions)
    return state


def test_the_actions_have_the_words_of_planbench():
    assert str(PICK_UP_RED) == "pick up the red block"
    assert str(PUT_DOWN_RED) == "put down the red block"
    assert str(STACK_RED_ON_BLUE) == "stack the red block on top of the blue block"
    assert str(UNSTACK_RED_FROM_BLUE) == "unstack the red block from on top of the blue block"


def test_what_is_taken_and_put_back_leaves_the_state_as_it_was():
    assert after(flat(), PICK_UP_RED, PUT_DOWN_RED) == flat()
    assert after(tower(), UNSTACK_RED_FROM_BLUE, STACK_RED_ON_BLUE) == tower()


def test_a_held_block_is_nowhere_else_and_not_clear():
    state = after(tower(), UNSTACK_RED_FROM_BLUE)
    assert state.below == {"red": HAND, "blue": "orange", "orange": TABLE}
    assert state.free == {"blue", TABLE}


@pytest.mark.parametrize(
    ("state", "action", "why"),
    [
        (tower(), PICK_UP_RED, "the red block is not on the table"),
        (tower(), Action("orange", TABLE, HAND), "the orange block is not clear"),
        (tower(), Action("blue", "orange", HAND), "the blue block is not clear"),
        (flat(), UNSTACK_RED_FROM_BLUE, "the red block is not on top of the blue block"),
        (flat(), PUT_DOWN_RED, "the hand is not holding the red block"),
        (flat(), STACK_RED_ON_BLUE, "the hand is not holding the red block"),
        (flat(), Action("green", TABLE, HAND), "there is no green block"),
        (after(flat(), PICK_UP_RED), Action("red", HAND, "green"), "there is no green block"),
        (after(flat(), PICK_UP_RED), Action("red", HAND, "red"), "the red block is not clear"),
        (after(flat(), PICK_UP_RED), PICK_UP_RED, "the hand is holding the red block"),
        (after(flat(), PICK_UP_RED), Action("blue", TABLE, HAND), "the hand is holding the red block"),
        (
            after(State.of({"red": TABLE, "blue": "orange", "orange": TABLE}), PICK_UP_RED),
            Action("red", HAND, "orange"),
            "the orange block is not clear",
        ),
    ],
)
def test_an_illegal_action_changes_nothing_and_says_why(state, action, why):
    before = state.copy()
    assert not state.do(action)
    assert state == before
    assert state.why_not(action) == why


def test_every_reachable_state_knows_its_free_places():
    names = ("red", "blue", "orange", "yellow")
    places = (*names, TABLE)
    actions = [Action(name, place, HAND) for name in names for place in places]
    actions += [Action(name, HAND, place) for name in names for place in places]
    seen, queue = set(), [State.of(dict.fromkeys(names, TABLE))]
    for state in queue:
        for action in actions:
            onward = state.copy()
            if onward.do(action) and tuple(onward.below.values()) not in seen:
                seen.add(tuple(onward.below.values()))
                queue.append(onward)
                held = [name for name, place in onward.below.items() if place == HAND]
                clear = set(names) - set(onward.below.values()) - set(held)
                assert onward.free == clear | {TABLE} | (set() if held else {HAND})
    # 73 arrangements of four blocks, and 13 of three with the fourth in the hand
    assert len(seen) == 73 + 4 * 13


def test_a_goal_is_met_by_every_state_in_which_its_facts_are_true():
    goal = Facts({"red": "blue"})
    for rest in itertools.product(("orange", TABLE), ("yellow", TABLE)):
        state = State.of({"red": "blue", "blue": rest[0], "orange": rest[1], "yellow": TABLE})
        assert goal.met(state)
    assert not goal.met(State.of({"red": TABLE, "blue": TABLE}))


def test_a_goal_can_ask_for_clear_blocks_an_empty_hand_and_the_table():
    goal = Facts({"orange": TABLE}, frozenset({"blue", HAND}))
    state = tower()
    assert goal.unmet(state) == Facts({}, frozenset({"blue"}))
    state.do(UNSTACK_RED_FROM_BLUE)
    assert goal.unmet(state) == Facts({}, frozenset({HAND}))
    state.do(PUT_DOWN_RED)
    assert goal.met(state)
