"""SpannerSampling: learn a KL-regularised linear softmax policy from rewards and draws of a reference model.

The algorithm is that of Foster, Mhammedi and Rohatgi, "Is a Good Foundation Necessary for Efficient
Reinforcement Learning?" (2025), arXiv 2503.07453, as Thm. curriculum-spanner uses it. No copy of that paper was
at hand: the steps follow a description of it, and the *constants are a reconstruction*
(`stepladder.search.spanner_sizes`).

Two responses to a prompt have the relative feature f = features(x, y1) - features(x, y2); |f| is its norm in
the inverse of the covariance.

    1. Spanner phase. covariance = ridge * identity. At each of T_prompt prompts draw up to T_span pairs from
       the reference. At the first pair with |f| > threshold ask for both rewards, store the pair, add f f^T
       to the covariance and go to the next prompt.
    2. Exploration phase, the covariance frozen. T_exp times fit the reward differences of all stored pairs by
       ridge regression; let gain(y1, y2) = <fit, f> if |f| <= threshold, else 0; at a fresh prompt draw y2
       from the reference and, by rejection, y1 from the reference times exp(gain(y1, y2) / temperature); ask
       for both rewards and store the pair.
    3. Return one of the T_exp iterates at random. It answers a prompt in the way y1 was drawn.

T_data counts reward queries, two for each stored pair. T_comp counts draws from the reference: two for each
pair of the spanner phase, then y2, the N draws that estimate a normaliser and the tries of the rejection.

A batch of independent runs goes side by side. Draws that leave nothing but their number are not made one by
one: the wait for a long pair is geometric, and the pair is drawn from the law of long pairs. This is exact in
distribution, at a cost that does not depend on the coverage.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from stepladder.errors import InputError
from stepladder.search.linear_softmax import Floats, LinearSoftmax
from stepladder.search.rejection import Numbers, Rejection, first_success, pick
from stepladder.search.spanner_sizes import Sizes

Mask = npt.NDArray[np.bool_]

CHECK_EVERY = 32
"""Prompts between checks whether there is anything left to span."""
NORMALISERS = 64
"""Estimated normalisers over which an iterate's law is averaged."""


@dataclass(frozen=True)
class Stage:
    """Where a batch of runs starts and what it is rewarded for."""

    model: LinearSoftmax
    reference: Floats
    """What each run draws from, shape (runs, prompts, responses)."""
    start: Floats
    """The parameter that each run's reference already has, shape (runs, dimension).

    Rewards are learned less what it accounts for. So if the reference is the policy of `start`, the best
    policy is the one of `target`, whatever `start` is.
    """
    target: Floats
    """The parameter of the reward, shape (dimension,)."""
    reward_bound: float
    """A reward is this or nothing, with the mean that `target` gives: the noisiest there is."""

    def __post_init__(self) -> None:
        """Check that every run has a reference and a start."""
        wanted = (self.runs, *self.model.base.shape)
        if self.reference.shape != wanted:
            raise InputError(f"must have shape {wanted}, got {self.reference.shape}", option="reference")
        if self.start.shape[1:] != (self.model.dimension,) or self.target.shape != self.start.shape[1:]:
            raise InputError(
                f"and target must have {self.model.dimension} entries for each run, "
                f"got {self.start.shape} and {self.target.shape}",
                option="start",
            )
        if not self.reward_bound > 0:
            raise InputError(f"must be positive, got {self.reward_bound:g}", option="reward_bound")

    @property
    def runs(self) -> int:
        """How many runs go side by side."""
        return len(self.start)

    @cached_property
    def chances(self) -> Floats:
        """The probability of a reward, shape (prompts, responses)."""
        return np.clip(self.model.rewards(self.target) / self.reward_bound, 0, 1)

    def ask(self, times: int, rng: np.random.Generator) -> Numbers:
        """Draw prompts, shape (times, runs)."""
        weights = self.model.prompt_weights
        return rng.choice(len(weights), size=(times, self.runs), p=weights)

    def compare(self, prompts: Numbers, first: Numbers, second: Numbers, rng: np.random.Generator) -> Floats:
        """Ask for two rewards; return their difference less what the reference accounts for."""
        features = self.model.features
        relative = features[prompts, first] - features[prompts, second]
        chance = self.chances[prompts, first], self.chances[prompts, second]
        luck = rng.random((2, self.runs))
        observed = self.reward_bound * ((luck[0] < chance[0]) - 1.0 * (luck[1] < chance[1]))
        return np.asarray(observed - (relative * self.start).sum(axis=1))


