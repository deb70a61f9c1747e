"""The values behind the claims about learning, found again by enumeration, closed forms and simulation."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from stepladder.finetune.complexity import FinetuneQuestion
from stepladder.finetune.run import default_rate
from stepladder.trees import Parity, Part, Target, TerminalOracle, rollout

HALF = Fraction(1, 2)
APART = 1.6
"""A measured sample size is checked at this factor below and above itself, where accuracy is far from 99%."""


def steps_of(part, case):
    d, k = case
    return part.sizes(d, tuple(range(k)))


def share_of_wins(counts, correct):
    """The probability that the correct arm is chosen among the largest counts, ties by lot."""
    best = counts == counts.max(axis=1, keepdims=True)
    return best[:, correct] / best.sum(axis=1)


# ---- success and margins


def test_success_decomposition_over_all_paths_and_inputs(claim, small_case, part):
    d, k = small_case
    secret = tuple(range(k))
    exact = sum(part.probability(d, path) * part.agreement(2, path, secret) for path in part.paths(d))
    found = claim("success_decomposition", small_case)
    assert found.measured == pytest.approx(float(exact), rel=1e-12)


def test_success_decomposition_by_rollouts(claim, case, part):
    # 200,000 rollouts of the base model, z-test at 4.5 standard errors.
    d, k = case
    found = claim("success_decomposition", case)
    path = part.probability(d, tuple(range(k)))
    assert found.formula_value == pytest.approx(float(path + (1 - path) / 2))
    oracle = TerminalOracle(Target(Parity(d), tuple(range(k))))
    chunks = rollout(Part(Parity(d)), 200_000, seed=6)
    accepted = sum(int(oracle.judge(chunk.inputs, chunk.answers).sum()) for chunk in chunks)
    assert abs(accepted / 200_000 - found.measured) < 4.5 * 0.5 / 200_000**0.5


def enumerated_margins(part, d, secret):
    """gamma_l of A's expected gradient: rewarded scores summed over all paths, in Fractions."""
    k, eos = len(secret), d
    gradient: dict[tuple[int, int], Fraction] = {}
    for path in part.paths(d):
        reward = part.probability(d, path) * (1 if path == secret else HALF)
        queries, picks = (eos, *path), (*path, eos)
        for query, pick in list(zip(queries, picks, strict=True))[: k + 1]:
            legal = range(d) if query == eos else range(query + 1, d + 1)
            for key in legal:
                score = (key == pick) - Fraction(1, len(legal))
                gradient[query, key] = gradient.get((query, key), 0) + reward * score
    gaps = []
    for query, pick in zip((eos, *secret), (*secret, eos), strict=True):
        rivals = [value for (at, key), value in gradient.items() if at == query and key != pick]
        gaps.append(gradient[query, pick] - max(rivals))
    return gaps


def test_margins_of_a_over_all_paths(claim, small_case, part):
    d, k = small_case
    gaps = enumerated_margins(part, d, tuple(range(k)))
    assert claim("margin_first", small_case).measured == pytest.approx(float(gaps[0]))
    assert claim("margin_last", small_case).measured == pytest.approx(float(gaps[-1]))


def test_margins_of_a_are_half_the_paths_probability_at_every_step(claim, case, part):
    d, k = case
    closed = float(part.probability(d, tuple(range(k))) / 2)
    first, last = claim("margin_first", case), claim("margin_last", case)
    assert first.measured == pytest.approx(closed)
    assert last.measured == pytest.approx(closed)
    assert first.formula_value == pytest.approx(d ** -(k + 1.0) / 2)
    assert last.formula_value == 1 / (2 * d)


def test_margin_of_the_first_stage_of_b(claim, case):
    # Every pick has probability 1/d and reward 1 or 1/2; the score is 1[j = pick] - 1/d.
    d, _ = case
    rewards = [Fraction(1)] + [HALF] * (d - 1)
    mean = sum(rewards) / d
    gradient = [reward / d - mean / d for reward in rewards]
    found = claim("margin_curriculum", case)
    assert found.measured == pytest.approx(float(gradient[0] - gradient[1]))
    assert found.formula_value == pytest.approx(0.5 / d**2)


# ---- sample sizes


def direct_accuracy(part, case, samples, trials, seed):
    """One endless step of A at d = 8: draw rewarded paths, then follow the most rewarded pick at every step."""
    d, k = case
    secret, eos = tuple(range(k)), d
    paths = part.paths(d)
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(samples, [float(part.probability(d, path)) for path in paths], size=trials)
    rewarded = rng.binomial(counts, [1.0 if path == secret else 0.5 for path in paths])
    found = np.ones(trials)
    for query, pick in zip((eos, *secret), (*secret, eos), strict=True):
        legal = list(range(d)) if query == eos else list(range(query + 1, d + 1))
        taken = np.zeros((len(paths), len(legal)), dtype=np.int64)
        for row, path in enumerate(paths):
            for before, after in list(zip((eos, *path), (*path, eos), strict=True))[: k + 1]:
                if before == query:
                    taken[row, legal.index(after)] += 1
        found *= share_of_wins(rewarded @ taken, legal.index(pick))
    return float((found + (1 - found) / 2).mean())


