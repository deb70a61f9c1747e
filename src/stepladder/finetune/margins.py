"""Per-step margins of the population gradient: what every sample-complexity bound is about.

    gamma_l = G[i_l, i_{l-1}] - max over other legal j of G[j, i_{l-1}]

the lead of the correct pick at step l in the expected REINFORCE gradient G. Under PART it is
P(S*) (1-q) at every step for A, which closed form G = P(S*) (1-q) (1[edge on path] - policy) shows, and
(1-q) / |legal| at each stage of B and C when the stages before are learned.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from torch import Tensor

from stepladder.trees import Target


def margins(gradient: Tensor, target: Target) -> npt.NDArray[np.float64]:
    """Return gamma_l, l = 1..k+1, of a gradient of shape (d+1, d+1)."""
    columns = gradient.numpy()
    queries = (target.tree.eos, *target.picks)
    gaps = []
    for step, (query, correct) in enumerate(zip(queries, target.path, strict=True)):
        others = [j for j in target.tree.legal(target.picks[:step]) if j != correct]
        best = max((columns[j, query] for j in others), default=-np.inf)
        gaps.append(columns[correct, query] - best)
    return np.asarray(gaps)
