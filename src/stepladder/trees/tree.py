"""2S-ART: the 2-states conditioned autoregressive reasoning tree (Def. 1 and its full version).

A tree fixes an input length `d`, an alphabet, a rule for legal picks and a step map. A chain of
thought picks positions one after the other, reads the clue at each and updates one state:

    z_0 = EOS,   z_l = step_l(z_{l-1}, clue at pick i_l),   EOS as soon as position d is picked.

Positions 0..d-1 hold the input and position d holds EOS (the paper counts them 1..d+1). Position d
is also the query at the root, where EOS itself is not a legal pick: Eq. (forward) attends to the
tokens before the query only, which gives the 1/d root rule.

The paper lets the legal set depend on the whole chain, tokens included. Every tree of the paper needs
only the picks, so legality is two tables here:

    follows[i, j]   may j come right after i?  (row d: from the root)
    excludes[i, j]  does a pick of i rule out j for good?  (absent where nothing needs remembering)

Index paths are then independent of the input, which is what makes exact counting possible.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from stepladder.errors import InputError

Tokens = npt.NDArray[np.integer]
"""Tokens of a batch, shape (n,), or (n, 2) for the ratios of Countdown."""

Picks = npt.NDArray[np.int64]
"""Picked positions of a batch, shape (n, depth)."""

Mask = npt.NDArray[np.bool_]

ROOT: tuple[int, ...] = ()
"""The empty chain."""


class Tree(ABC):
    """A 2S-ART. Subclasses say what a clue is, how a state is updated and which picks are legal."""

    name: ClassVar[str]
    """What the command line calls this task."""

    d: int
    """Input positions; EOS stands at position d."""

    alphabet: int
    """Letters of the input, drawn uniformly and independently."""

    @property
    def wrong_acceptance(self) -> Fraction | None:
        """The probability that an outcome oracle accepts a wrong chain, where it is the same for all.

        None where it depends on the chain. Where it is known, and nothing is excluded, learning can be
        simulated at a cost that does not depend on the number of rollouts.
        """
        return None

    @property
    def slots(self) -> int:
        """Independent letters of one input: d, unless several positions show the same letter."""
        return self.d

    @property
    def max_depth(self) -> int:
        """L, the most picks before the terminal selector leaves only EOS."""
        return self.d

    @property
    def eos(self) -> int:
        """The position of EOS, d (the paper's d+1)."""
        return self.d

    @property
    def token_type(self) -> type[np.integer]:
        """Bytes where the sum of two letters fits into one, for speed; int64 otherwise."""
        return np.uint8 if self.alphabet < 128 else np.int64

    @property
    def eos_token(self) -> Tokens:
        """The EOS token; for a finite alphabet the number after the last letter."""
        return np.asarray(self.alphabet, dtype=self.token_type)

    @property
    def finite(self) -> bool:
        """Whether every state is a letter, so that the step map is a finite table."""
        return self.eos_token.ndim == 0

    # ---- the step map

    @abstractmethod
    def combine(self, depth: int, state: Tokens, clue: Tokens) -> Tokens:
        """Update `state` by `clue` at `depth` >= 1, where neither of them is EOS."""

    def first(self, depth: int, clue: Tokens) -> Tokens:
        """Turn the first clue into a state: step(EOS, v) = v unless the task says otherwise."""
        return clue

    def clue(self, inputs: Tokens, positions: int | npt.NDArray[np.integer]) -> Tokens:
        """Return the clue of each row at its own position, or at one position for all.

        `inputs` are letters, shape (n, slots).
        """
        if isinstance(positions, int):
            return inputs[:, positions]
        clues: Tokens = inputs[np.arange(len(inputs)), positions]
        return clues

    def step(self, depth: int, state: Tokens, clue: Tokens) -> Tokens:
        """Apply the full step map of Def. 1: EOS absorbs, and EOS as a state means "no state yet"."""
        eos = self.eos_token
        started = ~self.same(state, eos)
        ended = self.same(clue, eos)
        result = np.broadcast_to(eos, np.broadcast_shapes(state.shape, clue.shape)).copy()
        fresh = ~started & ~ended
        going = started & ~ended
        result[fresh] = self.first(depth, clue[fresh])
        result[going] = self.combine(depth, state[going], clue[going])
        return result

    def same(self, left: Tokens, right: Tokens) -> Mask:
        """Compare tokens row by row."""
        equal: Mask = np.equal(left, right)
        return equal if self.finite else np.asarray(equal.all(axis=-1))

    def spell(self, token: Tokens) -> str:
        """Write one token for people."""
        return "EOS" if bool(self.same(token, self.eos_token)) else str(int(token))

    def label(self, position: int) -> str:
        """Write one input position for people."""
        return f"x{position}"

    # ---- legality

    @property
    @abstractmethod
    def follows(self) -> Mask:
        """Which pick may come right after which, shape (d+1, d+1); row d is the root."""

    @property
    def excludes(self) -> Mask | None:
        """Which picks a pick rules out for good, shape (d, d+1), or None."""
        return None

    def legal_mask(self, picks: Picks) -> Mask:
        """Mark the legal next picks after each row of `picks` (none of them EOS), shape (n, d+1)."""
        count, depth = picks.shape
        if depth >= self.max_depth:
            mask = np.zeros((count, self.d + 1), dtype=np.bool_)
            mask[:, self.eos] = True
            return mask
        last = picks[:, -1] if depth else np.full(count, self.eos)
        mask = self.follows[last]
        if self.excludes is not None and depth:
            mask = mask & ~self.excludes[picks].any(axis=1)
        return mask

    def legal(self, picks: Sequence[int] = ROOT) -> tuple[int, ...]:
        """Return the legal next picks after `picks`; EOS is the position d."""
        mask = self.legal_mask(np.asarray([picks], dtype=np.int64).reshape(1, len(picks)))
        return tuple(int(j) for j in np.flatnonzero(mask[0]))

    def chains(self, start: Sequence[int] = ROOT, limit: int = 1 << 20) -> Iterator[Picks]:
        """Yield every legal chain that begins with `start`, one array (count, depth) per depth.

        EOS is legal after any pick, so every chain but the empty one is also a complete path.
        """
        level = np.asarray(start, dtype=np.int64).reshape(1, len(start))
        total = 0
        while len(level):
            total += len(level)
            if total > limit:
                raise InputError(
                    f"the {self.name} tree with d={self.d} has more than {limit:,} chains; "
                    "use a smaller d or a smaller depth to enumerate it"
                )
            yield level
            parent, child = np.nonzero(self.legal_mask(level)[:, : self.d])
            level = np.concatenate([level[parent], child[:, None]], axis=1)

    # ---- inputs

    def draw_inputs(self, count: int, rng: np.random.Generator) -> Tokens:
        """Draw uniform inputs, letters of shape (count, slots), each slot contiguous in memory."""
        size = (self.slots, count)
        if self.alphabet == 2:
            random = np.frombuffer(rng.bytes(-(-self.slots * count // 8)), dtype=np.uint8)
            return np.unpackbits(random, count=self.slots * count).reshape(size).T
        return rng.integers(0, self.alphabet, size=size, dtype=self.token_type).T

    def all_inputs(self, slots: Sequence[int] | None = None, limit: int = 1 << 22) -> Tokens:
        """List all inputs over the given slots (default all); the other slots hold letter 0."""
        chosen = range(self.slots) if slots is None else slots
        count = self.alphabet ** len(chosen)
        if count > limit:
            raise InputError(
                f"{len(chosen)} letters from an alphabet of {self.alphabet} make {count:,} inputs, "
                f"more than {limit:,}; use fewer positions or sample instead"
            )
        inputs = np.zeros((count, self.slots), dtype=self.token_type)
        letters = np.indices((self.alphabet,) * len(chosen)).reshape(len(chosen), count)
        inputs[:, list(chosen)] = letters.T
        return inputs

    def slot(self, position: int) -> int:
        """Return which letter of the input the position shows."""
        return position


def chain_states(tree: Tree, inputs: Tokens, picks: Sequence[int]) -> list[Tokens]:
    """Return the states z_1..z_m that the same picks (none of them EOS) give on every input."""
    states = [tree.first(1, tree.clue(inputs, picks[0]))]
    for depth, pick in enumerate(picks[1:], start=2):
        states.append(tree.combine(depth, states[-1], tree.clue(inputs, pick)))
    return states


def ordered(d: int) -> Mask:
    """Strictly increasing picks: after i every j > i and EOS; from the root every input."""
    follows = np.triu(np.ones((d + 1, d + 1), dtype=np.bool_), k=1)
    follows[d] = True
    follows[d, d] = False
    return follows


def any_order(d: int) -> Mask:
    """Every input and EOS after any pick; from the root every input."""
    follows = np.ones((d + 1, d + 1), dtype=np.bool_)
    follows[d, d] = False
    return follows
