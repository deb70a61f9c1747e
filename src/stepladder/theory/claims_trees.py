"""Claims about trees and the base model: success rates, coverage, lengths, spurious acceptance."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

from stepladder.theory.claims import FAILS, HOLDS, Case, Claim, equal, same_order, upper_bound
from stepladder.theory.subtask_rewards import branches, printed_acceptance
from stepladder.trees import expected_reciprocal_product, family_spurious_rate
from stepladder.trees.part import reciprocal_symmetric


def root_rule(case: Case) -> Claim:
    """The root picks each input with probability 1/d."""
    measured = 1 / len(case.target.tree.legal())
    return Claim(
        "root_rule",
        "Thm. PART Behavior of Parity Class",
        "the root picks each of the d inputs with probability 1/d",
        1 / case.d,
        measured,
        equal(1 / case.d, measured),
        "EOS is not legal at the root, as Eq. (forward) has it; the tree figure and 'EOS is always a legal "
        "choice' would make it 1/(d+1)",
    )


def path_decay(case: Case) -> Claim:
    """Cor. 2."""
    formula = case.d ** -(case.k + 1.0)
    measured = float(case.part.path_probability(case.target.picks))
    room = math.prod(case.d / size for size in case.part.branching(case.target))
    return Claim(
        "path_decay",
        "Cor. 2",
        "PART takes the target's path with probability Theta(d^-(k+1))",
        formula,
        measured,
        same_order(formula, measured, 1.01 * room),
        f"exactly 1/{'·'.join(map(str, case.part.branching(case.target)))}; for a secret at the end of the "
        "input, such as [5,6,7] of 8, it is far larger, so the order holds only while d - i = Theta(d)",
    )


def coverage_step(case: Case) -> Claim:
    """One more pick multiplies coverage by Theta(d)."""
    measured = float(case.part.coverage(case.target, case.k, case.k - 1))
    return Claim(
        "coverage_step",
        "Sec. 2, after Cor. 2",
        "the coverage coefficient of one more pick is Theta(d)",
        float(case.d),
        measured,
        same_order(case.d, measured, 3),
        "it is the number of legal picks there",
    )


def coverage_total(case: Case) -> Claim:
    """The coverage of the k-th prefix policy against PART."""
    formula = case.d ** (case.k + 1.0)
    measured = float(case.part.coverage(case.target, case.k))
    return Claim(
        "coverage_total",
        "Sec. 2, after Cor. 2",
        "the coverage of the prefix policy of k picks against PART is Theta(d^(k+1))",
        formula,
        measured,
        FAILS if measured < formula / 2 else HOLDS,
        "the policy copies PART after its k picks, which makes it d^k; d^(k+1) needs EOS to be forced too, "
        f"which gives {case.part.coverage(case.target, case.k, ends=True):,}",
    )


def path_count(case: Case) -> Claim:
    """There are C(d, k) legal paths of k picks."""
    formula = math.comb(case.d, case.k)
    measured = len(next(level for level in case.target.tree.chains() if level.shape[1] == case.k))
    return Claim(
        "path_count",
        "Thm. PART Behavior of Parity Class",
        "there are C(d,k) legal chains of k picks",
        float(formula),
        float(measured),
        equal(formula, measured),
        "enumerated on the tree",
    )


def expected_product(case: Case) -> Claim:
    """The exact lemma on E[F]."""
    formula = expected_reciprocal_product(case.d, case.k)
    paths = list(combinations(range(case.d), case.k))
    total = sum((case.part.path_probability(path) for path in paths), Fraction(0))
    measured = total / len(paths)
    return Claim(
        "expected_product",
        "Lemma expected_reciprocal_product",
        "E[F] = e_k(1, 1/2, .., 1/d) / (d C(d,k))",
        float(formula),
        float(measured),
        HOLDS if formula == measured else FAILS,
        f"equal as fractions over all {len(paths):,} paths",
    )


def expected_product_limit(case: Case) -> Claim:
    """The asymptotic form of E[F]."""
    formula = math.log(case.d) ** case.k / case.d ** (case.k + 1)
    measured = float(expected_reciprocal_product(case.d, case.k))
    return Claim(
        "expected_product_limit",
        "Lemma expected_reciprocal_product",
        "E[F] = (log d)^k / d^(k+1) (1 + O(1/log d))",
        formula,
        measured,
        same_order(formula, measured, 1 + 4 * case.k / math.log(case.d)),
        "right, and slow: the relative error is of order k/log d",
    )


def maclaurin(case: Case) -> Claim:
    """The Maclaurin bound on E[F]."""
    harmonic = float(reciprocal_symmetric(case.d, 1))
    formula = (harmonic / case.d) ** case.k / case.d
    measured = float(expected_reciprocal_product(case.d, case.k))
    return Claim(
        "maclaurin",
        "Thm. PART Behavior of Parity Class, Step 3",
        "E[F] <= (1/d) (H_d / d)^k",
        formula,
        measured,
        upper_bound(formula, measured),
        "Maclaurin's inequality for symmetric means",
    )


def length_law(case: Case) -> Claim:
    """P(k picks)."""
    formula = math.comb(case.d, case.k) / case.d**case.k
    measured = float(case.part.length_distribution()[case.k])
    exact = float(reciprocal_symmetric(case.d, case.k)) / case.d
    return Claim(
        "length_law",
        "Thm. PART Behavior of Parity Class, Step 4",
        "PART makes k picks with probability Theta(C(d,k) d^-k)",
        formula,
        measured,
        FAILS if formula > 2 * measured else same_order(formula, measured, 2),
        f"it is e_k(1, .., 1/d) / d = {exact:.4g}, which goes to 0 like (log d)^k / (k! d)",
    )


def spurious_half(case: Case) -> Claim:
    """Wrong picks are accepted half of the time."""
    measured = float(family_spurious_rate(case.target, case.k).value)
    return Claim(
        "spurious_half",
        "Eq. rho_parity",
        "a wrong index set yields the correct parity with probability 1/2",
        0.5,
        measured,
        equal(0.5, measured),
        "exact, by enumerating the inputs that the two chains read",
    )


def subtask_acceptance(case: Case) -> Claim:
    """Eq. Ur_uniform_closed."""
    depth = case.k
    formula, measured = (
        float(printed_acceptance(case.d, depth)),
        float(branches(case.target, depth).accepted),
    )
    return Claim(
        "subtask_acceptance",
        "Eq. Ur_uniform_closed",
        "closed form of P(stop after k picks with the subtask's answer) under PART",
        formula,
        measured,
        equal(formula, measured),
        "the printed form uses 1/(d-s+1) at depth s; with ordered picks the chance depends on the position "
        "picked, 1/(d-i+1)",
    )


CHECKS = (
    root_rule,
    path_decay,
    coverage_step,
    coverage_total,
    path_count,
    expected_product,
    expected_product_limit,
    maclaurin,
    length_law,
    spurious_half,
    subtask_acceptance,
)
