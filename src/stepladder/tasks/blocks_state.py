"""Blocksworld: where the blocks are, what a goal asks of them, and the four actions of the hand.

    pick up the A block                             from the table to the hand
    unstack the A block from on top of the B block  from B to the hand
    put down the A block                            from the hand to the table
    stack the A block on top of the B block         from the hand to B

An action is legal when A is where it is taken from, nothing is on top of A, and the place it goes to is free:
the hand if it is empty, B if it is clear, the table always. A block is clear when nothing is on top of it and
the hand does not hold it. A goal is partial: every state in which all that it says is true meets it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

TABLE = "the table"
HAND = "the hand"
"""Where a block can be besides on a block; names of blocks have no space in them."""


class Action(NamedTuple):
    """Take a block from one place to another; one of the two is the hand."""

    block: str
    source: str
    target: str

    def __str__(self) -> str:
        """Say the action in PlanBench's words."""
        if self.target == HAND:
            if self.source == TABLE:
                return f"pick up the {self.block} block"
            return f"unstack the {self.block} block from on top of the {self.source} block"
        if self.target == TABLE:
            return f"put down the {self.block} block"
        return f"stack the {self.block} block on top of the {self.target} block"


@dataclass(slots=True)
class State:
    """All blocks, each with the place it is in, and the free places. Actions change it.

    >>> state = State.of({"red": "blue", "blue": TABLE})
    >>> state.do(Action("blue", TABLE, HAND)), state.why_not(Action("blue", TABLE, HAND))
    (False, 'the blue block is not clear')
    >>> state.do(Action("red", "blue", HAND)), state.below, sorted(state.free)
    (True, {'red': 'the hand', 'blue': 'the table'}, ['blue', 'the table'])
    """

    below: dict[str, str]
    free: set[str]
    """Clear blocks, the hand if it is empty, and the table."""

    @classmethod
    def of(cls, below: dict[str, str]) -> State:
        """Make the state in which the hand is empty."""
        return cls(below, (below.keys() - below.values()) | {HAND, TABLE})

    def copy(self) -> State:
        """Return a state of its own to act on."""
        return State(self.below.copy(), self.free.copy())

    def do(self, action: Action) -> bool:
        """Do an action if it is legal, and tell whether it was; with a block that is not there it never is."""
        block, source, target = action
        below, free = self.below, self.free
        if target not in free or below.get(block) != source:
            return False
        if source == HAND:
            free.add(block)
        elif block in free:
            free.remove(block)
        else:
            return False
        free.add(source)
        if target != TABLE:
            free.remove(target)
        below[block] = target
        return True

    def why_not(self, action: Action) -> str:
        """Say what makes an action illegal."""
        block, source, target = action
        for name in action:
            if name not in self.below and name not in (TABLE, HAND):
                return f"there is no {name} block"
        if source == HAND and self.below[block] != HAND:
            return f"the hand is not holding the {block} block"
        if target == HAND and HAND not in self.free:
            return f"the hand is holding the {self._held()} block"
        if self.below[block] != source:
            place = TABLE if source == TABLE else f"top of the {source} block"
            return f"the {block} block is not on {place}"
        return f"the {block if target == HAND else target} block is not clear"

    def _held(self) -> str:
        return next(block for block, place in self.below.items() if place == HAND)


@dataclass(frozen=True)
class Facts:
    """Some facts about blocks: what a goal asks for, or all that a text says of a state."""

    below: dict[str, str]
    free: frozenset[str] = frozenset()
    """Blocks that are clear, and the hand if it is empty."""

    def met(self, state: State) -> bool:
        """Whether all the facts are true in a state."""
        return self.free <= state.free and self.below.items() <= state.below.items()

    def unmet(self, state: State) -> Facts:
        """Return the facts that are not true in a state."""
        return Facts(dict(self.below.items() - state.below.items()), self.free - state.free)
