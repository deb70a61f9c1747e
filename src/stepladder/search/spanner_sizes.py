"""How large SpannerSampling's phases must be, and what the paper says they cost (Thm. curriculum-spanner).

Write R for the bound on rewards, d for the dimension, accuracy for min(max_regret, temperature), and

    bracket = (R^2 / temperature) d^2 log^2(1 / delta) / accuracy.

    T_data  O~(bracket), whatever the coverage
    T_comp  O~(K C* (R / temperature)^2 bracket)     as printed in the theorem
    T_comp  O~(K C* (R / temperature)^2 bracket^2)   in its proof, with delta / K for each stage

Erratum: the theorem drops the square on the bracket that its proof has. The proof is right: SpannerSampling's
T_comp goes with T_data squared. Both are here with constant one, `t_comp_printed` and `t_comp_proof`. Direct
learning is one stage whose coverage is (C*)^K.

The algorithm is that of Foster, Mhammedi and Rohatgi, "Is a Good Foundation Necessary for Efficient
Reinforcement Learning?" (2025), arXiv 2503.07453. No copy of it was at hand: the *constants are a
reconstruction* from its guarantee, as the paper quotes it, and from the usual arguments; the numeric ones are
set by measurement.

    ridge      (R / parameter_bound)^2, so that the prior weighs as much as one reward
    threshold  temperature / (c (R sqrt(d log(bracket / delta)) + R)): the reward difference of a pair whose
               relative feature is that short is known to about the temperature
    T_prompt   the most pairs that can be longer than the threshold, by the elliptical potential
    T_span     C R / accuracy log(T_prompt / delta): what comes up in none of so many pairs is so rare, under
               the stage's best policy too, that ignoring it costs less than the accuracy
    T_exp      a share of the bracket
    envelope   M = 4 e^2 C: e^2 for errors of one temperature, 4 for the estimated normaliser
    draws      N = 4 M log(4 / delta)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from stepladder.errors import InputError
from stepladder.search.arms import check_delta

LARGEST_DRAWS = 10**15
"""Beyond this many draws per call, counts no longer fit 64 bits once they are summed."""


@dataclass(frozen=True)
class Task:
    """What a run of SpannerSampling is asked for; all that T_data may depend on."""

    reward_bound: float
    temperature: float
    dimension: int
    max_regret: float
    delta: float

    def __post_init__(self) -> None:
        """Check the ranges."""
        for option in ("reward_bound", "temperature", "max_regret"):
            _check_positive(option, getattr(self, option))
        if self.dimension < 1:
            raise InputError(f"must be at least 1, got {self.dimension}", option="dimension")
        check_delta(self.delta)

    @property
    def accuracy(self) -> float:
        """min(max_regret, temperature)."""
        return min(self.max_regret, self.temperature)

    @property
    def bracket(self) -> float:
        """The theorem's bracket, which is T_data up to constants and logarithms."""
        scale = self.reward_bound**2 / self.temperature
        return scale * self.dimension**2 * math.log(1 / self.delta) ** 2 / self.accuracy

    def share(self, n_stages: int) -> Task:
        """Return the task of one of several stages: a failure probability of delta / K each."""
        return Task(self.reward_bound, self.temperature, self.dimension, self.max_regret, self.delta / n_stages)


@dataclass(frozen=True)
class Constants:
    """The numeric constants that the reconstruction leaves open."""

    threshold: float = 0.25
    """c: the larger, the closer the spanner phase looks."""
    explore: float = 0.005
    """T_exp as a share of the bracket."""
    envelope: float = 4 * math.e**2
    """M as a multiple of the coverage."""

    def __post_init__(self) -> None:
        """Check that they are positive."""
        for option in ("threshold", "explore", "envelope"):
            _check_positive(option, getattr(self, option))


@dataclass(frozen=True)
class Sizes:
    """Everything one run of SpannerSampling fixes before it starts."""

    prompts: int
    """T_prompt."""
    pairs: int
    """T_span: pairs drawn at most for each prompt of the spanner phase."""
    explore: int
    """T_exp."""
    threshold: float
    """Relative features longer than this, in the inverse covariance's norm, are not yet spanned."""
    ridge: float
    envelope: float
    """M, how far a target's probability may exceed the reference's."""
    draws: int
    """N, the draws that estimate a normaliser and the draws after which rejection gives up."""


def sizes(task: Task, coverage: float, parameter_bound: float, constants: Constants | None = None) -> Sizes:
    """Work out the sizes of one run whose best policy is covered `coverage` times by its reference.

    >>> task = Task(reward_bound=1.0, temperature=0.25, dimension=4, max_regret=0.01, delta=0.05)
    >>> few, many = sizes(task, 4.0, 1.0), sizes(task, 16.0, 1.0)
    >>> few.prompts == many.prompts, few.explore == many.explore, round(many.draws / few.draws, 2)
    (True, True, 4.0)
    """
    if not 1 <= coverage < math.inf:
        raise InputError(f"must be at least 1 and finite, got {coverage:g}", option="coverage")
    _check_positive("parameter_bound", parameter_bound)
    constants = constants or Constants()
    bound = task.reward_bound
    ridge = (bound / parameter_bound) ** 2
    log_term = math.log(max(task.bracket, 1) / task.delta)
    radius = bound * math.sqrt(task.dimension * log_term) + math.sqrt(ridge) * parameter_bound
    threshold = task.temperature / (constants.threshold * radius)
    prompts = _most_additions(task.dimension, ridge, threshold)
    envelope = constants.envelope * coverage
    draws = 4 * envelope * math.log(4 / task.delta)
    pairs = coverage * max(1.0, bound / task.accuracy) * math.log(prompts / task.delta)
    if prompts * pairs > LARGEST_DRAWS or draws > LARGEST_DRAWS:
        raise InputError(f"of {coverage:g} asks for more than {LARGEST_DRAWS:g} draws", option="coverage")
    return Sizes(
        prompts=prompts,
        pairs=math.ceil(pairs),
        explore=math.ceil(constants.explore * task.bracket),
        threshold=threshold,
        ridge=ridge,
        envelope=envelope,
        draws=math.ceil(draws),
    )


def _most_additions(dimension: int, ridge: float, threshold: float) -> int:
    """Bound how many relative features (of norm at most 2) can each be longer than the threshold.

    Each multiplies the covariance's determinant by more than 1 + threshold^2, and n of them leave it at
    most at (ridge + 4 n / d)^d.
    """
    bound = 1.0
    for _ in range(200):
        bound = dimension * math.log1p(4 * bound / (dimension * ridge)) / math.log1p(threshold**2)
        bound = max(bound, 1.0)
    return math.ceil(bound)


def _check_positive(option: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise InputError(f"must be a positive number, got {value:g}", option=option)


def t_comp_printed(task: Task, stage_coverage: float, n_stages: int = 1) -> float:
    """T_comp as the theorem prints it, with constant one: the bracket is not squared."""
    return n_stages * stage_coverage * (task.reward_bound / task.temperature) ** 2 * task.bracket


def t_comp_proof(task: Task, stage_coverage: float, n_stages: int = 1) -> float:
    """T_comp as the theorem's proof has it, with constant one: the bracket squared, at delta / K."""
    stage = task.share(n_stages)
    return n_stages * stage_coverage * (task.reward_bound / task.temperature) ** 2 * stage.bracket**2
