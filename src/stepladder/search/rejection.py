"""Sample a reweighted reference model by rejection, and know the law and the cost of doing so.

Draws from the reference are all it takes to draw from reference(y) exp(tilt(y)) / Z:

    1. estimate Z by the mean of exp(tilt) over N draws;
    2. make up to N more draws, accept each with probability min(1, exp(tilt) / (Z_hat M));
    3. if none is accepted, return one more draw as it is.

On a finite set nothing has to be drawn N times. How often each response comes up among N draws is multinomial,
and the number of tries is geometric. Both are drawn directly: exact in distribution, at a cost that does not
depend on N. All arrays have the responses on the last axis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stepladder.search.linear_softmax import Floats

Numbers = npt.NDArray[np.int64]
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Rejection:
    """A rejection sampler with an envelope M and N draws for each of its two loops."""

    envelope: float
    draws: int

    def draw(self, reference: Floats, tilt: Floats, rng: np.random.Generator) -> tuple[Numbers, Numbers]:
        """Draw one response for each row; return them and the draws from the reference they took."""
        weights = np.exp(tilt)
        accept = self._accept(weights, self.normaliser(reference, weights, rng))
        joint = reference * accept
        rate = joint.sum(axis=-1)
        tries = first_success(rate, rng)
        given_up = tries > self.draws
        chosen = pick(np.where(given_up[:, None], reference, joint), rng)
        return chosen, self.draws + np.where(given_up, self.draws + 1, tries)

    def normaliser(self, reference: Floats, weights: Floats, rng: np.random.Generator) -> Floats:
        """Estimate the mean weight from N draws."""
        counts = rng.multinomial(self.draws, reference)
        return np.asarray((counts * weights).sum(axis=-1) / self.draws)

    def law(self, reference: Floats, tilt: Floats, normaliser: Floats) -> tuple[Floats, Floats]:
        """Return the exact law of `draw` and its mean cost, given what the normaliser was estimated at."""
        joint = reference * self._accept(np.exp(tilt), normaliser)
        rate = joint.sum(axis=-1, keepdims=True)
        given_up = np.exp(self.draws * np.log1p(-np.minimum(rate, 1 - 1e-15)))
        law = joint * (1 - given_up) / rate + given_up * reference
        cost = self.draws + (1 - given_up) / rate + given_up
        return np.asarray(law), np.asarray(cost[..., 0])

    def _accept(self, weights: Floats, normaliser: Floats) -> Floats:
        return np.minimum(1.0, weights / (normaliser[..., None] * self.envelope))


def first_success(rate: Floats, rng: np.random.Generator) -> Numbers:
    """Draw how many tries it takes to succeed once; a rate of 0 takes the largest number there is."""
    possible = rate > 0
    tries = rng.geometric(np.minimum(np.where(possible, rate, 1.0), 1.0))
    return np.where(possible, tries, NEVER)


def pick(weights: Floats, rng: np.random.Generator) -> Numbers:
    """Draw one index for each row, with probability proportional to its weight."""
    cumulative = weights.cumsum(axis=-1)
    level = rng.random(len(weights)) * cumulative[:, -1]
    # Strictly above, so that an index of weight 0 is never taken unless all are.
    found = (cumulative <= level[:, None]).sum(axis=-1)
    return np.asarray(np.minimum(found, weights.shape[-1] - 1))
