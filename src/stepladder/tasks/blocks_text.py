"""Blocksworld in the words of PlanBench, both ways.

    the red block is clear, the hand is empty, the red block is on top of the blue block
    and the blue block is on the table

Read, the openings "As initial conditions I have that," and "My goal is to have that", capitals, the closing
period and the order do not matter. Written, the order is PlanBench's: clear blocks, the hand, blocks on blocks,
blocks on the table, each in the order of the colours. What is clear follows from what is on what, so a state
may leave it out; said, it must be true.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from stepladder.errors import InputError
from stepladder.tasks.blocks_state import HAND, TABLE, Action, Facts, State

COLOURS = (
    *("red", "blue", "orange", "yellow", "white", "magenta"),
    *("black", "cyan", "green", "violet", "silver", "gold"),
)
"""PlanBench's blocks in its order."""

MOST_BLOCKS = 20
"""An optimal plan for so many blocks is still found at once."""

_ORDER = {colour: position for position, colour in enumerate(COLOURS)}
_NAME = "[a-z][a-z0-9_-]{0,19}"
_OPENING = re.compile(r"(?:as initial conditions i have that|my goal is to have that)\b[,:]?")
_FACT = re.compile(rf"the ({_NAME}) block is (clear|on the table|on top of the ({_NAME}) block)")
_HOLDING = re.compile(rf"the hand is (?:currently )?holding the {_NAME} block")
_LONGEST_ACTION = 200
_NUMBER = re.compile(r"^[0-9]{1,4}[.)] ?")
_TAKE = re.compile(
    rf"(?:pick up the ({_NAME}) block|unstack the ({_NAME}) block from on top of the ({_NAME}) block)"
)
_LEAVE = re.compile(
    rf"(?:put down the ({_NAME}) block|stack the ({_NAME}) block on top of the ({_NAME}) block)"
)


def read_state(text: str) -> State:
    """Read an initial state, or say why no table of blocks looks like that."""
    facts = _read_facts(text, "question")
    placed = facts.below.keys()
    lost = _blocks(facts) - placed
    if lost:
        raise InputError(f"does not say where the {min(lost)} block is", option="question")
    if not 1 <= len(placed) <= MOST_BLOCKS:
        raise InputError(f"must have 1 to {MOST_BLOCKS} blocks, got {len(placed)}", option="question")
    return State.of({block: facts.below[block] for block in _in_order(placed)})


def read_goal(text: str, state: State) -> Facts:
    """Read a goal about the blocks of a state; any consistent one can be reached."""
    goal = _read_facts(text, "answer")
    unknown = _blocks(goal) - state.below.keys()
    if unknown:
        known = ", ".join(state.below)
        raise InputError(f"names the {min(unknown)} block, the blocks are {known}", option="answer")
    if not _blocks(goal):
        raise InputError("asks nothing of any block", option="answer")
    return goal


def write_state(state: State) -> str:
    """Say all that is true in a state whose hand is empty."""
    return write_facts(Facts(state.below, frozenset(state.free - {TABLE})))


def write_facts(facts: Facts) -> str:
    """Say some facts as PlanBench does.

    >>> write_facts(Facts({"red": "blue", "blue": TABLE}, frozenset({"red"})))
    'the red block is clear, the red block is on top of the blue block and the blue block is on the table'
    """
    places = [(block, facts.below[block]) for block in _in_order(facts.below)]
    sentences = [f"the {block} block is clear" for block in _in_order(facts.free - {HAND})]
    sentences += ["the hand is empty"] if HAND in facts.free else []
    sentences += [f"the {block} block is on top of the {on} block" for block, on in places if on != TABLE]
    sentences += [f"the {block} block is on the table" for block, on in places if on == TABLE]
    *first, last = sentences
    return f"{', '.join(first)} and {last}" if first else last


def plan_sentences(text: str) -> list[str]:
    """Cut a plan at ends of lines and commas into its actions; what is too long to be one is cut short."""
    parts = map(str.strip, text.replace(",", "\n").split("\n"))
    return [part[:_LONGEST_ACTION] for part in parts if part]


@lru_cache(maxsize=8192)
def read_action(sentence: str) -> Action | None:
    """Read an action, whatever its case, spaces, number in front and period behind; anything else is none.

    >>> str(read_action("2) Put down  the red block."))
    'put down the red block'
    """
    if not sentence.isascii() or len(sentence) == _LONGEST_ACTION:
        return None
    plain = _NUMBER.sub("", " ".join(sentence.lower().split())).removesuffix(".").rstrip()
    take = _TAKE.fullmatch(plain)
    if take:
        table_block, block, other = take.groups()
        return Action(block or table_block, other or TABLE, HAND)
    leave = _LEAVE.fullmatch(plain)
    if leave:
        table_block, block, other = leave.groups()
        return Action(block or table_block, HAND, other or TABLE)
    return None


def _read_facts(text: str, option: str) -> Facts:
    below: dict[str, str] = {}
    free: set[str] = set()
    for sentence in _fact_sentences(text):
        block, place = _read_fact(sentence, option)
        if not place:
            free.add(block)
        elif below.setdefault(block, place) != place:
            raise InputError(f"puts the {block} block in two places", option=option)
    _check_possible(below, free, option)
    return Facts(below, frozenset(free))


def _fact_sentences(text: str) -> list[str]:
    plain = " ".join(text.lower().split())
    opening = _OPENING.match(plain)
    if opening:
        plain = plain[opening.end() :]
    parts = plain.replace(" and ", ",").replace(".", ",").split(",")
    return [part for part in map(str.strip, parts) if part]


@lru_cache(maxsize=8192)
def _read_fact(sentence: str, option: str) -> tuple[str, str]:
    """Return a block and the place it is in; no place for what is said to be free."""
    if sentence == "the hand is empty":
        return HAND, ""
    match = _FACT.fullmatch(sentence)
    if match:
        block, place, other = match.groups()
        return block, other or ("" if place == "clear" else TABLE)
    if _HOLDING.fullmatch(sentence):
        raise InputError(f"must have an empty hand, got {sentence!r}", option=option)
    raise InputError(f"must be sentences like 'the red block is clear', got {sentence!r:.60}", option=option)


def _check_possible(below: Mapping[str, str], free: set[str], option: str) -> None:
    on: dict[str, str] = {}
    for block, place in below.items():
        if place != TABLE and on.setdefault(place, block) != block:
            raise InputError(f"puts two blocks on the {place} block", option=option)
    for block in sorted(free & on.keys()):
        raise InputError(f"calls the {block} block clear, with the {on[block]} block on it", option=option)
    for block in below:
        place = below[block]
        while place in below and place != block:
            place = below[place]
        if place == block:
            raise InputError(f"puts the {block} block above itself", option=option)


def _blocks(facts: Facts) -> set[str]:
    return {*facts.below, *facts.below.values(), *facts.free} - {TABLE, HAND}


def _in_order(blocks: Iterable[str]) -> list[str]:
    return sorted(blocks, key=lambda block: (_ORDER.get(block, len(_ORDER)), block))
