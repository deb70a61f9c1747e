"""Attention over positions: from the matrix W to the law of the next pick, and its score.

With the query at position c (the last pick; d at the root) and the legal set I:

    s(j)     = W[j, c]                            for j in I, minus infinity elsewhere
    alpha(j) = softmax(s)_j                       attention weights
    direct          pi(j) = softmax(s / temperature)_j
    double_softmax  pi(j) = softmax over I of alpha(j) / temperature     (Eq. (forward), read literally)

The literal readout applies a second softmax to weights that lie in [0, 1], so at temperature 1 no pick
is ever more likely than e / (e + |I| - 1): sampled accuracy cannot approach 1. It is masked to legal
positions here; unmasked it would pick illegal ones.

Score (Lemma score_pi_OBI), non-zero in the query's column of W only:

    direct          d log pi(i) / d W[k, c] = (1[k=i] - pi(k)) / temperature
    double_softmax  d log pi(i) / d W[k, c] = alpha(k) eta(k),
                    eta(k) = (1[k=i] - pi(k) - sum_j alpha(j) (1[j=i] - pi(j))) / temperature
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from stepladder.errors import InputError, check_choice

ReadoutName = Literal["direct", "double_softmax"]


@dataclass(frozen=True)
class Readout:
    """How attention becomes a next-pick distribution."""

    name: ReadoutName = "direct"
    temperature: float = 1.0

    def __post_init__(self) -> None:
        """Refuse unknown readouts and temperatures that divide by zero."""
        check_choice("readout", self.name, get_args(ReadoutName))
        if not 0 < self.temperature < float("inf"):
            raise InputError(f"must be positive and finite, got {self.temperature:g}", option="temperature")

    def log_probabilities(self, logits: Tensor, legal: Tensor) -> Tensor:
        """Return log pi over the last axis for attention `logits`; illegal picks get minus infinity."""
        if self.name == "direct":
            return masked_log_softmax(logits / self.temperature, legal)
        weights = masked_log_softmax(logits, legal).exp()
        return masked_log_softmax(weights / self.temperature, legal)

    def score(self, logits: Tensor, legal: Tensor, weights: Tensor) -> Tensor:
        """Return sum_i weights(i) d log pi(i) / d W[k, c] over the last axis k.

        One-hot weights give the score of a single pick; rewarded counts of all picks from a query give
        that query's column of the REINFORCE gradient in one go, because the score is linear in 1[k=i].
        Weights on illegal picks must be zero.
        """
        policy = self.log_probabilities(logits, legal).exp()
        residual = (weights - weights.sum(-1, keepdim=True) * policy) / self.temperature
        if self.name == "direct":
            return residual
        attention = masked_log_softmax(logits, legal).exp()
        return attention * (residual - (attention * residual).sum(-1, keepdim=True))


def masked_log_softmax(logits: Tensor, legal: Tensor) -> Tensor:
    """Normalise over the legal entries of the last axis; the rest get minus infinity."""
    return torch.log_softmax(logits.masked_fill(~legal, -torch.inf), dim=-1)
