"""Claims about test-time scaling: oracle queries, tokens, gaps, and the bandit lemmas behind them."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom

from stepladder.search import CountsArms, RolloutArms, identify, paper_rule
from stepladder.theory.claims import FAILS, HOLDS, Case, Claim, lower_bound, same_order, upper_bound
from stepladder.theory.neighbours import NodeExploration
from stepladder.trees import family_spurious_rate

DELTA = 0.1
SEARCHES = 1000


def _total(case: Case, method: str) -> float:
    point = case.measured("bai" if method == "bai" else "ltar")
    return point.question.units * point.crossing.value if point.crossing else math.inf


def queries_terminal(case: Case) -> Claim:
    """Thm. 3, item 1, in its formal version."""
    formula, measured = float(case.d ** (2 * case.k + 1)), _total(case, "bai")
    return Claim(
        "queries_terminal",
        "Thm. 3, item 1 (formal version)",
        "with the terminal oracle only, T_data is at least of order d^(2k+1)",
        formula,
        measured,
        lower_bound(formula, measured),
        "queries to 99% accuracy, fixed per arm; the main text states the weaker d^(2k)",
    )


def queries_family(case: Case) -> Claim:
    """Thm. 3, item 2."""
    formula, measured = (case.k + 1) * case.d**2 * 4.0, _total(case, "ltar")
    return Claim(
        "queries_family",
        "Thm. 3, item 2",
        "with the family oracle, T_data of order (k+1) d^2 (1-rho)^-2 suffices",
        formula,
        measured,
        upper_bound(formula, measured),
        "about ten queries per arm are enough",
    )


def queries_of_algorithm(case: Case) -> Claim:
    """LTAR's own repetitions against its bound."""
    rule = paper_rule("ltar", case.target, DELTA)
    arms = case.part.branching(case.target)
    measured = float(sum(m * size for m, size in zip(rule.per_depth, arms, strict=True)))
    formula = (case.k + 1) * case.d**2 * 4 * math.log(case.d / DELTA)
    return Claim(
        "queries_of_algorithm",
        "Thm. LTAR, Step 2",
        "LTAR with its own m makes of order (k+1) d^2 (1-rho)^-2 log(d/delta) queries",
        formula,
        measured,
        FAILS if measured > 2 * formula else HOLDS,
        "m is per arm and a depth has about d arms; the proof counts m once, so a factor d is lost",
    )


def gap_family(case: Case) -> Claim:
    """The acceptance gap of LTAR."""
    measured = float(1 - family_spurious_rate(case.target, 1).value)
    return Claim(
        "gap_family",
        "Thm. LTAR, Step 1",
        "the acceptance gap under the family oracle is Theta(1/d)",
        1 / case.d,
        measured,
        FAILS if measured > 2 / case.d else HOLDS,
        "with the pick forced, the correct one is always accepted and a wrong one half of the time: 1-rho",
    )


def gap_terminal(case: Case) -> Claim:
    """The acceptance gap of BAI at depth 1."""
    sizes = case.part.branching(case.target)
    suffix = math.prod(1 / size for size in sizes[1:])
    measured = float(1 - family_spurious_rate(case.target, 1).value) * suffix
    formula = 0.5 * case.d**-case.k
    return Claim(
        "gap_terminal",
        "Prop. terminal signal collapse, Step 5",
        "the acceptance gap at depth 1 under the terminal oracle is Theta(d^-k) (1-rho)",
        formula,
        measured,
        same_order(formula, measured, 8),
        "the chance of the true suffix times 1-rho",
    )


def error_ltar(case: Case) -> Claim:
    """LTAR with the paper's m."""
    found = identify(
        CountsArms("ltar", case.target, case.part, [1], tokens=False),
        paper_rule("ltar", case.target, DELTA),
        SEARCHES,
        seed=1,
    )
    measured = float(1 - found.correct.mean())
    return Claim(
        "error_ltar",
        "Thm. LTAR",
        f"LTAR with its m errs with probability at most delta = {DELTA:g}",
        DELTA,
        measured,
        HOLDS if measured <= DELTA else FAILS,
        f"{SEARCHES} searches",
    )


