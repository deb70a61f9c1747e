"""Two constructions: W that realises PART (Thm. 1), and W that realises one path surely.

PART: equal logits on the legal keys of every query (Eq. base_pretrain), W = 0.

A path S* = (i_1, .., i_k, d): the query at i_l gives its whole attention to i_{l+1}, starting from
the root query d,

    W[i_{l+1}, i_l] = strength,   zero elsewhere   (Representation Theorem).

W sees the last pick only, so a path that goes on in two ways from the same position has no such W.
"""

from __future__ import annotations

import torch
from torch import Tensor

from stepladder.errors import InputError
from stepladder.trees import Target, Tree

STRENGTH = 1e4
"""A logit gap at which the softmax is exactly 0 and 1 in floating point."""


def base_weights(tree: Tree) -> Tensor:
    """Return W of the base model PART."""
    return torch.zeros(tree.d + 1, tree.d + 1, dtype=torch.float64)


def path_weights(target: Target, strength: float = STRENGTH) -> Tensor:
    """Return W that picks the target's path with probability 1 under the direct readout.

    >>> from stepladder.trees import Parity
    >>> path_weights(Target(Parity(d=2), (1,)), strength=9.0).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 9.0], [0.0, 9.0, 0.0]]
    """
    tree = target.tree
    W = base_weights(tree)
    after: dict[int, int] = {}
    for query, pick in zip((tree.eos, *target.picks), target.path, strict=True):
        if len(after) and query == target.picks[-1] and pick == tree.eos and target.k == tree.max_depth:
            break  # EOS is the only legal pick left; nothing needs to be realised.
        if after.setdefault(query, pick) != pick:
            raise InputError(
                f"[{','.join(map(str, target.picks))}] goes on in two ways from position {query}, "
                "which attention over positions cannot realise",
                option="secret",
            )
        W[pick, query] = strength
    return W
