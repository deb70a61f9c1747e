"""Optimal plans, against breadth-first search over all states and all legal actions."""

import itertools

import numpy as np
import pytest

from stepladder.tasks.blocks_planner import optimal_plan
from stepladder.tasks.blocks_state import HAND, TABLE, Facts, State
from stepladder.tasks.blocksworld import random_stacks

NAMES = ("red", "blue", "orange", "yellow", "white")


def neighbours(towers, held):
    """All that one action can make of a set of towers, each a tuple from the bottom up."""
    for tower in towers:
        rest = towers - {tower}
        if held is None:
            yield (rest | {tower[:-1]} if len(tower) > 1 else rest), tower[-1]
        else:
            yield rest | {(*tower, held)}, None
    if held is not None:
        yield towers | {(held,)}, None


def towers_of(below):
    above = {place: block for block, place in below.items() if place != TABLE}
    towers = set()
    for block in (block for block, place in below.items() if place == TABLE):
        tower = [block]
        while tower[-1] in above:
            tower.append(above[tower[-1]])
        towers.add(tuple(tower))
    return frozenset(towers)


def facts_of(towers, held):
    facts = {("clear", tower[-1]) for tower in towers} | {("table", tower[0]) for tower in towers}
    facts |= {("on", upper, lower) for tower in towers for lower, upper in itertools.pairwise(tower)}
    return facts if held else facts | {("clear", HAND)}


def wanted_by(goal):
    wanted = {("clear", name) for name in goal.free}
    for block, place in goal.below.items():
        wanted.add(("table", block) if place == TABLE else ("on", block, place))
    return wanted


def breadth_first_length(below, goal):
    wanted = wanted_by(goal)
    layer, seen, length = [(towers_of(below), None)], set(), 0
    while True:
        if any(wanted <= facts_of(*state) for state in layer):
            return length
        found = dict.fromkeys(onward for state in layer for onward in neighbours(*state))
        layer = [state for state in found if state not in seen]
        seen.update(layer)
        length += 1


def assert_shortest(below, goal):
    state = State.of(dict(below))
    plan = optimal_plan(state, goal)
    assert len(plan) == breadth_first_length(below, goal)
    walked = state.copy()
    assert all(walked.do(action) for action in plan)
    assert goal.met(walked)
    assert state == State.of(dict(below))


def goal_out_of(below, rng):
    """Some of the facts of a state, each kind of goal in turn: blocks on blocks, or any facts."""
    if rng.random() < 0.5:
        facts = [(block, place) for block, place in below.items() if place != TABLE]
        return Facts({block: place for block, place in facts if rng.random() < 0.8})
    free = [name for name in sorted(State.of(below).free) if name != TABLE and rng.random() < 0.4]
    return Facts({block: place for block, place in below.items() if rng.random() < 0.5}, frozenset(free))


def test_plan_lengths_equal_breadth_first_search_on_1000_random_partial_goals():
    rng = np.random.default_rng(7)
    lengths = set()
    for _ in range(1000):
        names = list(NAMES[: rng.integers(2, 6)])
        below, goal = random_stacks(names, rng), goal_out_of(random_stacks(names, rng), rng)
        assert_shortest(below, goal)
        lengths.add(len(optimal_plan(State.of(below), goal)))
    assert lengths >= {0, 1, 2, 3, 4, 6, 8, 10, 12, 14}


def arrangements(names):
    for places in itertools.product((*names, TABLE), repeat=len(names)):
        below = dict(zip(names, places, strict=True))
        if sum(map(len, towers_of(below))) == len(names) and len(towers_of(below)) == places.count(TABLE):
            used = [place for place in places if place != TABLE]
            if len(set(used)) == len(used):
                yield below


def test_three_blocks_have_shortest_plans_to_every_goal_from_everywhere():
    names = NAMES[:3]
    states = list(arrangements(names))
    assert len(states) == 13
    goals = {}
    for below in states:
        facts = [*below.items(), *((name, None) for name in State.of(below).free - {TABLE})]
        for chosen in itertools.chain.from_iterable(
            itertools.combinations(facts, k) for k in range(len(facts) + 1)
        ):
            goals[frozenset(chosen)] = Facts(
                {block: place for block, place in chosen if place},
                frozenset(name for name, place in chosen if place is None),
            )
    for below, goal in itertools.product(states, goals.values()):
        assert_shortest(below, goal)


def test_sussmans_anomaly_takes_six_actions():
    state = State.of({"red": TABLE, "blue": TABLE, "orange": "red"})
    assert [str(action) for action in optimal_plan(state, Facts({"red": "blue", "blue": "orange"}))] == [
        "unstack the orange block from on top of the red block",
        "put down the orange block",
        "pick up the blue block",
        "stack the blue block on top of the orange block",
        "pick up the red block",
        "stack the red block on top of the blue block",
    ]


def test_a_goal_that_holds_already_needs_no_action():
    assert optimal_plan(State.of({"red": "blue", "blue": TABLE}), Facts({"red": "blue"})) == []


@pytest.mark.parametrize("height", [1, 2, 3, 4, 5, 10, 20])
def test_twenty_blocks_are_planned_at_once(height):
    names = [f"b{i}" for i in range(20)]
    rng = np.random.default_rng(height)
    below = {name: TABLE if i % height == 0 else names[i - 1] for i, name in enumerate(names)}
    order = rng.permutation(20)
    goal = Facts({names[upper]: names[lower] for lower, upper in itertools.pairwise(order)})
    state = State.of(below)
    plan = optimal_plan(state, goal)
    assert len(plan) < 4 * 20
    assert all(state.do(action) for action in plan)
    assert goal.met(state)
