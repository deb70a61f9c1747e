"""SpannerSampling: learn a KL-regularised linear softmax policy from rewards and draws of a reference model.

The algorithm is that of Foster, Mhammedi and Rohatgi, "Is a Good Foundation Necessary for Efficient Reinforcement
Learning?" (2025), arXiv 2503.07453, as Thm. curriculum-spanner uses it. No copy of that paper was at hand: the
steps follow a description of it, and the *constants are a reconstruction* (`stepladder.search.spanner_sizes`).

The relative feature of two responses is f = features(x, y1) - features(x, y2), |f| its norm in the inverse covariance.

    1. Spanner phase. covariance = ridge * identity. For each of T_prompt prompts draw up to T_span pairs from the
       reference; at the first with |f| > threshold ask for both rewards, store the pair, covariance += f f^T.
    2. Exploration phase, covariance frozen. T_exp times: fit the reward differences of all stored pairs by ridge
       regression; for a fresh prompt draw y2 from the reference and y1, by rejection, from the reference times
       exp(gain(y1, y2) / beta), where gain = <fit, f> if |f| <= threshold and 0 otherwise; ask for both
       rewards and store the pair.
    3. Return one of the T_exp iterates, uniformly at random. It answers a prompt as y1 was drawn.

T_data counts reward queries, two for each pair. T_comp counts draws from the reference: two for each pair of the
spanner phase, y2, the N that estimate a normaliser, the tries of the rejection. Draws are counted at each prompt.

A batch of independent runs goes side by side. Draws that leave no trace but their number are not made one by one: how
long a pair is waited for is geometric, and which pair comes is drawn from the law given that it is long. This is exact
in distribution and costs the same at every coverage.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stepladder.search.linear_softmax import Floats, LinearSoftmax
from stepladder.search.rejection import Numbers, Rejection, first_success, pick
from stepladder.search.spanner_sizes import Sizes

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
    """The parameter each run's reference already has, shape (runs, dimension).

    Rewards are learned less what it accounts for. So the best policy of the stage is the one of `target` even where
    the reference is not exactly the best policy of the stage before.
    """
    target: Floats
    """The parameter of the reward, shape (dimension,)."""
    reward_bound: float
    """A reward is this or nothing, with the mean that `target` gives: the noisiest there is."""

    @property
    def runs(self) -> int:
        """How many runs go side by side."""
        return len(self.start)


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
        return np.asarray(np.einsum("rij,rj->ri", self.inverse, self.moment))

    def add(self, relative: Floats, difference: Floats) -> None:
        """Store one pair for each run; a relative feature of 0 stores nothing."""
        along = np.einsum("rij,rj->ri", self.inverse, relative)
        scale = 1 / (1 + (along * relative).sum(axis=1))
        self.inverse = self.inverse - np.einsum("ri,rj,r->rij", along, along, scale)
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
        features = np.broadcast_to(self.stage.model.features, (*reference.shape, self.stage.model.dimension))
        for second in range(reference.shape[2]):
            tilt = _tilt(features - features[:, :, [second]], self, self.stage.model.beta)
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


def _span(stage: Stage, sizes: Sizes, fit: Fit, rng: np.random.Generator) -> tuple[Numbers, Numbers]:
    """Store the first long pair of each prompt; return how many there were, and the draws."""
    rows = np.arange(stage.runs)
    stored = np.zeros(stage.runs, dtype=np.int64)
    waited = np.zeros(stage.reference.shape[:2], dtype=np.int64)
    n_responses = stage.reference.shape[2]
    done = 0
    while done < sizes.prompts and (done % CHECK_EVERY or _long_pairs(stage, sizes, fit).any()):
        prompts = _ask(stage, rng)
        features, reference = stage.model.features[prompts], stage.reference[rows, prompts]
        norms = _pair_norms(features, fit.inverse)
        law = np.where(norms > sizes.threshold**2, reference[:, :, None] * reference[:, None, :], 0)
        tries = first_success(law.sum(axis=(1, 2)), rng)
        found = tries <= sizes.pairs
        first, second = np.divmod(pick(law.reshape(stage.runs, -1), rng), n_responses)
        relative = (features[rows, first] - features[rows, second]) * found[:, None]
        fit.add(relative, _reward_difference(stage, prompts, first, second, rng))
        stored += found
        waited[rows, prompts] += np.minimum(tries, sizes.pairs)
        done += 1
    # Everything is spanned: at all prompts that are left, no pair is long.
    waited += sizes.pairs * rng.multinomial(sizes.prompts - done, stage.model.prompt_weights, stage.runs)
    return stored, 2 * waited


def _explore(stage: Stage, sizes: Sizes, fit: Fit, rng: np.random.Generator) -> tuple[Iterate, Numbers]:
    """Act on the fit and add to it, T_exp times; return a random iterate and the draws."""
    rows = np.arange(stage.runs)
    draws = np.zeros(stage.reference.shape[:2], dtype=np.int64)
    returned = rng.integers(sizes.explore, size=stage.runs)
    kept = np.zeros_like(stage.start)
    frozen = fit.inverse
    sampler = Rejection(sizes.envelope, sizes.draws)
    for step in range(sizes.explore):
        now = Iterate(stage, sizes, fit.parameter, frozen)
        kept = np.where((returned == step)[:, None], now.gain, kept)
        prompts = _ask(stage, rng)
        features, reference = stage.model.features[prompts], stage.reference[rows, prompts]
        second = pick(reference, rng)
        relative = features - features[rows, second][:, None]
        tilt = _tilt(relative[:, None], now, stage.model.beta)[:, 0]
        first, cost = sampler.draw(reference, tilt, rng)
        fit.add(relative[rows, first], _reward_difference(stage, prompts, first, second, rng))
        draws[rows, prompts] += 1 + cost
    return Iterate(stage, sizes, kept, frozen), draws


def _tilt(relative: Floats, iterate: Iterate, beta: float) -> Floats:
    """Return gain / beta for relative features of shape (runs, prompts, responses, dimension)."""
    lengths = np.einsum("rxyi,rij,rxyj->rxy", relative, iterate.inverse, relative, optimize=True)
    gain = np.einsum("rxyi,ri->rxy", relative, iterate.gain)
    return np.where(lengths <= iterate.sizes.threshold**2, gain / beta, 0)


def _long_pairs(stage: Stage, sizes: Sizes, fit: Fit) -> npt.NDArray[np.bool_]:
    """Say for each run and prompt whether the reference can still draw a long pair."""
    lengths = _pair_norms(stage.model.features[None], fit.inverse[:, None])
    drawn = stage.reference > 0
    seen = drawn[..., :, None] & drawn[..., None, :]
    return np.asarray(((lengths > sizes.threshold**2) & seen).any(axis=(-2, -1)))


def _pair_norms(features: Floats, inverse: Floats) -> Floats:
    """Return |f|^2 of all pairs, shape (..., responses, responses)."""
    inner = features @ inverse @ np.swapaxes(features, -1, -2)
    own = np.diagonal(inner, axis1=-2, axis2=-1)
    return np.asarray(own[..., :, None] + own[..., None, :] - 2 * inner)


def _ask(stage: Stage, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw a prompt for each run."""
    weights = stage.model.prompt_weights
    return rng.choice(len(weights), size=stage.runs, p=weights)


def _reward_difference(
    stage: Stage, prompts: Numbers, first: Numbers, second: Numbers, rng: np.random.Generator
) -> Floats:
    """Ask for both rewards; return their difference less what the reference accounts for."""
    means = stage.model.rewards(stage.target) / stage.reward_bound
    chances = np.clip(np.stack([means[prompts, first], means[prompts, second]]), 0, 1)
    rewards = stage.reward_bound * (rng.random(chances.shape) < chances)
    features = stage.model.features
    relative = features[prompts, first] - features[prompts, second]
    return np.asarray(rewards[0] - rewards[1] - (relative * stage.start).sum(axis=1))
