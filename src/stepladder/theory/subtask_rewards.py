"""Lemma stepwise_grad for the base model: how often a chain stops at depth r with the subtask's answer.

    U_r = { the chain has r picks and ends in f_S*^r(x) }
    A_r the prefix of r picks is correct, B_r only its last pick is wrong, D_r it went wrong before

    P(U_r) = P(A_r, EOS next) + q ( P(B_r, EOS next) + P(D_r, EOS next) )

As printed (Eq. Ur_uniform_closed), with P_{r-1} = 1 / (d (d-1) .. (d-r+2)) and q = 1/2:

    P(U_r) = P_{r-1} (d-r+2) / (2 (d-r+1)^2) + (1 - P_{r-1}) / (2 (d-r+1))

Erratum: that takes the chance of the next pick to be 1/(d-s+1) at depth s. With ordered picks it depends on
the position i just picked, 1/(d-i+1) counting from 1, and deviating chains stop at other rates. The exact
value follows the law of the last pick.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from stepladder.errors import check_between
from stepladder.finetune.flow import check_countable
from stepladder.trees import Target


@dataclass(frozen=True)
class Branches:
    """Probabilities that PART makes r picks and then EOS, by where it left the target."""

    true_path: Fraction
    """A_r: never."""
    deviated_now: Fraction
    """B_r: at the r-th pick."""
    deviated_before: Fraction
    """D_r: earlier."""
    acceptance: Fraction
    """q, how often a wrong chain is accepted."""

    @property
    def accepted(self) -> Fraction:
        """P(U_r)."""
        return self.true_path + self.acceptance * (self.deviated_now + self.deviated_before)


def branches(target: Target, depth: int) -> Branches:
    """Return the exact branch probabilities at a depth r, 1 <= r <= k.

    >>> from stepladder.trees import Parity
    >>> branches(Target(Parity(d=3), (0, 1)), 1).accepted
    Fraction(13, 36)
    """
    check_between("depth", depth, 1, target.k)
    check_countable(target)
    tree = target.tree
    assert tree.wrong_acceptance is not None
    on = Fraction(1)
    now: dict[int, Fraction] = {}
    before: dict[int, Fraction] = {}
    for step in range(depth):
        moved = _one_pick(target, {**before}, step)
        for pick, mass in _one_pick(target, now, step).items():
            moved[pick] = moved.get(pick, Fraction(0)) + mass
        legal = tree.legal(target.picks[:step])
        share = on / len(legal)
        now = {pick: share for pick in legal if pick not in (tree.eos, target.picks[step])}
        before, on = moved, share
    return Branches(
        true_path=on / len(tree.legal(target.picks[:depth])),
        deviated_now=_stop(target, now),
        deviated_before=_stop(target, before),
        acceptance=tree.wrong_acceptance,
    )


def _one_pick(target: Target, masses: dict[int, Fraction], step: int) -> dict[int, Fraction]:
    """Let every mass at a position make one more pick that is not EOS."""
    moved: dict[int, Fraction] = {}
    for position, mass in masses.items():
        legal = target.tree.legal((position,))
        for pick in legal:
            if pick != target.tree.eos:
                moved[pick] = moved.get(pick, Fraction(0)) + mass / len(legal)
    return moved


def _stop(target: Target, masses: dict[int, Fraction]) -> Fraction:
    """Return the mass that picks EOS next."""
    return sum((mass / len(target.tree.legal((at,))) for at, mass in masses.items()), Fraction(0))


def printed_acceptance(d: int, depth: int) -> Fraction:
    """Return P(U_r) as the paper prints it."""
    check_between("depth", depth, 1, d)
    before = Fraction(1)
    for step in range(1, depth):
        before /= d - step + 1
    last = d - depth + 1
    return before * Fraction(last + 1, 2 * last**2) + (1 - before) / (2 * last)
