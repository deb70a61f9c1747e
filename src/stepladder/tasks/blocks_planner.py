"""Shortest Blocksworld plans to partial goals: breadth-first over the few moves that can matter.

A move takes a block and leaves it elsewhere, two actions. A block is settled when it and all blocks under it
may stay for good: the goal wants it where it is or does not care, and wants nothing else, nor nothing at
all, on top of the block under it. Of the shortest plans there is one in which

- settled blocks stay: whatever a plan puts on top of them meanwhile, it can put on the table instead;
- a clear block whose goal place is ready (the table, or a settled clear block) goes there first: it has to
  move at least once, and there it never has to move again;
- every other move goes to the table, where a block is in nobody's way.

So each block goes to the table for nothing at most once, and the states seen are the ways to take blocks from
the tops of the first towers: a few thousand for 20 blocks. A goal that asks for a clear block may be met with
another block in the hand; then the last move is only its first half, and the plan's length is odd.
"""

from __future__ import annotations

from stepladder.tasks.blocks_state import HAND, TABLE, Action, Facts, State

Below = dict[str, str]
Move = tuple[str, str]


def optimal_plan(state: State, goal: Facts) -> list[Action]:
    """Return a shortest plan from a state whose hand is empty.

    >>> state = State.of({"red": "blue", "blue": TABLE})
    >>> [str(action) for action in optimal_plan(state, Facts({}, frozenset({"blue"})))]
    ['unstack the red block from on top of the blue block']
    """
    frontier: list[tuple[Below, list[Move]]] = [(state.below, [])]
    seen = {tuple(state.below.values())}
    while frontier:
        for below, moves in frontier:
            if goal.met(State.of(below)):
                return _actions(state.below, moves)
        for below, moves in frontier:
            for block in _tops(below):
                if _met_holding(below, block, goal):
                    return [*_actions(state.below, moves), Action(block, below[block], HAND)]
        onward: list[tuple[Below, list[Move]]] = []
        for below, moves in frontier:
            for block, place in _useful_moves(below, goal):
                after = {**below, block: place}
                key = tuple(after.values())
                if key not in seen:
                    seen.add(key)
                    onward.append((after, [*moves, (block, place)]))
        frontier = onward
    raise AssertionError("a consistent goal can always be reached")


def _useful_moves(below: Below, goal: Facts) -> list[Move]:
    settled = _settled(below, goal)
    tops = _tops(below)
    loose = [block for block in tops if block not in settled]
    for block in loose:
        place = goal.below.get(block)
        if place == TABLE or (place in settled and place in tops):
            return [(block, place)]
    return [(block, TABLE) for block in loose if below[block] != TABLE]


def _settled(below: Below, goal: Facts) -> set[str]:
    wanted = {place: block for block, place in goal.below.items()}
    settled: set[str] = set()
    layer = {TABLE}
    while layer:
        layer = {
            block
            for block, place in below.items()
            if place in layer
            and goal.below.get(block, place) == place
            and (place == TABLE or (wanted.get(place, block) == block and place not in goal.free))
        }
        settled |= layer
    return settled


def _tops(below: Below) -> list[str]:
    covered = set(below.values())
    return [block for block in below if block not in covered]


def _met_holding(below: Below, block: str, goal: Facts) -> bool:
    if below[block] not in goal.free:
        return False
    state = State.of(dict(below))
    return state.do(Action(block, below[block], HAND)) and goal.met(state)


def _actions(below: Below, moves: list[Move]) -> list[Action]:
    now = dict(below)
    actions: list[Action] = []
    for block, place in moves:
        actions += [Action(block, now[block], HAND), Action(block, HAND, place)]
        now[block] = place
    return actions
