"""Reward hacking: how often the outcome oracles accept a wrong chain (Remark on spurious acceptance).

    acceptance(S', S*)      = P_x( f_S'(x) = f_S*(x) )
    rho^{sup, l}   (family)   = sup over wrong children j at depth l, after a correct history
    rho^{sup, >l}  (terminal) = sup over forced children j at depth l of the accepted mass of wrong
                                suffixes under PART

Only the letters that the two paths read matter, so acceptance is exact by enumeration whenever those
are few; otherwise it is sampled and comes with a Clopper-Pearson interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from stepladder.errors import InputError
from stepladder.estimate import Estimate
from stepladder.trees.part import Part
from stepladder.trees.target import Target
from stepladder.trees.tree import chain_states


def acceptance(
    target: Target,
    picks: Sequence[int],
    *,
    enumerate_up_to: int = 1 << 20,
    samples: int = 100_000,
    seed: int = 0,
) -> Estimate:
    """Return how often a chain with `picks` ends in the target's value, over uniform inputs.

    >>> from stepladder.trees import Parity
    >>> print(acceptance(Target(Parity(d=30), (0, 1)), (0, 29)))
    1/2
    """
    tree = target.tree
    slots = sorted({tree.slot(pick) for pick in (*target.picks, *picks)})
    exact = tree.alphabet ** len(slots) <= enumerate_up_to
    if exact:
        inputs = tree.all_inputs(slots, limit=enumerate_up_to)
    else:
        inputs = tree.draw_inputs(samples, np.random.default_rng(seed))
    answers = chain_states(tree, inputs, Target(tree, tuple(picks)).picks)[-1]
    accepted = int(tree.same(answers, target.value(inputs)).sum())
    if exact:
        return Estimate.known(Fraction(accepted, len(inputs)))
    return Estimate.proportion(accepted, len(inputs))


def family_spurious_rate(target: Target, depth: int) -> Estimate:
    """Return rho^{sup, depth}: the best a wrong child can do under the family oracle."""
    if not 1 <= depth <= target.k:
        raise InputError(f"the depth must be between 1 and {target.k}, got {depth}")
    tree, history = target.tree, target.picks[: depth - 1]
    wrong = [j for j in tree.legal(history) if j not in (tree.eos, target.picks[depth - 1])]
    rates = [acceptance(target.prefix(depth), (*history, j)) for j in wrong]
    return max(rates, key=lambda rate: rate.value, default=Estimate.known(Fraction(0)))


def terminal_spurious_rate(target: Target, depth: int, limit: int = 4096) -> Estimate:
    """Return rho^{sup, >depth}: the accepted mass of wrong suffixes after the best forced child.

    Enumerates every suffix of the tree, at most `limit` chains for each forced child.
    """
    if not 1 <= depth <= target.k:
        raise InputError(f"the depth must be between 1 and {target.k}, got {depth}")
    history = target.picks[: depth - 1]
    children = [j for j in target.tree.legal(history) if j != target.tree.eos]
    masses = [_spurious_mass(target, (*history, j), limit) for j in children]
    return Estimate.known(max(masses))


def _spurious_mass(target: Target, start: tuple[int, ...], limit: int) -> Fraction:
    part = Part(target.tree)
    to_start = part.path_probability(start) * len(target.tree.legal(start))
    mass = Fraction(0)
    for level in target.tree.chains(start, limit=limit):
        for row in level:
            picks = tuple(int(pick) for pick in row)
            if picks == target.picks:
                continue
            rate = acceptance(target, picks)
            if not isinstance(rate.value, Fraction):
                raise InputError(
                    f"too many letters to enumerate for {target.tree.name} with d={target.tree.d}; "
                    "use a smaller d or alphabet"
                )
            mass += part.path_probability(picks) / to_start * rate.value
    return mass