@dataclass
class Fit:
    """The ridge regression of each run, kept up to date pair by pair."""

    inverse: Floats
    """The inverse covariance, shape (runs, dimension, dimension)."""
    moment: Floats
    """The sum of f times the observed difference, shape (runs, dimension)."""

    @classmethod
    def empty(cls, runs: int, dimension: int, ridge: float) -> Fit:
        """Start with the ridge alone."""
        return cls(np.tile(np.eye(dimension) / ridge, (runs, 1, 1)), np.zeros((runs, dimension)))

    @property
    def parameter(self) -> Floats:
        """The fitted parameter of each run."""
        return np.asarray((self.inverse @ self.moment[:, :, None])[:, :, 0])

    def add(self, relative: Floats, difference: Floats) -> None:
        """Store one pair for each run; a relative feature of 0 stores nothing."""
        along = (self.inverse @ relative[:, :, None])[:, :, 0]
        scaled = along / (1 + (along * relative).sum(axis=1, keepdims=True))
        self.inverse = self.inverse - scaled[:, :, None] * along[:, None, :]
        self.moment = self.moment + relative * difference[:, None]


@dataclass(frozen=True)
class Iterate:
    """The policy that each run returns: a rejection sampler over its reference."""

    stage: Stage
    sizes: Sizes
    gain: Floats
    """What was learned on top of the reference, shape (runs, dimension)."""
    inverse: Floats
    """The frozen inverse covariance that says which pairs are spanned."""

    @property
    def parameter(self) -> Floats:
        """The parameter from the base model on: what the reference had and what was learned."""
        return self.stage.start + self.gain

    def law(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Return the law of the answers and the mean cost of one, in draws from the reference.

        Shapes (runs, prompts, responses) and (runs, prompts). Exact up to the estimated normaliser, over
        which it is averaged.
        """
        reference = self.stage.reference
        sampler = Rejection(self.sizes.envelope, self.sizes.draws)
        law, cost = np.zeros_like(reference), np.ones(reference.shape[:2])
        counts = rng.multinomial(sampler.draws, reference, size=(NORMALISERS, *reference.shape[:2]))
        features = self.stage.model.features
        inverse, gain = self.inverse[:, None], self.gain[:, None]
        for second in range(reference.shape[2]):
            relative = features - features[:, [second]]
            tilt = truncated(relative, inverse, gain, self.sizes.threshold) / self.stage.model.temperature
            normaliser = (counts * np.exp(tilt)).sum(axis=-1) / sampler.draws
            laws, costs = sampler.law(reference, tilt, normaliser)
            law += reference[:, :, [second]] * laws.mean(axis=0)
            cost += reference[:, :, second] * costs.mean(axis=0)
        return law, cost


@dataclass(frozen=True)
class Spanned:
    """What a batch of runs learned, and what it spent."""

    iterate: Iterate
    pairs: Numbers
    """Pairs stored in the spanner phase, shape (runs,)."""
    spanner_draws: Numbers
    """Draws from the reference in the spanner phase, shape (runs, prompts)."""
    explore_draws: Numbers
    """Draws from the reference in the exploration phase, shape (runs, prompts)."""

    @property
    def t_data(self) -> Numbers:
        """Reward queries of each run."""
        return 2 * (self.pairs + self.iterate.sizes.explore)

    @property
    def draws(self) -> Numbers:
        """Draws from the reference at each prompt, shape (runs, prompts)."""
        return self.spanner_draws + self.explore_draws


def spanner_sampling(stage: Stage, sizes: Sizes, rng: np.random.Generator) -> Spanned:
    """Run both phases."""
    fit = Fit.empty(stage.runs, stage.model.dimension, sizes.ridge)
    pairs, spanner_draws = _span(stage, sizes, fit, rng)
    iterate, explore_draws = _explore(stage, sizes, fit, rng)
    return Spanned(iterate, pairs, spanner_draws, explore_draws)


def truncated(relative: Floats, inverse: Floats, gain: Floats, threshold: float) -> Floats:
    """Return <gain, f> where |f| is at most the threshold, else 0; f is on the last axis of `relative`."""
    lengths = ((relative @ inverse) * relative).sum(axis=-1)
    values = (relative @ gain[..., None])[..., 0]
    return np.where(lengths <= threshold**2, values, 0)


def _span(stage: Stage, sizes: Sizes, fit: Fit, rng: np.random.Generator) -> tuple[Numbers, Numbers]:
    """Store the first long pair of each prompt; return how many there were, and the draws."""
    stored = np.zeros(stage.runs, dtype=np.int64)
    waited = np.zeros(stage.reference.shape[:2], dtype=np.int64)
    left = sizes.prompts
    while left and _some_pair_is_long(stage, sizes, fit):
        for prompts in stage.ask(min(CHECK_EVERY, left), rng):
            found, tries = _span_prompt(stage, sizes, fit, prompts, rng)
            stored += found
            waited[np.arange(stage.runs), prompts] += tries
            left -= 1
    # Everything is spanned, so that no pair is long at the prompts that are left.
    waited += sizes.pairs * rng.multinomial(left, stage.model.prompt_weights, stage.runs)
    return stored, 2 * waited


def _span_prompt(
    stage: Stage, sizes: Sizes, fit: Fit, prompts: Numbers, rng: np.random.Generator
) -> tuple[Mask, Numbers]:
    """Store the first long pair at one prompt of each run; return whether one came, and the pairs drawn."""
    rows = np.arange(stage.runs)
    features, reference = stage.model.features[prompts], stage.reference[rows, prompts]
    law = reference[:, :, None] * reference[:, None, :]
    law = np.where(_pair_lengths(features, fit.inverse) > sizes.threshold**2, law, 0).reshape(stage.runs, -1)
    tries = first_success(law.sum(axis=1), rng)
    found = tries <= sizes.pairs
    first, second = np.divmod(pick(law, rng), reference.shape[1])
    relative = (features[rows, first] - features[rows, second]) * found[:, None]
    fit.add(relative, stage.compare(prompts, first, second, rng))
    return found, np.minimum(tries, sizes.pairs)


def _explore(stage: Stage, sizes: Sizes, fit: Fit, rng: np.random.Generator) -> tuple[Iterate, Numbers]:
    """Act on the fit and add to it, T_exp times; return a random iterate and the draws."""
    rows = np.arange(stage.runs)
    draws = np.zeros(stage.reference.shape[:2], dtype=np.int64)
    returned = rng.integers(sizes.explore, size=stage.runs)
    kept = np.zeros_like(stage.start)
    frozen = fit.inverse
    sampler = Rejection(sizes.envelope, sizes.draws)
    for step, prompts in enumerate(stage.ask(sizes.explore, rng)):
        gain = fit.parameter
        kept[returned == step] = gain[returned == step]
        features, reference = stage.model.features[prompts], stage.reference[rows, prompts]
        second = pick(reference, rng)
        relative = features - features[rows, second][:, None]
        tilt = truncated(relative, frozen, gain, sizes.threshold) / stage.model.temperature
        first, cost = sampler.draw(reference, tilt, rng)
        fit.add(relative[rows, first], stage.compare(prompts, first, second, rng))
        draws[rows, prompts] += 1 + cost
    return Iterate(stage, sizes, kept, frozen), draws


def _some_pair_is_long(stage: Stage, sizes: Sizes, fit: Fit) -> bool:
    """Say whether any reference can still draw a pair that is not spanned."""
    long = _pair_lengths(stage.model.features, fit.inverse[:, None]) > sizes.threshold**2
    drawn = stage.reference > 0
    return bool((long & drawn[..., :, None] & drawn[..., None, :]).any())


def _pair_lengths(features: Floats, inverse: Floats) -> Floats:
    """Return |f|^2 of all pairs of responses, shape (..., responses, responses)."""
    inner = features @ inverse @ np.swapaxes(features, -1, -2)
    own = np.diagonal(inner, axis1=-2, axis2=-1)
    return np.asarray(own[..., :, None] + own[..., None, :] - 2 * inner)
