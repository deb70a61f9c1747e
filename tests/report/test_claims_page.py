"""Promises of docs/theory.md: one section a claim, one row a setting, nothing left out."""

import re

import pytest

from stepladder.report.claims_page import claims_page
from stepladder.theory.claims import Claim


def claim(name, value, verdict="holds", reason="because"):
    return Claim(name, f"Lemma {name}", f"statement of {name}", value, value * 1.23456, verdict, reason)


FOUND = {
    (8, 1): [claim("one", 1.0), claim("two", 2e9, "fails", "for k = 1")],
    (8, 2): [claim("one", 0.00012345), claim("two", 3.0, "loose by 7", "for k = 2")],
    (16, 1): [claim("one", 5.0, "holds within a factor 1.5"), claim("two", 4.0)],
}


def sections(page):
    """The page's sections by their heading."""
    heads = re.findall(r"^## (.*)$", page, flags=re.M)
    return dict(zip(heads, re.split(r"^## .*$", page, flags=re.M)[1:], strict=True))


def test_every_claim_has_a_section_with_its_place_in_the_paper_and_its_name():
    found = sections(claims_page(FOUND, 200))
    assert list(found) == ["statement of one", "statement of two"]
    assert "Lemma two. `two`" in found["statement of two"]


def test_every_setting_has_a_row_with_formula_value_and_verdict():
    text = sections(claims_page(FOUND, 200))["statement of one"]
    rows = [line for line in text.splitlines() if re.match(r"\| \d", line)]
    assert rows == [
        "| 8 | 1 | 1 | 1.235 | holds |",
        "| 8 | 2 | 0.0001234 | 0.0001524 | holds |",
        "| 16 | 1 | 5 | 6.173 | holds within a factor 1.5 |",
    ]


def test_the_page_says_how_many_claims_settings_and_trials_there_are():
    page = claims_page(FOUND, 123)
    assert "2 claims, 3 settings" in page
    assert "123 trials behind each sample size" in page


def test_the_page_says_how_it_was_written_and_what_the_verdicts_mean():
    page = claims_page(FOUND, 200)
    assert "`stepladder theory --claims --out docs`" in page
    for verdict in ("*holds*", "*loose by x*", "*holds within a factor x*", "*fails*"):
        assert verdict in page


def test_a_claim_without_a_formula_leaves_its_cell_empty():
    one = Claim("one", "Lemma", "statement", None, 2.0, "holds", "because")
    assert "| 8 | 1 |  | 2 | holds |" in claims_page({(8, 1): [one]}, 200)


@pytest.mark.parametrize("setting", list(FOUND))
def test_the_reason_given_is_true_of_every_setting_shown(setting):
    """A reason that speaks of one setting must not stand for the others."""
    text = sections(claims_page(FOUND, 200))["statement of two"]
    assert FOUND[setting][1].reason in text


def test_the_page_is_a_function_of_the_claims():
    assert claims_page(FOUND, 200) == claims_page(dict(FOUND), 200)
