"""The values behind the claims about test-time scaling, found again by enumeration and plain simulation."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import rel_entr
from scipy.stats import norm

from stepladder.search import CountsArms, identify, paper_rule
from stepladder.theory.claims_search import DELTA, SEARCHES
from stepladder.trees import Parity, Part, Target

APART = 1.6


def steps_of(part, case):
    d, k = case
    return part.sizes(d, tuple(range(k)))


def found_share(sizes, per_depth, method, trials, seed):
    """How often each search finds the path: at every depth the arms' accepted pulls race, ties by lot."""
    rng = np.random.default_rng(seed)
    found = np.ones(trials)
    for depth, (size, pulls) in enumerate(zip(sizes, per_depth, strict=True)):
        finish = math.prod(1 / later for later in sizes[depth + 1 :]) if method == "bai" else 1.0
        chance = np.array([finish + (1 - finish) / 2] + [0.5] * (size - 1))
        accepted = rng.binomial(pulls, chance, size=(trials, size))
        best = accepted == accepted.max(axis=1, keepdims=True)
        found *= best[:, 0] / best.sum(axis=1)
    return found


@pytest.mark.parametrize(
    ("name", "method"), [("queries_terminal", "bai"), ("queries_family", "ltar")], ids=["bai", "ltar"]
)
def test_queries_to_99_percent_by_racing_arms(claim, case, part, name, method):
    # 4,000 searches: the standard error of an accuracy near 0.99 is about 0.001.
    d, k = case
    sizes = steps_of(part, case)
    found = claim(name, case)
    assert found.formula_value == (d ** (2 * k + 1) if method == "bai" else 4 * (k + 1) * d**2)
    per_arm = found.measured / sum(sizes)
    accuracies = []
    for factor in (1 / APART, APART):
        pulls = [round(per_arm * factor)] * len(sizes)
        accuracies.append(0.5 + 0.5 * found_share(sizes, pulls, method, 4_000, seed=3).mean())
    assert accuracies[0] < 0.987
    assert accuracies[1] > 0.992


def test_queries_of_algorithm_are_what_a_search_with_the_papers_repetitions_spends(claim, case, part):
    d, k = case
    target = Target(Parity(d), tuple(range(k)))
    found = claim("queries_of_algorithm", case)
    repetitions = math.ceil(d**2 * 4 * math.log(d / DELTA))
    assert found.measured == repetitions * sum(steps_of(part, case))
    assert found.formula_value == pytest.approx((k + 1) * d**2 * 4 * math.log(d / DELTA))
    arms = CountsArms("ltar", target, Part(target.tree), [5], tokens=False)
    spent = identify(arms, paper_rule("ltar", target, DELTA), 20, seed=2)
    assert (spent.t_data[spent.correct] == found.measured).all()
    assert spent.correct.sum() > 15


def test_gap_family_over_all_inputs(claim, case, part):
    d, _ = case
    rates = {part.agreement(2, (0,), (wrong,)) for wrong in range(1, d)}
    found = claim("gap_family", case)
    assert found.measured == float(part.agreement(2, (0,), (0,)) - max(rates))
    assert found.formula_value == 1 / d


def test_gap_terminal_over_all_suffixes(claim, small_case, part):
    """P(accepted | first pick forced), from the law of all paths that begin with it."""
    d, k = small_case
    secret = tuple(range(k))
    acceptance = []
    for forced in range(d):
        below = {path: part.probability(d, path) for path in part.paths(d) if path[0] == forced}
        accepted = sum(mass * (1 if path == secret else Fraction(1, 2)) for path, mass in below.items())
        acceptance.append(accepted / sum(below.values()))
    gap = acceptance[0] - max(acceptance[1:])
    assert claim("gap_terminal", small_case).measured == pytest.approx(float(gap), rel=1e-12)


def test_gap_terminal_is_half_the_chance_of_the_true_suffix(claim, case, part):
    d, k = case
    found = claim("gap_terminal", case)
    assert found.measured == pytest.approx(0.5 / math.prod(steps_of(part, case)[1:]))
    assert found.formula_value == pytest.approx(0.5 * d**-k)


@pytest.mark.parametrize(
    ("name", "method"), [("error_ltar", "ltar"), ("error_bai", "bai")], ids=["ltar", "bai"]
)
def test_error_with_the_papers_repetitions_by_racing_arms(claim, case, part, name, method):
    # Two-sample z-test of 1,000 searches against 20,000, at the 1e-5 level.
    d, k = case
    if method == "bai":
        per_depth = [math.ceil(d ** (2 * (k + 1 - depth)) * math.log(d / DELTA)) for depth in range(1, k + 2)]
    else:
        per_depth = [math.ceil(4 * d**2 * math.log(d / DELTA))] * (k + 1)
    expected = 1 - found_share(steps_of(part, case), per_depth, method, 20_000, seed=4).mean()
    found = claim(name, case)
    assert found.formula_value == DELTA
    error = math.sqrt(expected * (1 - expected) * (1 / SEARCHES + 1 / 20_000))
    assert abs(found.measured - expected) <= norm.isf(0.5e-5) * error + 1e-12


def test_forced_tries_have_the_mean_of_a_geometric_law(claim, case):
    # 20,000 tries to force one of d picks; z-test at 4.5 standard errors.
    d, _ = case
    found = claim("forced_tries", case)
    assert found.formula_value == d
    assert abs(found.measured - d) < 4.5 * math.sqrt(d * (d - 1) / 20_000)


def test_hoeffding_by_summing_the_binomial_exactly(claim, case):
    d, _ = case
    found = claim("hoeffding", case)
    samples = math.ceil(math.log(2 / DELTA) / 2 * d**2)
    off = [
        count
        for count in range(samples + 1)
        if abs(Fraction(count, samples) - Fraction(1, 2)) >= Fraction(1, d)
    ]
    tail = Fraction(sum(math.comb(samples, count) for count in off), 2**samples)
    assert found.measured == pytest.approx(float(tail), rel=1e-9)
    assert found.formula_value == DELTA


def test_pinsker_points_the_other_way(claim, case):
    d, _ = case
    found = claim("pinsker", case)
    best, other = np.array([0.5 + 1 / d, 0.5 - 1 / d]), np.array([0.5, 0.5])
    divergence = float(rel_entr(best, other).sum())
    assert found.measured == pytest.approx(divergence)
    assert found.formula_value == pytest.approx(2 / d**2)
    # Pinsker, and the upper bound that the lemma needs.
    assert 2 / d**2 <= divergence <= (1 / d**2) / 0.25


def test_node_exploration(claim, case, part):
    sizes = steps_of(part, case)
    found = claim("node_exploration", case)
    assert found.formula_value == pytest.approx(math.prod(sizes) / sum(sizes))
    terminal, family = claim("queries_terminal", case), claim("queries_family", case)
    assert found.measured == pytest.approx(terminal.measured / family.measured)
