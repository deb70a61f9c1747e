"""SpannerSampling three ways: directly, and by curricula of K stages (Thm. curriculum-spanner).

    direct        one run from the base model to the last stage's reward; coverage (C*)^K
    materialised  stage k starts from the policy of stage k-1 as a model of its own; coverage C*
    nested        stage k starts from what stage k-1 returned, a rejection sampler over the stage before it,
                  and so on down to the base model; coverage C*

T_comp is counted in draws from the stage's reference, as the theorem does, and in draws from the base model:

    direct        the same number, since the base model is its reference
    materialised  the same number: one answer of a materialised policy is one pass of a model, and counts as
                  one draw. Parameters add, so the policy of a stage is the base model reweighted once, by the
                  sum of what the stages learned. With a language model one would train it; that training
                  is outside T_comp, here as in the theorem.
    nested        each draw from the reference costs all the base draws that its samplers make, on average.
                  Costs multiply from stage to stage, and the gain is lost.

The theorem's proof starts stage k from the exact best policy of stage k-1; a run has only the one it learned.
Here each stage learns its reward less what its reference accounts for, which leaves the stage's best policy
where it was. So errors do not add up over stages: each stage mends those of the one before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from stepladder.errors import InputError, check_between, check_seed
from stepladder.search.linear_softmax import Floats, coverage
from stepladder.search.lock_chain import StagedProblem
from stepladder.search.rejection import Numbers
from stepladder.search.spanner import Spanned, Stage, spanner_sampling
from stepladder.search.spanner_sizes import Constants, Sizes, Task, sizes

Method = Literal["direct", "materialised", "nested"]


@dataclass(frozen=True)
class StageResult:
    """What a batch of runs did at one stage; arrays have one entry for each run."""

    stage: int
    """Which best policy was learned, 1..K."""
    sizes: Sizes
    coverage: Floats
    """The exact coverage of the stage's best policy by the reference that each run had."""
    regret: Floats
    """Regret, at this stage's reward, of the returned iterate as a rejection sampler."""
    materialised_regret: Floats
    """Regret of the policy with the iterate's parameter, drawn from without rejection."""
    t_data: Numbers
    t_comp: Numbers
    """Draws from the stage's reference."""
    t_comp_base: Floats
    """Draws from the base model."""
    spanner_draws: Numbers
    """The part of `t_comp` that the spanner phase took."""
    parameter: Floats
    """What the runs returned, from the base model on, shape (runs, dimension)."""
    answer_cost: Floats
    """Draws from the base model that one answer of the returned rejection sampler takes, on average."""


@dataclass(frozen=True)
class SpannerResult:
    """What a batch of runs learned over all stages."""

    method: Method
    problem: StagedProblem
    task: Task
    stages: tuple[StageResult, ...]

    @property
    def regret(self) -> Floats:
        """Regret at the last stage of the returned rejection sampler."""
        return self.stages[-1].regret

    @property
    def t_data(self) -> Numbers:
        """Reward queries over all stages."""
        return np.asarray(np.sum([stage.t_data for stage in self.stages], axis=0))

    @property
    def t_comp(self) -> Numbers:
        """Draws over all stages, each from its own reference."""
        return np.asarray(np.sum([stage.t_comp for stage in self.stages], axis=0))

    @property
    def t_comp_base(self) -> Floats:
        """Draws from the base model over all stages."""
        return np.asarray(np.sum([stage.t_comp_base for stage in self.stages], axis=0))

    def successes(self) -> int:
        """Count the runs with a regret of at most `max_regret` at every stage they went through."""
        worst = np.max([stage.regret for stage in self.stages], axis=0)
        return int((worst <= self.task.max_regret).sum())


def learn(
    problem: StagedProblem,
    method: Method,
    max_regret: float,
    delta: float = 0.05,
    runs: int = 1,
    seed: int = 0,
    constants: Constants | None = None,
    assumed_coverage: float | None = None,
) -> SpannerResult:
    """Run SpannerSampling one of the three ways, `runs` times side by side.

    `assumed_coverage` takes the place of the known one at every stage, to see what too little does.

    >>> from stepladder.search.lock_chain import lock_chain
    >>> problem = lock_chain([3.0, 3.0])
    >>> result = learn(problem, "materialised", max_regret=0.1, runs=20)
    >>> result.successes(), problem.base_regret() > 5 * 0.1
    (20, True)
    """
    _check(method, runs, seed)
    model = problem.model
    task = Task(problem.reward_bound, model.temperature, model.dimension, max_regret, delta)
    if method == "direct":
        steps, known, share = [problem.n_stages], [problem.total_coverage], task
    else:
        steps, known = list(range(1, problem.n_stages + 1)), list(problem.stage_coverage)
        share = task.share(problem.n_stages)
    rng = np.random.default_rng([seed, get_args(Method).index(method)])
    reference = np.broadcast_to(model.base, (runs, *model.base.shape))
    start, unit_cost = np.zeros((runs, model.dimension)), np.ones((runs, len(model.base)))
    results = []
    for step, covered in zip(steps, known, strict=True):
        counted_on = covered if assumed_coverage is None else assumed_coverage
        size = sizes(share, counted_on, problem.parameter_bound, constants)
        stage = Stage(model, reference, start, problem.targets[step - 1], problem.reward_bound)
        found = spanner_sampling(stage, size, rng)
        law, cost = found.iterate.law(rng)
        answer_cost = cost * unit_cost
        results.append(_result(problem, step, found, law, unit_cost, answer_cost))
        start = found.iterate.parameter
        if method == "nested":
            reference, unit_cost = law, answer_cost
        else:
            reference = model.policy(start)
    return SpannerResult(method, problem, task, tuple(results))


def _result(
    problem: StagedProblem, step: int, found: Spanned, law: Floats, unit_cost: Floats, answer_cost: Floats
) -> StageResult:
    """Evaluate exactly what a stage returned."""
    iterate, target = found.iterate, problem.targets[step - 1]
    return StageResult(
        stage=step,
        sizes=iterate.sizes,
        coverage=coverage(problem.best(step), iterate.stage.reference),
        regret=problem.model.regret(law, target),
        materialised_regret=problem.model.regret(problem.model.policy(iterate.parameter), target),
        t_data=found.t_data,
        t_comp=found.draws.sum(axis=1),
        t_comp_base=(found.draws * unit_cost).sum(axis=1),
        spanner_draws=found.spanner_draws.sum(axis=1),
        parameter=iterate.parameter,
        answer_cost=np.asarray(answer_cost @ problem.model.prompt_weights),
    )


def _check(method: str, runs: int, seed: int) -> None:
    if method not in get_args(Method):
        raise InputError(f"must be one of {', '.join(get_args(Method))}, got {method!r}", option="method")
    check_between("runs", runs, 1, 100_000)
    check_seed(seed)
