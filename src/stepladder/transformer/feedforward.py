"""The feed-forward block: FFN_l replicates the step map, z_l = FFN_l(clue, z_{l-1}).

The paper takes these atomic skills as given and frozen. Three kinds, all from tokens to tokens, with
the embeddings in between where the paper has them:

    XorFFN    W2 ReLU(W1 (mu_x + mu_z)), the paper's matrices (Eq. FFN_XOR_W), for parity
    TableFFN  one hidden ReLU unit per (clue, state) pair, for any finite step map
    RatioFFN  exact integer arithmetic, for Countdown's ratios

Erratum: Eq. FFN_XOR_W is right for the four pairs of bits and for the empty state (z = EOS), and wrong
whenever the clue is EOS. It adds its two inputs, so it cannot tell (EOS, z) from (z, EOS) and no such
block could be right for both. Generation therefore stops at the *pick* of EOS and never asks the FFN.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from stepladder.errors import InputError
from stepladder.trees import Countdown, Parity, Tree

LARGEST_TABLE = 64
"""The largest alphabet a TableFFN is built for; its hidden layer has one unit per pair of tokens."""


class XorFFN(nn.Module):
    """The paper's XOR block on one-hot embeddings of 0, 1, EOS."""

    W1: Tensor
    W2: Tensor

    def __init__(self) -> None:
        """Set the matrices of Eq. FFN_XOR_W."""
        super().__init__()
        self.register_buffer(
            "W1", torch.tensor([[0.5, 0.5, 0.5], [0, 1, 0], [-0.5, 0.5, -0.5]], dtype=torch.float64)
        )
        self.register_buffer("W2", torch.tensor([[1.0, -1, 2], [0, 1, -2], [0, 0, 0]], dtype=torch.float64))

    def forward(self, depth: int, clue: Tensor, state: Tensor) -> Tensor:
        """Return the token whose embedding the block's output matches."""
        embedding = torch.eye(3, dtype=self.W1.dtype, device=self.W1.device)
        total = embedding[clue] + embedding[state]
        output = torch.relu(total @ self.W1.T) @ self.W2.T
        return output.argmax(dim=-1)


class TableFFN(nn.Module):
    """A finite step map as a two-layer ReLU network: hidden unit (v, z) fires on that pair alone."""

    first: Tensor
    second: Tensor

    def __init__(self, tree: Tree) -> None:
        """Read the step map of every depth off the tree."""
        super().__init__()
        if tree.alphabet > LARGEST_TABLE:
            raise InputError(f"a table FFN needs an alphabet of at most {LARGEST_TABLE}, got {tree.alphabet}")
        size = tree.alphabet + 1
        clue, state = (axis.ravel() for axis in np.indices((size, size)))
        identity = torch.eye(size, dtype=torch.float64)
        self.register_buffer("first", torch.cat([identity[clue], identity[state]], dim=1))
        tables = [tree.step(depth, state, clue).astype(np.int64) for depth in range(1, tree.max_depth + 1)]
        self.register_buffer("second", torch.stack([identity[table].T for table in tables]))

    def forward(self, depth: int, clue: Tensor, state: Tensor) -> Tensor:
        """Return the token whose embedding the network's output matches."""
        size = self.second.shape[1]
        embedding = torch.eye(size, dtype=self.first.dtype, device=self.first.device)
        pair = torch.cat([embedding[clue], embedding[state]], dim=-1)
        hidden = torch.relu(pair @ self.first.T - 1)
        return (hidden @ self.second[depth - 1].T).argmax(dim=-1)


class RatioFFN(nn.Module):
    """Countdown's exact arithmetic on (numerator, denominator) and (operation, number)."""

    def forward(self, depth: int, clue: Tensor, state: Tensor) -> Tensor:
        """Return the new ratio in lowest terms; 0/0 is "no number yet"."""
        operation, number = clue.unbind(-1)
        top, bottom = state.unbind(-1)
        outcomes = torch.stack([top + number * bottom, top - number * bottom, top * number, top], dim=-1)
        new_top = outcomes.gather(-1, operation.unsqueeze(-1)).squeeze(-1)
        new_bottom = torch.where(operation == 3, bottom * number, bottom)
        fresh = bottom == 0
        new_top = torch.where(fresh, number, new_top)
        new_bottom = torch.where(fresh, torch.ones_like(bottom), new_bottom)
        ratio = torch.stack([new_top, new_bottom], dim=-1)
        return ratio // torch.gcd(new_top, new_bottom).unsqueeze(-1)


def feedforward(tree: Tree) -> nn.Module:
    """Return the block that replicates the tree's step map."""
    if isinstance(tree, Countdown):
        return RatioFFN()
    return XorFFN() if isinstance(tree, Parity) else TableFFN(tree)
