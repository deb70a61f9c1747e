"""The values behind the claims about trees and the base model, found again from the paper's text."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from stepladder.trees import Parity, Part


def prefix_policy(part, d, secret, depth):
    """The law over all paths of the policy that picks the first `depth` picks surely, then copies PART."""
    prefix = secret[:depth]
    going_on = {path: part.probability(d, path) for path in part.paths(d) if path[:depth] == prefix}
    total = sum(going_on.values())
    return {path: mass / total for path, mass in going_on.items()}


def mean_path_probability(part, case):
    """E[F] by its definition: the average over all sets of k positions, in Fractions."""
    d, k = case
    paths = list(itertools.combinations(range(d), k))
    return sum((part.probability(d, path) for path in paths), Fraction(0)) / len(paths)


def test_root_rule(claim, case):
    found = claim("root_rule", case)
    law = Part(Parity(case[0])).probabilities(np.zeros((1, 0), dtype=np.int64))[0]
    assert found.formula_value == 1 / case[0]
    assert law[:-1] == pytest.approx([found.measured] * case[0])
    assert law[-1] == 0


def test_path_decay(claim, case, part):
    d, k = case
    found = claim("path_decay", case)
    assert found.formula_value == pytest.approx(float(Fraction(1, d ** (k + 1))))
    assert found.measured == pytest.approx(float(part.probability(d, tuple(range(k)))))


def test_coverage_step_is_the_largest_ratio_of_two_prefix_policies_over_all_paths(claim, small_case, part):
    d, k = small_case
    secret = tuple(range(k))
    longer, shorter = (prefix_policy(part, d, secret, depth) for depth in (k, k - 1))
    assert claim("coverage_step", small_case).measured == max(longer[path] / shorter[path] for path in longer)


def test_coverage_total_is_the_largest_ratio_to_part_over_all_paths(claim, small_case, part):
    d, k = small_case
    found = claim("coverage_total", small_case)
    policy = prefix_policy(part, d, tuple(range(k)), k)
    assert found.measured == max(policy[path] / part.probability(d, path) for path in policy)
    assert found.formula_value == d ** (k + 1)


def test_coverage_is_the_product_of_the_branchings_in_between(claim, case, part):
    d, k = case
    sizes = part.sizes(d, tuple(range(k)))
    assert claim("coverage_step", case).measured == sizes[k - 1]
    assert claim("coverage_total", case).measured == math.prod(sizes[:k])
    assert f"{math.prod(sizes):,}" in claim("coverage_total", case).reason


def test_path_count(claim, case):
    d, k = case
    found = claim("path_count", case)
    assert found.measured == sum(1 for _ in itertools.combinations(range(d), k))
    assert found.formula_value == math.perm(d, k) / math.factorial(k)


def test_expected_product(claim, case, part):
    d, k = case
    found = claim("expected_product", case)
    symmetric = sum(
        (Fraction(1, math.prod(terms)) for terms in itertools.combinations(range(1, d + 1), k)), Fraction(0)
    )
    assert found.formula_value == pytest.approx(float(symmetric / (d * math.comb(d, k))), rel=1e-14)
    assert found.measured == pytest.approx(float(mean_path_probability(part, case)), rel=1e-14)


def test_expected_product_limit(claim, case, part):
    d, k = case
    found = claim("expected_product_limit", case)
    assert found.formula_value == pytest.approx(math.log(d) ** k / d ** (k + 1))
    assert found.measured == pytest.approx(float(mean_path_probability(part, case)), rel=1e-14)


def test_the_limit_of_the_expected_product_is_reached_slowly(claim):
    apart = [
        claim("expected_product_limit", (d, 2)).measured / claim("expected_product_limit", (d, 2)).formula_value
        for d in (8, 16, 32)
    ]
    assert apart[0] > apart[1] > apart[2] > 1.2


def test_maclaurin(claim, case, part):
    d, k = case
    found = claim("maclaurin", case)
    harmonic = sum(Fraction(1, t) for t in range(1, d + 1))
    assert found.formula_value == pytest.approx(float((harmonic / d) ** k / d))
    assert found.measured == pytest.approx(float(mean_path_probability(part, case)), rel=1e-14)


def test_length_law(claim, case, part):
    d, k = case
    found = claim("length_law", case)
    assert found.formula_value == pytest.approx(math.comb(d, k) / d**k)
    assert found.measured == pytest.approx(float(mean_path_probability(part, case) * math.comb(d, k)))


def test_spurious_half_over_all_inputs(claim, case, part):
    d, k = case
    secret = tuple(range(k))
    rates = {part.agreement(2, secret, (*secret[:-1], wrong)) for wrong in range(k, d)}
    assert rates == {Fraction(1, 2)}
    assert claim("spurious_half", case).measured == 0.5


def test_subtask_acceptance(claim, case, part):
    d, k = case
    found = claim("subtask_acceptance", case)
    secret = tuple(range(k))
    exact = Fraction(0)
    for path in itertools.combinations(range(d), k):
        exact += part.probability(d, path) * (1 if path == secret else Fraction(1, 2))
    assert found.measured == pytest.approx(float(exact), rel=1e-14)
    before = Fraction(math.factorial(d - k + 1), math.factorial(d))
    last = d - k + 1
    printed = before / last**2 + before * (d - k) / (2 * last**2) + (1 - before) / (2 * last)
    assert found.formula_value == pytest.approx(float(printed), rel=1e-14)