def test_samples_direct_by_drawing_all_paths(claim, small_case, part):
    # 2,000 trials: the standard error of an accuracy near 0.99 is below 0.002.
    found = claim("samples_direct", small_case)
    low, high = (
        direct_accuracy(part, small_case, round(found.measured * factor), 2_000, seed=1)
        for factor in (1 / APART, APART)
    )
    assert low < 0.985
    assert high > 0.993


def test_samples_direct_with_other_seeds(claim, case):
    d, k = case
    found = claim("samples_direct", case)
    assert found.formula_value == d ** (2 * k + 2)
    question = FinetuneQuestion(
        "no_curriculum", "parity", d, tuple(range(k)), default_rate("no_curriculum"), seed=4321
    )
    low, high = (
        question.accuracies(round(found.measured * factor), 400, 7).mean() for factor in (1 / APART, APART)
    )
    assert low < 0.99 < high


def stage_accuracy(part, case, samples, method, trials, seed):
    """One endless step per stage: at every step the correct pick's rewards race those of its rivals."""
    rng = np.random.default_rng(seed)
    sizes, found = steps_of(part, case), np.ones(trials)
    for step, size in enumerate(sizes, start=1):
        counts = rng.multinomial(samples, [1 / size] * size, size=trials)
        chance = np.array([1.0] + [0.5] * (size - 1))
        if method == "depth_increasing" and 1 < step < len(sizes):
            chance[-1] = 0  # EOS before the cut is discarded.
        found *= share_of_wins(rng.binomial(counts, chance), 0)
    return float((found + (1 - found) / 2).mean())


@pytest.mark.parametrize("method", ["depth_increasing", "hint_decreasing"])
def test_samples_of_the_curricula_by_racing_counts(claim, case, part, method):
    # 4,000 trials: the standard error of an accuracy near 0.99 is about 0.001.
    d, k = case
    found = claim(f"samples_{method}", case)
    assert found.formula_value == (k + 1) * d**2 * 4
    per_stage = found.measured / (k + 1)
    low, high = (
        stage_accuracy(part, case, round(per_stage * factor), method, 4_000, seed=2)
        for factor in (1 / APART, APART)
    )
    assert low < 0.985
    assert high > 0.994


def test_batch_of_algorithm_a(claim, case):
    d, k = case
    found = claim("batch_of_algorithm_a", case)
    assert found.formula_value / found.measured == d**2
    assert found.measured == d ** (2 * k + 2)


def test_curriculum_ratio_from_the_measured_sizes(claim, case):
    _, k = case
    direct, curriculum = claim("samples_direct", case), claim("samples_depth_increasing", case)
    found = claim("curriculum_ratio", case)
    root = direct.measured ** (1 / (k + 1))
    assert found.measured == pytest.approx(direct.measured / curriculum.measured)
    assert found.formula_value == pytest.approx(root**k / (k + 1))


def predicted(sizes, accuracy=0.99, q=0.5):
    """The ratio of `pays` for known steps, solved anew with the formula of its docstring."""
    rates = 1 / np.array(sizes, dtype=float)
    after = np.array([math.prod(rates[step + 1 :]) for step in range(len(rates))])
    direct = (1 - q) ** 2 * math.prod(rates) * after / (2 * q + (1 - q) * after)
    stage = (1 - q) ** 2 * rates / (1 + q)

    def needed(signal):
        def excess(log_n):
            missed = ((1 / rates - 1) * norm.sf(np.sqrt(math.exp(log_n) * signal))).sum()
            return missed - (1 - accuracy) / (1 - q)

        return math.exp(brentq(excess, 0, 100, xtol=1e-12))

    return needed(direct) / (len(rates) * needed(stage))


def test_predicted_ratio_by_solving_its_equation(claim, case, part):
    found = claim("predicted_ratio", case)
    assert found.formula_value == pytest.approx(predicted(steps_of(part, case)), rel=1e-6)
    assert found.measured == claim("curriculum_ratio", case).measured


def test_easy_to_hard_with_stages_that_cost_alike(claim, case):
    """With e l = 1 each of the k earlier stages costs as much as the last, so the condition is k < m - 1."""
    _, k = case
    found = claim("easy_to_hard", case)
    last = claim("samples_depth_increasing", case).measured / (k + 1)
    assert found.formula_value == k
    assert found.measured == pytest.approx(claim("samples_direct", case).measured / last - 1)


# ---- learning rates


def test_rate_of_a_from_the_closed_form_of_its_gradient(claim, case, part):
    """The gap after one population step is rate * P(path) / 2 at every step."""
    d, k = case
    sizes = steps_of(part, case)
    path = float(part.probability(d, tuple(range(k))))

    def accuracy(log_rate):
        gap = math.exp(log_rate) * path / 2
        right = math.prod(1 / (1 + (size - 1) * math.exp(-gap)) for size in sizes)
        return (1 + right) / 2

    found = claim("rate_direct", case)
    smallest = math.exp(brentq(lambda log_rate: accuracy(log_rate) - 0.99, 0, 40, xtol=1e-12))
    assert found.measured == pytest.approx(smallest, rel=1e-6)
    assert found.formula_value == pytest.approx(2 * math.log(d) * d ** (k + 1))


