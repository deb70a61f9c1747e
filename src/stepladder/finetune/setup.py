"""What is learned and how picks are read: the target, the readout and the reward baseline."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from stepladder.errors import check_between
from stepladder.transformer import Readout
from stepladder.trees import Target

Law = npt.NDArray[np.float64]
"""Next-pick distributions of many trials, shape (trials, query, pick)."""


@dataclass(frozen=True)
class Setup:
    """One learning problem.

    REINFORCE uses the raw 0/1 reward in the paper (`baseline` 0); with a baseline b the reward is R - b.
    """

    target: Target
    readout: Readout = field(default_factory=Readout)
    baseline: float = 0.0

    def __post_init__(self) -> None:
        """Check the baseline."""
        check_between("baseline", self.baseline, 0, 1)

    @property
    def size(self) -> int:
        """Rows and columns of W."""
        return self.target.tree.d + 1

    def logits(self, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Return attention logits by query, shape (trials, query, key), and the mask of legal keys.

        For trees that exclude nothing, where the last pick alone says what is legal.
        """
        legal = torch.from_numpy(self.target.tree.follows)
        return weights.transpose(-1, -2), legal

    def law(self, weights: Tensor) -> Law:
        """Return the next-pick distributions of every trial; the row of EOS, position d, is the root."""
        law: Law = self.readout.log_probabilities(*self.logits(weights)).exp().numpy()
        return law
