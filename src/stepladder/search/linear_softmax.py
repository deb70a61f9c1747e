"""The linear softmax model of Thm. curriculum-spanner and its KL-regularised objective, exactly.

    policy(y|x)       proportional to  base(y|x) exp(<parameter, features(x,y)> / temperature)
    reward(x,y)       = <target, features(x,y)>
    objective(policy) = E_x [ E_y reward(x,y) - temperature * KL(policy(.|x) | base(.|x)) ]
    coverage(p|q)     = the largest p(y|x) / q(y|x) over prompts and responses

The paper writes beta for the temperature. The best policy is the one whose parameter is the target, and every
policy, in this class or not, has

    regret(policy) = objective(best) - objective(policy) = temperature * E_x KL(policy(.|x) | best(.|x)).

Policies are arrays of probabilities, shape (..., prompts, responses); leading axes are independent runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import rel_entr

from stepladder.errors import InputError

Floats = npt.NDArray[np.float64]
ROUNDING = 1e-9


@dataclass(frozen=True)
class LinearSoftmax:
    """A base model over finitely many prompts and responses, with features of norm at most 1."""

    features: Floats
    """Shape (prompts, responses, dimension)."""
    base: Floats
    """The base model's probabilities, shape (prompts, responses)."""
    prompt_weights: Floats
    """How often each prompt is asked, shape (prompts,)."""
    temperature: float
    """The weight of the KL term."""

    def __post_init__(self) -> None:
        """Check that the shapes agree and that the laws are laws."""
        if not 0 < self.temperature < np.inf:
            raise InputError(f"must be a positive number, got {self.temperature:g}", option="temperature")
        if self.features.ndim != 3 or self.base.shape != self.features.shape[:2]:
            raise InputError(
                "must have shape (prompts, responses, dimension) and the base (prompts, responses), "
                f"got {self.features.shape} and {self.base.shape}",
                option="features",
            )
        if self.prompt_weights.shape != self.base.shape[:1]:
            raise InputError(
                f"must have shape ({len(self.base)},), one for each prompt, got {self.prompt_weights.shape}",
                option="prompt_weights",
            )
        _check_law("prompt_weights", self.prompt_weights)
        _check_law("base", self.base)
        longest = float(np.linalg.norm(self.features, axis=-1).max())
        if not longest <= 1 + ROUNDING:
            raise InputError(f"must have norm at most 1, got one of {longest:g}; rescale", option="features")

    @property
    def dimension(self) -> int:
        """How many features there are."""
        return int(self.features.shape[2])

    def rewards(self, target: Floats) -> Floats:
        """Return <target, features> for every prompt and response."""
        return np.asarray(np.einsum("xyi,...i->...xy", self.features, target))

    def policy(self, parameter: Floats) -> Floats:
        """Return the policy of a parameter, shape (..., dimension); it is the best one for that target."""
        return tilted(self.base, self.rewards(parameter) / self.temperature)

    def objective(self, policy: Floats, target: Floats) -> Floats:
        """Return the expected reward less the temperature times the divergence from the base model."""
        rewards = (policy * self.rewards(target)).sum(axis=-1)
        return self._average(rewards - self.temperature * divergence(policy, self.base))

    def regret(self, policy: Floats, target: Floats) -> Floats:
        """Return how much the best policy's objective exceeds this one's."""
        return self._average(self.temperature * divergence(policy, self.policy(target)))

    def gradient(self, parameter: Floats, target: Floats) -> Floats:
        """Return the gradient of the objective in one parameter, shape (dimension,).

        It is the covariance, under the policy, of the features and of the reward that the parameter does
        not account for, over the temperature.
        """
        policy = self.policy(parameter)
        mean = np.einsum("xy,xyi->xi", policy, self.features)
        missing = self.rewards(target - parameter)
        covariance = np.einsum("xy,xy,xyi->xi", policy, missing, self.features - mean[:, None])
        return np.asarray(self.prompt_weights @ covariance / self.temperature)

    def merged(self) -> LinearSoftmax:
        """Put responses with equal features into one.

        Rewards, ratios of policies and SpannerSampling see a response through its features alone, so all
        of them keep their values or laws; enumeration becomes cheaper. Prompts with fewer different
        responses than others are filled up with responses that the base model never gives.
        """
        rounded = self.features.round(12)
        found = [np.unique(rows, axis=0, return_index=True, return_inverse=True) for rows in rounded]
        width = max(len(kinds) for kinds, _, _ in found)
        features = np.zeros((len(self.base), width, self.dimension))
        base = np.zeros((len(self.base), width))
        for prompt, (_, example_of, kind_of) in enumerate(found):
            features[prompt, : len(example_of)] = self.features[prompt, example_of]
            base[prompt] = np.bincount(kind_of.ravel(), self.base[prompt], width)
        return LinearSoftmax(features, base, self.prompt_weights, self.temperature)

    def _average(self, of_prompts: Floats) -> Floats:
        return np.asarray(of_prompts @ self.prompt_weights)


def coverage(policy: Floats, reference: Floats) -> Floats:
    """Return the coverage coefficient, the largest ratio; infinite where the reference never goes.

    >>> float(coverage(np.array([[0.8, 0.2]]), np.array([[0.2, 0.8]])))
    4.0
    """
    never = np.where(policy > 0, np.inf, 0.0)
    ratio = np.where(reference > 0, policy / np.where(reference > 0, reference, 1.0), never)
    return np.asarray(ratio.max(axis=(-2, -1)))


def divergence(policy: Floats, reference: Floats) -> Floats:
    """Return KL(policy | reference) at every prompt, in nats."""
    return np.asarray(rel_entr(policy, reference).sum(axis=-1))


def tilted(reference: Floats, tilt: Floats) -> Floats:
    """Return the law proportional to reference * exp(tilt) along the last axis."""
    weights = reference * np.exp(tilt - tilt.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _check_law(option: str, law: Floats) -> None:
    if not ((law >= 0).all() and np.allclose(law.sum(axis=-1), 1, rtol=0, atol=ROUNDING)):
        raise InputError("must be probabilities that sum to 1", option=option)
