"""Countdown as a tree (Fig. "Chain-of-Thought for Countdown game").

"The goal is to obtain 24 by applying basic arithmetic operations (+, -, x, /) between the current
step's number and some unused number": a pick names an operation and a number, so each number stands
at four positions, one per operation, and a pick uses up all four:

    position = operation * numbers + which number,   operations + - x / in this order.

The first pick only takes a number (the + position). States are exact ratios (numerator,
denominator) in lowest terms with a positive denominator; EOS is the pair (0, 0), which no ratio is.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from stepladder.errors import check_between
from stepladder.trees.tree import Mask, Tokens, Tree, any_order

OPERATIONS = "+-×÷"


@dataclass(frozen=True)
class Countdown(Tree):
    """Countdown over a few numbers from 1 to `alphabet`.

    The paper's example, 5 × 13 = 65, + 7 = 72, ÷ 3 = 24, from the numbers 3, 5, 7, 13:

    >>> from stepladder.trees import Target
    >>> tree = Countdown(numbers=4, alphabet=13)
    >>> target = Target(tree, (1, 2 * 4 + 3, 2, 3 * 4 + 0))
    >>> chain = target.chain(np.array([[3, 5, 7, 13]]) - 1)[0]
    >>> [tree.spell(token) for token in chain]
    ['5', '65', '72', '24', 'EOS']
    """

    name = "countdown"
    numbers: int
    alphabet: int = 13

    def __post_init__(self) -> None:
        """Keep every intermediate ratio within int64: at most 100^6, crosswise products 100^7."""
        check_between("d", self.numbers, 1, 6)
        check_between("alphabet", self.alphabet, 1, 100)

    @property
    def d(self) -> int:  # type: ignore[override]
        """Four positions for each number."""
        return 4 * self.numbers

    @property
    def slots(self) -> int:
        """One letter for each number."""
        return self.numbers

    @property
    def max_depth(self) -> int:
        """Every number is used at most once."""
        return self.numbers

    @property
    def token_type(self) -> type[np.integer]:
        """Ratios outgrow bytes."""
        return np.int64

    @property
    def eos_token(self) -> Tokens:
        """No ratio is 0/0."""
        return np.zeros(2, dtype=np.int64)

    @cached_property
    def follows(self) -> Mask:
        """Any operation and number after any; the root takes a number as it is."""
        follows = any_order(self.d)
        follows[self.d, self.numbers :] = False
        return follows

    @cached_property
    def excludes(self) -> Mask:
        """A number is used up under every operation."""
        number = np.arange(self.d) % self.numbers
        same_number = number[:, None] == number[None, :]
        return np.concatenate([same_number, np.zeros((self.d, 1), dtype=np.bool_)], axis=1)

    def slot(self, position: int) -> int:
        """Return which number the position shows."""
        return position % self.numbers

    def clue(self, inputs: Tokens, positions: int | npt.NDArray[np.integer]) -> Tokens:
        """Return pairs (operation, number)."""
        operation, which = divmod(positions, self.numbers)
        number = super().clue(inputs, which) + 1
        return np.stack([np.broadcast_to(operation, number.shape), number], axis=-1)

    def first(self, depth: int, clue: Tokens) -> Tokens:
        """Take the number."""
        return np.stack([clue[..., 1], np.ones_like(clue[..., 1])], axis=-1)

    def combine(self, depth: int, state: Tokens, clue: Tokens) -> Tokens:
        """Apply the operation to the ratio and the number, in lowest terms."""
        top, bottom = state[..., 0], state[..., 1]
        operation, number = clue[..., 0], clue[..., 1]
        sign = np.where(operation == 1, -1, 1)
        new_top = np.where(operation < 2, top + sign * number * bottom, top)
        new_top = np.where(operation == 2, top * number, new_top)
        new_bottom = np.where(operation == 3, bottom * number, bottom)
        divisor = np.gcd(new_top, new_bottom)
        return np.stack([new_top // divisor, new_bottom // divisor], axis=-1)

    def spell(self, token: Tokens) -> str:
        """Write a ratio."""
        top, bottom = (int(part) for part in token)
        if bottom == 0:
            return "EOS"
        return str(top) if bottom == 1 else f"{top}/{bottom}"

    def label(self, position: int) -> str:
        """Write a position as operation and number."""
        operation, which = divmod(position, self.numbers)
        return f"{OPERATIONS[operation]}x{which}"