def error_bai(case: Case) -> Claim:
    """BAI with the paper's m."""
    found = identify(
        CountsArms("bai", case.target, case.part, [1], tokens=False),
        paper_rule("bai", case.target, DELTA),
        SEARCHES,
        seed=1,
    )
    measured = float(1 - found.correct.mean())
    return Claim(
        "error_bai",
        "Alg. bai",
        f"BAI with m = d^(2(k+1-l)) log(d/delta) errs with probability at most delta = {DELTA:g}",
        DELTA,
        measured,
        HOLDS if measured <= DELTA else FAILS,
        f"{SEARCHES} searches; the Theta hides a constant of about 2 (1-rho)^-2 that the number needs",
    )


def forced_tries(case: Case) -> Claim:
    """FXRS retries."""
    searches = 20_000
    arms = RolloutArms("ltar", case.target, case.part, [2])
    roots = np.zeros((1, 0), dtype=np.int64)
    pulls = np.zeros((1, case.d + 1), dtype=np.int64)
    pulls[0, case.target.picks[0]] = searches
    measured = float(arms.pull(roots, pulls)[1][0]) / searches
    return Claim(
        "forced_tries",
        "Alg. fxrs",
        "forcing a pick takes Theta(d) tries in expectation",
        float(case.d),
        measured,
        same_order(case.d, measured, 1.05),
        f"mean over {searches:,} forced picks at the root, sampled; geometric with mean |legal|",
    )


def hoeffding(case: Case) -> Claim:
    """Hoeffding's sample size."""
    error = 1 / case.d
    samples = math.ceil(math.log(2 / DELTA) / (2 * error**2))
    off = math.ceil(samples * (0.5 + error))
    measured = float(2 * binom.sf(off - 1, samples, 0.5))
    return Claim(
        "hoeffding",
        "Lemma hoeffding_bernoulli",
        "log(2/delta) / (2 eps^2) samples estimate a mean within eps = 1/d with probability 1 - delta",
        DELTA,
        measured,
        upper_bound(DELTA, measured),
        "exact binomial tail at p = 1/2",
    )


def pinsker(case: Case) -> Claim:
    """The direction of Pinsker's inequality."""
    gap = 1 / case.d
    best, other = 0.5 + gap, 0.5
    measured = best * math.log(best / other) + (1 - best) * math.log((1 - best) / (1 - other))
    formula = 2 * gap**2
    return Claim(
        "pinsker",
        "Lemma two_arm_lb",
        "KL(Bern(p*) || Bern(p)) <= 2 (p* - p)^2",
        formula,
        measured,
        HOLDS if measured <= formula else FAILS,
        "Pinsker's inequality says >=; what the lemma needs is KL <= (p*-p)^2 / (p (1-p)), which is true",
    )


def node_exploration(case: Case) -> Claim:
    """UFT's node count beside ours."""
    nodes = NodeExploration.of_target(case.target)
    direct, curriculum = case.measured("bai"), case.measured("ltar")
    assert direct.crossing and curriculum.crossing
    measured = direct.crossing.value / curriculum.crossing.value
    return Claim(
        "node_exploration",
        "Remark uft-relation",
        "UFT's node count predicts the gain of a curriculum in oracle queries",
        nodes.ratio,
        measured,
        same_order(nodes.ratio, measured, 3),
        "it counts nodes, not queries: with an oracle that accepts half of all wrong chains telling them "
        "apart costs the square of the rarity, so the gain is far larger",
    )


CHECKS = (
    queries_terminal,
    queries_family,
    queries_of_algorithm,
    gap_family,
    gap_terminal,
    error_ltar,
    error_bai,
    forced_tries,
    hoeffding,
    pinsker,
    node_exploration,
)
