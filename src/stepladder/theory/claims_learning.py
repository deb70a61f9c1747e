"""Claims about finetuning: margins, sample sizes, learning rates, variance, when a curriculum pays."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from stepladder.curriculum import MethodName, no_curriculum, stages_of
from stepladder.finetune.engines import ExactEngine, stage_accuracy
from stepladder.finetune.flow import Means, flow
from stepladder.finetune.margins import margins
from stepladder.finetune.setup import Setup
from stepladder.finetune.train import Recipe, train
from stepladder.theory.bounds import Bounds
from stepladder.theory.claims import FAILS, HOLDS, Case, Claim, equal, lower_bound, same_order, upper_bound
from stepladder.theory.condition import CurriculumCost
from stepladder.theory.neighbours import EasyToHard
from stepladder.theory.pays import costs
from stepladder.transformer import Readout


def _bounds(case: Case) -> Bounds:
    return Bounds(case.d, case.k, rho=0.5)


def _base(case: Case) -> Tensor:
    return torch.zeros(1, case.d + 1, case.d + 1, dtype=torch.float64)


def _direct_margins(case: Case) -> list[float]:
    engine = ExactEngine(Setup(case.target))
    gradient = engine.gradient(_base(case), no_curriculum(case.k)[0], 1, [0])[0]
    return [float(gap) for gap in margins(gradient, case.target)]


def success_decomposition(case: Case) -> Claim:
    """p_succ = p_path + (1 - p_path) rho."""
    path = float(case.part.path_probability(case.target.picks))
    setup = Setup(case.target)
    accepted = flow(setup.law(_base(case)), case.target, no_curriculum(case.k)[0], 1, Means()).accepted
    measured = float(accepted[0, case.d].sum())
    return Claim(
        "success_decomposition",
        "Eq. psucc_decompose",
        "the base model is accepted with probability p + (1-p)/2",
        path + (1 - path) / 2,
        measured,
        equal(path + (1 - path) / 2, measured),
        "exact engine: accepted mass that leaves the root",
    )


def margin_first(case: Case) -> Claim:
    """The margin of A at the first step."""
    formula, measured = _bounds(case).margin("no_curriculum", 1), _direct_margins(case)[0]
    room = math.prod(case.d / size for size in case.part.branching(case.target))
    return Claim(
        "margin_first",
        "Thm. per-step sample size, case A",
        "the margin of A at step 1 is Theta(d^-(k+1) (1-rho))",
        formula,
        measured,
        same_order(formula, measured, 1.01 * room),
        "exactly P(path) (1-rho)",
    )


def margin_last(case: Case) -> Claim:
    """The margin of A at the last step."""
    formula, measured = _bounds(case).margin("no_curriculum", case.k + 1), _direct_margins(case)[-1]
    return Claim(
        "margin_last",
        "Thm. per-step sample size, case A",
        "the margin of A at step k+1 is Theta(d^-1 (1-rho))",
        formula,
        measured,
        FAILS if measured < formula / 2 else HOLDS,
        "the expected gradient has P(path) (1-rho) at every step: later steps are easier only once the "
        "earlier ones are right, and in one shot they are not",
    )


def margin_curriculum(case: Case) -> Claim:
    """The margin of B at its first stage."""
    formula = _bounds(case).margin("depth_increasing", 1)
    engine = ExactEngine(Setup(case.target))
    gradient = engine.gradient(_base(case), stages_of("depth_increasing", case.k)[0], 1, [0])[0]
    measured = float(margins(gradient, case.target)[0])
    return Claim(
        "margin_curriculum",
        "Thm. per-step sample size, case B",
        "the margin of each stage of B is Theta(d^-2 (1-rho))",
        formula,
        measured,
        lower_bound(formula, measured),
        "it is (1-rho)/d: the extra 1/d is the attention weight of the literal readout's score, which the "
        "margin of A leaves out",
    )


def samples_direct(case: Case) -> Claim:
    """Thm. 2, item 1."""
    formula = float(case.d ** (2 * case.k + 2))
    point = case.measured("no_curriculum")
    measured = point.crossing.value if point.crossing else math.inf
    return Claim(
        "samples_direct",
        "Thm. 2, item 1",
        "without a curriculum 99% accuracy takes at least of order d^(2k+2) samples",
        formula,
        measured,
        lower_bound(formula, measured),
        "fixed n, one large step; measured exponents over d are near 2k+1 with a log, so the lower bound "
        "is too strong by a factor d for large d",
    )


def _samples_curriculum(case: Case, method: MethodName, item: str) -> Claim:
    stages = case.k + 1
    formula = stages * case.d**2 * 4.0
    point = case.measured(method)
    measured = stages * point.crossing.value if point.crossing else math.inf
    return Claim(
        f"samples_{method}",
        item,
        f"{method}: 99% accuracy takes at most of order (k+1) d^2 (1-rho)^-2 samples",
        formula,
        measured,
        same_order(formula, measured, math.log(100 * case.d))
        if measured > formula
        else upper_bound(formula, measured),
        "fixed n per stage; measured growth is d log d per stage, so the bound is loose by d/log d",
    )


def samples_depth_increasing(case: Case) -> Claim:
    """Thm. 2, item 2, for B."""
    return _samples_curriculum(case, "depth_increasing", "Thm. 2, item 2 (B)")


def samples_hint_decreasing(case: Case) -> Claim:
    """Thm. 2, item 2, for C."""
    return _samples_curriculum(case, "hint_decreasing", "Thm. 2, item 2 (C)")


def batch_of_algorithm_a(case: Case) -> Claim:
    """Alg. A's batch against its theorem's."""
    formula, measured = float(case.d ** (2 * case.k + 4)), float(case.d ** (2 * case.k + 2))
    return Claim(
        "batch_of_algorithm_a",
        "Alg. A against Thm. one-pass",
        "algorithm and theorem name the same batch size",
        formula,
        measured,
        equal(formula, measured),
        "the algorithm says d^(2k+4), the theorem d^(2k+2)",
    )


def _smallest_rate(case: Case, method: MethodName) -> float:
    """Return the smallest learning rate with which the population update reaches 99%, by bisection."""
    setup = Setup(case.target)
    engine, stages = ExactEngine(setup), stages_of(method, case.k)

    def accuracy(rate: float) -> float:
        result = train(engine, stages, Recipe(learning_rates=(rate,), samples=1), 1)
        return float(stage_accuracy(setup, setup.law(result.weights), no_curriculum(case.k)[0])[0])

    low, high = 0.0, 40.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if accuracy(math.exp(middle)) >= 0.99 else (middle, high)
    return math.exp(high)


def _rate(case: Case, method: MethodName) -> Claim:
    formula, measured = _bounds(case).learning_rate(method), _smallest_rate(case, method)
    order = "d^(k+1)" if method == "no_curriculum" else "d^2"
    return Claim(
        f"learning_rate_{method}",
        "Thm. one-pass and online schedules",
        f"{method}: a learning rate of order beta log(d) {order} (1-rho)^-1 suffices",
        formula,
        measured,
        upper_bound(formula, measured) if measured <= formula else same_order(formula, measured, 20),
        "smallest rate at which the population update reaches 99%",
    )


def rate_direct(case: Case) -> Claim:
    """The learning rate of A."""
    return _rate(case, "no_curriculum")


def rate_curriculum(case: Case) -> Claim:
    """The learning rate of B."""
    return _rate(case, "depth_increasing")


def objective_variance(case: Case) -> Claim:
    """Var of the empirical objective."""
    path = float(case.part.path_probability(case.target.picks))
    success = path + (1 - path) / 2
    measured = _bounds(case).objective_variance(success, 1)
    return Claim(
        "objective_variance",
        "Lemma Var_REINFORCE, item 1",
        "the objective's variance is p(1-p)/n, at most 1/(4n) (n = 1)",
        0.25,
        measured,
        upper_bound(0.25, measured),
        "rewards are Bernoulli; with q = 1/2 the bound is nearly attained",
    )


def _gradient_moments(case: Case) -> tuple[float, float, float, float]:
    """Return E|G|^2, |E G|^2, p_succ and sum_l S_l of the literal readout at the base model, exactly."""
    setup = Setup(case.target, Readout("double_softmax"))
    weights, stage = _base(case), no_curriculum(case.k)[0]
    law = setup.law(weights)
    counts = torch.from_numpy(flow(law, case.target, stage, 1, Means()).accepted)
    logits, legal = setup.logits(weights)
    identity = torch.eye(case.d + 1, dtype=torch.float64).expand(1, case.d + 1, -1, -1)
    every = setup.readout.score(logits.unsqueeze(-2), legal.unsqueeze(-2), identity)
    # Queries of one chain differ from step to step, so its scores sit in different columns of W.
    second = float((counts * every.pow(2).sum(-1)).sum())
    mean = float(setup.readout.score(logits, legal, counts).pow(2).sum())
    success = float(counts[0, case.d].sum())
    concentration = _concentration(case, law)
    return second, mean, success, concentration


def _concentration(case: Case, law: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    """Return sum_l S_l: the expected squared attention at each of the first k+1 steps."""
    squares = (law[0] ** 2).sum(axis=1)
    at = np.zeros(case.d + 1)
    at[case.d] = 1
    total = 0.0
    for _ in range(case.k + 1):
        total += float(at @ squares)
        at = at @ law[0]
        at[case.d] = 0
    return total


def gradient_error(case: Case) -> Claim:
    """The mean squared error of the empirical gradient."""
    second, mean, success, concentration = _gradient_moments(case)
    formula = _bounds(case).gradient_error(success, concentration, 1)
    return Claim(
        "gradient_error",
        "Lemma Var_REINFORCE, item 2",
        "E|g - mu|^2 <= 16/beta^2 p_succ sum_l S_l / n (n = 1, literal readout)",
        formula,
        second - mean,
        upper_bound(formula, second - mean),
        "exact: E|G|^2 - |mu|^2 from the transition masses",
    )


def signal_to_noise(case: Case) -> Claim:
    """The SNR bound."""
    second, mean, success, concentration = _gradient_moments(case)
    formula = mean / _bounds(case).gradient_error(success, concentration, 1)
    measured = mean / (second - mean)
    return Claim(
        "signal_to_noise",
        "Lemma Var_REINFORCE, SNR",
        "the gradient's signal-to-noise ratio per sample is at least |mu|^2 / (16 p_succ sum_l S_l)",
        formula,
        measured,
        lower_bound(formula, measured),
        "and it vanishes as P(path)^2: that is why direct training needs so many samples",
    )


def curriculum_ratio(case: Case) -> Claim:
    """Cor. 1 with C* = d^2."""
    direct, curriculum = case.measured("no_curriculum"), case.measured("depth_increasing")
    assert direct.crossing and curriculum.crossing
    cost = CurriculumCost(direct.crossing.value, (curriculum.crossing.value,) * (case.k + 1))
    formula = cost.direct ** (case.k / (case.k + 1)) / (case.k + 1)
    return Claim(
        "curriculum_ratio",
        "Cor. 1",
        "direct over curriculum is of order C*^(L-1) / L with C* the L-th root of the direct cost",
        formula,
        cost.ratio,
        same_order(formula, cost.ratio, 40),
        f"stages cost C*^{max(cost.exponents):.2f} here: the relaxed condition, with p_max well below L",
    )


def predicted_ratio(case: Case) -> Claim:
    """Our own closed form of the ratio."""
    steps = 1 / np.asarray(case.part.branching(case.target), dtype=np.float64)
    direct, curriculum = costs(steps, 0.5, 0.99)
    one, other = case.measured("no_curriculum"), case.measured("depth_increasing")
    assert one.crossing and other.crossing
    measured = one.crossing.value / ((case.k + 1) * other.crossing.value)
    formula = float(direct / curriculum)
    return Claim(
        "predicted_ratio",
        "not in the paper: stepladder.theory.pays",
        "direct over curriculum, predicted from success rates alone",
        formula,
        measured,
        same_order(formula, measured, 1.5),
        "normal approximation of the race between rewarded counts",
    )


def easy_to_hard(case: Case) -> Claim:
    """E2H's condition beside ours."""
    direct, curriculum = case.measured("no_curriculum"), case.measured("depth_increasing")
    assert direct.crossing and curriculum.crossing
    hardness = direct.crossing.value / curriculum.crossing.value
    condition = EasyToHard(case.k + 1, accuracy=1.0, sensitivity=1.0, hardness=hardness)
    measured = hardness / (case.k + 1)
    agrees = condition.pays == (measured > 1)
    return Claim(
        "easy_to_hard",
        "Remark e2h-relation",
        "E2H's condition says the same as the measured ratio (its left side against m - 1)",
        condition.earlier_stages,
        hardness - 1,
        HOLDS if agrees else FAILS,
        "stages cost alike here, so e l = 1 and the condition reads k < m - 1; it takes m, how much harder "
        "direct learning is, as given, where coverage predicts it",
    )


CHECKS = (
    success_decomposition,
    margin_first,
    margin_last,
    margin_curriculum,
    samples_direct,
    samples_depth_increasing,
    samples_hint_decreasing,
    batch_of_algorithm_a,
    rate_direct,
    rate_curriculum,
    objective_variance,
    gradient_error,
    signal_to_noise,
    curriculum_ratio,
    predicted_ratio,
    easy_to_hard,
)
