"""The checklist: every claim of the paper has values and a verdict, the one that mathematics dictates."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.errors import InputError
from stepladder.report.claims_page import claims_page
from stepladder.theory.checklist import CHECKS, check_all
from stepladder.theory.claims import (
    FAILS,
    HOLDS,
    Case,
    equal,
    loose,
    lower_bound,
    same_order,
    upper_bound,
)

NAMES = [check.__name__ for check in CHECKS]

EXPECTED = {
    # The base model.
    "root_rule": "holds",
    "path_decay": "order",
    "coverage_step": "order",
    "coverage_total": "fails",
    "path_count": "holds",
    "expected_product": "holds",
    "expected_product_limit": "order",
    "maclaurin": "holds",
    "spurious_half": "holds",
    "subtask_acceptance": "fails",
    # The transformer.
    "base_is_part": "holds",
    "path_is_representable": "holds",
    "score_lemma": "holds",
    "eta_bound": "loose",
    "literal_readout": "fails",
    "margin_lemma_feasible": "fails",
    "margin_lemma": "holds",
    "xor_block": "fails",
    # Learning.
    "success_decomposition": "holds",
    "margin_first": "order",
    "margin_last": "fails",
    "margin_curriculum": "loose",
    "samples_depth_increasing": "not fails",
    "samples_hint_decreasing": "not fails",
    "batch_of_algorithm_a": "fails",
    "rate_direct": "order",
    "rate_curriculum": "loose",
    "objective_variance": "holds",
    "gradient_error": "loose",
    "signal_to_noise": "loose",
    "curriculum_ratio": "order",
    "predicted_ratio": "order",
    "easy_to_hard": "holds",
    # Search.
    "queries_terminal": "loose",
    "queries_family": "loose",
    "queries_of_algorithm": "fails",
    "gap_family": "fails",
    "gap_terminal": "order",
    "error_ltar": "holds",
    "error_bai": "fails",
    "forced_tries": "order",
    "hoeffding": "loose",
    "pinsker": "fails",
    "node_exploration": "fails",
}
"""The kind of verdict in all nine settings; the others depend on the setting and have tests of their own."""

DEPENDS = {"length_law", "samples_direct"}


def kinds(verdict):
    """Which kinds a verdict belongs to; an order that holds exactly is also of the order."""
    if verdict == FAILS:
        return {"fails"}
    if verdict == HOLDS:
        return {"holds", "order", "not fails"}
    return {"loose" if verdict.startswith("loose by ") else "order", "not fails"}


# ---- the list


def test_there_are_at_least_25_claims_with_a_name_of_their_own(claim):
    assert len(CHECKS) >= 25
    assert len(set(NAMES)) == len(NAMES)
    assert len({claim(name, (8, 1)).id for name in NAMES if not name.startswith("samples")}) >= 25


def test_every_claim_is_expected_to_come_out_in_some_way():
    assert set(NAMES) == set(EXPECTED) | DEPENDS


@pytest.mark.parametrize("name", NAMES)
def test_a_claim_has_values_a_verdict_and_a_reason(claim, case, name):
    found = claim(name, case)
    assert math.isfinite(found.formula_value)
    assert math.isfinite(found.measured)
    assert found.id
    assert found.paper
    assert found.statement
    assert found.reason
    assert found.verdict in (HOLDS, FAILS) or found.verdict.startswith(("loose by ", "holds within a factor "))


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_verdict_is_the_expected_one(claim, case, name):
    assert EXPECTED[name] in kinds(claim(name, case).verdict)


def test_the_length_law_fails_for_one_pick_at_any_d_and_later_for_more(claim):
    """C(d,k) d^-k goes to 1/k! while the exact e_k(1, .., 1/d)/d goes to 0: the longer, the later it shows."""
    for d in (8, 16, 32):
        assert claim("length_law", (d, 1)).verdict == FAILS
    assert claim("length_law", (8, 2)).verdict != FAILS
    assert claim("length_law", (32, 2)).verdict == FAILS


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_lower_bound_on_direct_samples_loses_ground_as_d_grows(claim, k):
    """It is d^(2k+2); what is measured grows by about a factor d less."""
    short, long = (claim("samples_direct", (d, k)).measured / d ** (2 * k + 2) for d in (8, 32))
    assert short > 1.3 * long
    assert claim("samples_direct", (8, k)).verdict != FAILS


def test_checking_all_gives_the_claims_in_the_order_of_the_list():
    found = check_all(Case(4, 1, trials=4))
    assert [one.id for one in found] == [check(Case(4, 1, trials=4)).id for check in CHECKS]
    assert len({one.id for one in found}) == len(CHECKS)


def test_a_claim_measured_twice_is_the_same():
    once, again = (check_all(Case(4, 2, trials=6)) for _ in range(2))
    assert once == again


@pytest.mark.slow
def test_the_page_of_the_repository_is_what_the_command_writes(claim, request):
    """Run `make docs` after a change. Rounding errors below 1e-12 differ from machine to machine."""
    settings = [(d, k) for d in (8, 16, 32) for k in (1, 2, 3)]
    found = {setting: [claim(name, setting) for name in NAMES] for setting in settings}
    pages = (
        claims_page(found, Case(8, 1).trials),
        (request.config.rootpath / "docs" / "theory.md").read_text(),
    )
    written, kept = (re.sub(r"\d\.\d+e-1[3-9] ", "0 ", page).splitlines() for page in pages)
    assert written == kept


# ---- the setting


@pytest.mark.parametrize(
    ("d", "k", "message"),
    [
        (2, 1, "d must be between 3 and 64, got 2"),
        (65, 1, "d must be between 3 and 64, got 65"),
        (8, 0, "k must be between 1 and 3, got 0"),
        (8, 4, "k must be between 1 and 3, got 4"),
        (4, 3, "k must be between 1 and 2, got 3"),
    ],
)
def test_a_setting_that_cannot_be_checked_is_refused(d, k, message):
    with pytest.raises(InputError, match=message):
        Case(d, k)


def test_a_setting_is_parity_with_the_papers_secret():
    case = Case(9, 3)
    assert (case.target.tree.name, case.target.tree.d, case.target.picks) == ("parity", 9, (0, 1, 2))


def test_claims_share_what_they_measure():
    case = Case(5, 1, trials=4)
    assert case.measured("no_curriculum") is case.measured("no_curriculum")
    assert case.measured("ltar").question.name == "ltar"


# ---- verdicts


def test_a_bound_with_less_than_a_factor_two_of_room_holds_and_with_more_is_loose():
    assert loose(1.0) == loose(1.9999) == HOLDS
    assert loose(2.0) == "loose by 2"
    assert loose(1234.5) == "loose by 1.23e+03"


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [(1.0, HOLDS), (0.6, HOLDS), (0.5, "loose by 2"), (1 + 1e-10, HOLDS), (1.001, FAILS), (0.1, "loose by 10")],
)
def test_an_upper_bound_holds_up_to_rounding(measured, verdict):
    assert upper_bound(1.0, measured) == verdict


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [
        (1.0, HOLDS),
        (1.9, HOLDS),
        (2.0, "loose by 2"),
        (1 - 1e-10, HOLDS),
        (0.999, FAILS),
        (30.0, "loose by 30"),
    ],
)
def test_a_lower_bound_holds_up_to_rounding(measured, verdict):
    assert lower_bound(1.0, measured) == verdict


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [
        (1.0, HOLDS),
        (1 + 1e-10, HOLDS),
        (2.5, "holds within a factor 2.5"),
        (0.4, "holds within a factor 2.5"),
        (3.0, "holds within a factor 3"),
        (3.01, FAILS),
        (0.33, FAILS),
        (0.0, FAILS),
    ],
)
def test_an_order_holds_within_its_factor_on_either_side(measured, verdict):
    assert same_order(1.0, measured, 3) == verdict


@pytest.mark.parametrize(
    ("formula", "measured", "verdict"),
    [
        (1.0, 1.0, HOLDS),
        (1.0, 1 + 1e-10, HOLDS),
        (1.0, 1.001, FAILS),
        (0.0, 1e-10, HOLDS),
        (1e6, 1e6 + 1e-4, HOLDS),
    ],
)
def test_an_equation_holds_up_to_rounding_relative_to_its_size(formula, measured, verdict):
    assert equal(formula, measured) == verdict


@given(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300))
def test_a_number_is_below_or_above_a_bound(formula, measured):
    assert FAILS in (upper_bound(formula, measured), lower_bound(formula, measured)) or math.isclose(
        formula, measured, rel_tol=2e-9
    )
    assert (upper_bound(formula, measured) == FAILS) == (measured > formula * (1 + 1e-9))


@pytest.mark.parametrize("verdict", [upper_bound, lower_bound, equal, lambda f, m: same_order(f, m, 3)])
def test_what_was_not_measured_does_not_hold(verdict):
    assert verdict(1.0, math.nan) == FAILS


def test_a_sample_size_that_was_never_reached_breaks_an_upper_bound():
    assert upper_bound(1.0, math.inf) == FAILS


def test_a_measured_zero_is_below_every_upper_bound():
    assert upper_bound(0.1, 0.0) != FAILS


def test_a_negative_value_is_not_of_the_order_of_a_positive_one():
    assert same_order(1.0, -1.0, 3) == FAILS
    assert same_order(1e-3, -5.0, 3) == FAILS