def accuracy_of_b(case, rate):
    """Run the population updates of B: masses on the target's path and off it, stage by stage."""
    d, k = case
    eos, queries, picks = d, (d, *range(k)), (*range(k), d)
    legal = np.triu(np.ones((d + 1, d + 1), dtype=bool), 1)
    legal[eos] = np.arange(d + 1) < d
    W = np.zeros((d + 1, d + 1))

    def policy():
        weights = np.where(legal, np.exp(W - W.max(axis=1, keepdims=True)), 0)
        return weights / weights.sum(axis=1, keepdims=True)

    for stage in range(1, k + 2):
        law = policy()
        on, off = 1.0, np.zeros(d + 1)
        for step in range(stage - 1):
            leaving = on * law[queries[step]]
            on = leaving[picks[step]]
            leaving[picks[step]] = 0
            off = off @ law + leaving
            off[eos] = 0
        rewarded = off[:, None] * law / 2
        rewarded[queries[stage - 1]] += on * law[queries[stage - 1]] / 2
        rewarded[queries[stage - 1], picks[stage - 1]] += on * law[queries[stage - 1], picks[stage - 1]] / 2
        if stage <= k:
            rewarded[:, eos] = 0  # It ended before the cut and is discarded.
        W = W + rate * (rewarded - law * rewarded.sum(axis=1, keepdims=True))
    law = policy()
    right = math.prod(law[query, pick] for query, pick in zip(queries, picks, strict=True))
    return (1 + right) / 2


def test_rate_of_b_by_running_its_population_updates(claim, case):
    d, _ = case
    found = claim("rate_curriculum", case)
    smallest = math.exp(brentq(lambda log_rate: accuracy_of_b(case, math.exp(log_rate)) - 0.99, 1, 12))
    assert found.measured == pytest.approx(smallest, rel=1e-6)
    assert found.formula_value == pytest.approx(2 * math.log(d) * d**2)


# ---- variance


def test_objective_variance(claim, case, part):
    d, k = case
    path = part.probability(d, tuple(range(k)))
    success = path + (1 - path) / 2
    found = claim("objective_variance", case)
    assert found.measured == pytest.approx(float(success - success**2), rel=1e-14)
    assert found.formula_value == 0.25


def closed_moments(part, case):
    """E|G|^2, |E G|^2 and sum_l S_l: with s legal picks attention is 1/s and a score is (1[k=i] - 1/s)/s."""
    d, k = case
    path = float(part.probability(d, tuple(range(k))))
    noise = {size: (1 - 1 / size) / size**2 for size in range(1, d + 1)}
    at = {d: 1.0}  # The law of the query's number of legal picks; the root has d, position i has d - i.
    second = concentration = 0.0
    for _ in range(k + 1):
        second += sum(mass * noise[size] for size, mass in at.items()) / 2
        concentration += sum(mass / size for size, mass in at.items())
        onward: dict[int, float] = {}
        for size, mass in at.items():
            root = len(at) == 1 and size == d and mass == 1
            for smaller in range(1, size + 1 if root else size):
                onward[smaller] = onward.get(smaller, 0.0) + mass / size
        at = onward
    on_path = sum(noise[size] for size in steps_of(part, case))
    return second + path / 2 * on_path, path**2 / 4 * on_path, concentration


def test_gradient_error_and_signal_to_noise_in_closed_form(claim, case, part):
    d, k = case
    second, mean, concentration = closed_moments(part, case)
    success = (1 + float(part.probability(d, tuple(range(k))))) / 2
    bound = 16 * success * concentration
    error, ratio = claim("gradient_error", case), claim("signal_to_noise", case)
    assert error.measured == pytest.approx(second - mean, rel=1e-9)
    assert error.formula_value == pytest.approx(bound, rel=1e-9)
    assert ratio.measured == pytest.approx(mean / (second - mean), rel=1e-6)
    assert ratio.formula_value == pytest.approx(mean / bound, rel=1e-6)


def test_gradient_error_over_all_paths(claim, small_case, part):
    """E|G|^2 - |E G|^2 with G listed path by path, in Fractions."""
    d, k = small_case
    secret, eos = tuple(range(k)), d
    second, mean = Fraction(0), {}
    for path in part.paths(d):
        mass = part.probability(d, path) * (1 if path == secret else HALF)
        for query, pick in list(zip((eos, *path), (*path, eos), strict=True))[: k + 1]:
            legal = range(d) if query == eos else range(query + 1, d + 1)
            for key in legal:
                score = ((key == pick) - Fraction(1, len(legal))) / len(legal)
                second += mass * score**2
                mean[query, key] = mean.get((query, key), 0) + mass * score
    exact = second - sum(value**2 for value in mean.values())
    assert claim("gradient_error", small_case).measured == pytest.approx(float(exact), rel=1e-9)
