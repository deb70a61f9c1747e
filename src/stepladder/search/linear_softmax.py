"""The linear softmax model and its KL-regularised objective, exactly, on finite problems (Thm. curriculum-spanner).

    policy(y|x)       proportional to  base(y|x) exp(<parameter, features(x,y)> / beta)
    reward(x,y)       = <target, features(x,y)>
    objective(policy) = E_x [ E_y reward(x,y) - beta KL(policy(.|x) | base(.|x)) ]
    coverage(p|p')    = largest p(y|x) / p'(y|x) over prompts and responses

The best policy is the one whose parameter is the target, and for every policy, linear or not,

    regret(policy) = objective(best) - objective(policy) = beta E_x KL(policy(.|x) | best(.|x)).

Policies are arrays of probabilities, shape (..., prompts, responses); leading axes are independent runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import rel_entr

from stepladder.errors import InputError

Floats = npt.NDArray[np.float64]
TOLERANCE = 1e-9


@dataclass(frozen=True)
class LinearSoftmax:
    """A base model over finitely many prompts and responses, with features of norm at most 1."""

    features: Floats
    """Shape (prompts, responses, dimension)."""
    base: Floats
    """The base model's probabilities, shape (prompts, responses)."""
    prompt_weights: Floats
    """How often each prompt is asked, shape (prompts,)."""
    beta: float
    """The weight of the KL term."""

    def __post_init__(self) -> None:
        """Check that the shapes agree and that the laws are laws."""
        if not 0 < self.beta < np.inf:
            raise InputError(f"must be a positive number, got {self.beta:g}", option="beta")
        if self.features.ndim != 3 or self.base.shape != self.features.shape[:2]:
            raise InputError(
                "must have shape (prompts, responses, dimension) and the base (prompts, responses), "
                f"got {self.features.shape} and {self.base.shape}",
                option="features",
            )
        if self.prompt_weights.shape != self.base.shape[:1]:
            raise InputError(
                f"must have one weight for each of {len(self.base)} prompts, got {self.prompt_weights.shape}",
                option="prompt_weights",
            )
        _check_law("prompt_weights", self.prompt_weights)
        _check_law("base", self.base)
        longest = float(np.linalg.norm(self.features, axis=-1).max())
        if not longest <= 1 + TOLERANCE:
            raise InputError(
                f"must have norm at most 1, got one of {longest:g}; rescale", option="features"
            )

    @property
    def dimension(self) -> int:
        """How many features there are."""
        return self.features.shape[2]

    def rewards(self, target: Floats) -> Floats:
        """Return <target, features> for every prompt and response."""
        return np.asarray(np.einsum("xyi,...i->...xy", self.features, target))

    def policy(self, parameter: Floats) -> Floats:
        """Return the policy of a parameter, shape (..., dimension); it is the best one for that target."""
        return tilted(self.base, self.rewards(parameter) / self.beta)

    def objective(self, policy: Floats, target: Floats) -> Floats:
        """Return the expected reward less beta times the divergence from the base model."""
        rewards = (policy * self.rewards(target)).sum(axis=-1)
        return self._average(rewards - self.beta * divergence(policy, self.base))

    def regret(self, policy: Floats, target: Floats) -> Floats:
        """Return how much the best policy's objective exceeds this one's."""
        return self._average(self.beta * divergence(policy, self.policy(target)))

    def gradient(self, parameter: Floats, target: Floats) -> Floats:
        """Return the gradient of the objective in one parameter, shape (dimension,).

        It is the covariance, under the policy, of the features and of the reward not yet accounted for,
        over beta.
        """
        policy = self.policy(parameter)
        mean = np.einsum("xy,xyi->xi", policy, self.features)
        missing = self.rewards(target - parameter)
        covariance = np.einsum("xy,xy,xyi->xi", policy, missing, self.features - mean[:, None])
        return np.asarray(self.prompt_weights @ covariance / self.beta)

    def merged(self) -> LinearSoftmax:
        """Put responses with equal features into one.

        Rewards, ratios of policies and SpannerSampling see a response through its features alone, so all
        of them keep their value or law; enumeration becomes cheaper. Prompts with fewer different
        responses than others are filled up with responses that the base model never gives.
        """
        found = [np.unique(rows, axis=0, return_inverse=True) for rows in self.features.round(12)]
        width = max(len(kinds) for kinds, _ in found)
        features = np.zeros((len(self.base), width, self.dimension))
        base = np.zeros((len(self.base), width))
        for prompt, (kinds, kind_of) in enumerate(found):
            features[prompt, : len(kinds)] = kinds
            base[prompt] = np.bincount(kind_of.ravel(), self.base[prompt], width)
        return LinearSoftmax(features, base, self.prompt_weights, self.beta)

    def _average(self, of_prompts: Floats) -> Floats:
        return np.asarray(of_prompts @ self.prompt_weights)


def coverage(policy: Floats, reference: Floats) -> Floats:
    """Return the coverage coefficient, the largest ratio; infinite where the reference never goes.

    >>> float(coverage(np.array([[0.8, 0.2]]), np.array([[0.2, 0.8]])))
    4.0
    """
    ratio = np.divide(
        policy, reference, out=np.zeros(np.broadcast(policy, reference).shape), where=reference > 0
    )
    ratio[(policy > 0) & (reference <= 0)] = np.inf
    return np.asarray(ratio.max(axis=(-2, -1)))


def divergence(policy: Floats, reference: Floats) -> Floats:
    """Return KL(policy | reference) at every prompt, in nats."""
    return np.asarray(rel_entr(policy, reference).sum(axis=-1))


def tilted(reference: Floats, tilt: Floats) -> Floats:
    """Return the law proportional to reference * exp(tilt) along the last axis."""
    weights = reference * np.exp(tilt - tilt.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _check_law(option: str, law: Floats) -> None:
    if not ((law >= 0).all() and np.allclose(law.sum(axis=-1), 1, rtol=0, atol=TOLERANCE)):
        raise InputError("must be probabilities that sum to 1", option=option)
