"""PART: the probabilistic base model that picks uniformly among the legal positions (Def. 2).

    P(i_l | chain) = 1 / |legal(chain)|

Everything here is exact, in Fractions: path and success probabilities (Cor. 2), the coverage
coefficient between the prefix policies of a target, the distribution of the number of picks, and the
lemma on the expected reciprocal product.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from stepladder.errors import InputError, check_between
from stepladder.trees.policy import Policy
from stepladder.trees.target import Target
from stepladder.trees.tree import Picks, Tree


class Part(Policy):
    """The base policy of a tree: uniform over the legal picks.

    >>> from stepladder.trees import Parity
    >>> Part(Parity(d=3)).path_probability((0, 2))
    Fraction(1, 9)
    """

    def __init__(self, tree: Tree) -> None:
        """Take the tree whose legal sets to be uniform over."""
        self.tree = tree

    def probabilities(self, picks: Picks) -> npt.NDArray[np.float64]:
        """Return the next-pick distribution after each row of `picks`, shape (n, d+1)."""
        legal = self.tree.legal_mask(picks)
        uniform: npt.NDArray[np.float64] = legal / legal.sum(axis=1, keepdims=True)
        return uniform

    def branching(self, target: Target) -> tuple[int, ...]:
        """Return |legal| at each of the k+1 picks of the target, EOS last."""
        return tuple(len(self.tree.legal(target.picks[:depth])) for depth in range(target.k + 1))

    def path_probability(self, picks: Sequence[int]) -> Fraction:
        """Return the exact probability of picking `picks` and then EOS."""
        target = Target(self.tree, tuple(picks))
        return Fraction(1, math.prod(self.branching(target)))

    def log_probability(self, picks: Sequence[int]) -> float:
        """Return the natural logarithm of `path_probability`, safe from underflow."""
        return -sum(math.log(size) for size in self.branching(Target(self.tree, tuple(picks))))

    def success_probabilities(self, target: Target) -> tuple[Fraction, ...]:
        """Return Cor. 2: the probability of the full path of each subtask S*^1..S*^k."""
        return tuple(self.path_probability(subtask.picks) for subtask in target.family)

    def coverage(self, target: Target, depth: int, base_depth: int = 0, ends: bool = False) -> int:
        """Return the coverage coefficient ||pi_depth / pi_base||, the product of branchings between.

        The policy pi_l picks i_1..i_l surely and copies PART from there on; pi_0 is PART itself. With
        `ends`, pi_depth also picks EOS surely after its prefix: that is the reading under which the
        paper's d^(l+1) holds; as its text defines pi_l, the coefficient against PART is of order d^l.
        """
        if not 0 <= base_depth <= depth <= target.k:
            raise InputError(
                f"coverage needs 0 <= base depth <= depth <= {target.k}, got {base_depth} and {depth}"
            )
        sizes = self.branching(target)
        return math.prod(sizes[base_depth : depth + ends])

    def length_distribution(self, limit: int = 200_000) -> tuple[Fraction, ...]:
        """Return P(m picks before EOS) for m = 0..L, exactly.

        Chains are merged where their futures agree: by the last pick alone where nothing is excluded,
        by last pick and used set otherwise.
        """
        tree = self.tree
        level: dict[Hashable, tuple[tuple[int, ...], Fraction]] = {None: ((), Fraction(1))}
        lengths = []
        while level:
            ended = Fraction(0)
            following: dict[Hashable, tuple[tuple[int, ...], Fraction]] = {}
            for picks, mass in level.values():
                legal = tree.legal(picks)
                share = mass / len(legal)
                for pick in legal:
                    if pick == tree.eos:
                        ended += share
                        continue
                    key: Hashable = pick if tree.excludes is None else (pick, frozenset(picks))
                    seen = following.get(key, ((*picks, pick), Fraction(0)))
                    following[key] = (seen[0], seen[1] + share)
            if len(following) > limit:
                raise InputError(
                    f"the {tree.name} tree with d={tree.d} has too many distinct chains for an "
                    f"exact length distribution (over {limit:,}); use a smaller d"
                )
            lengths.append(ended)
            level = following
        return tuple(lengths)


def reciprocal_symmetric(d: int, k: int) -> Fraction:
    """Return the elementary symmetric polynomial e_k(1, 1/2, ..., 1/d).

    >>> reciprocal_symmetric(3, 1)
    Fraction(11, 6)
    """
    sums = [Fraction(1)] + [Fraction(0)] * k
    for term in range(1, d + 1):
        for order in range(min(k, term), 0, -1):
            sums[order] += sums[order - 1] / term
    return sums[k]


def expected_reciprocal_product(d: int, k: int) -> Fraction:
    """Return E[F] = e_k(1, 1/2, .., 1/d) / (d C(d,k)), the lemma on the expected reciprocal product.

    E[F] is the PART probability of a uniformly random parity path of k picks, so that
    P(k picks) = C(d,k) E[F] = e_k(1, .., 1/d) / d for k >= 1.

    >>> expected_reciprocal_product(3, 1)
    Fraction(11, 54)
    """
    check_between("d", d, 1, 100_000)
    check_between("k", k, 0, d)
    return reciprocal_symmetric(d, k) / (d * math.comb(d, k))
