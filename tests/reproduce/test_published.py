"""Published against measured: one row per claim of a caption, with a verdict that hides no difference."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.reproduce.published import PUBLISHED, Published, question_for, verdict
from stepladder.reproduce.scale import SETTINGS
from stepladder.search.complexity import SearchQuestion

D8, D16, D32 = SETTINGS
ROW = Published(D8, "depth_increasing", 100, "a caption")
NEVER = Published(D8, "no_curriculum", 100, "a caption", converged=False)


def test_every_method_is_compared_in_every_setting_of_the_paper():
    compared = [(row.setting, row.method) for row in PUBLISHED]
    methods = ("no_curriculum", "depth_increasing", "hint_decreasing", "bai", "ltar")
    assert sorted(compared, key=str) == sorted(((s, m) for s in SETTINGS for m in methods), key=str)
    assert all(row.size > 0 and row.source.startswith("Fig. ") for row in PUBLISHED)


def test_the_captions_numbers_are_those_of_the_paper():
    published = {(row.setting.d, row.method): row.size for row in PUBLISHED}
    assert published == {
        (8, "no_curriculum"): 1_600_076,
        (8, "depth_increasing"): 76,
        (8, "hint_decreasing"): 76,
        (8, "bai"): 251_410,
        (8, "ltar"): 1_410,
        (16, "no_curriculum"): 1_100_120,
        (16, "depth_increasing"): 120,
        (16, "hint_decreasing"): 120,
        (16, "bai"): 700_005,
        (16, "ltar"): 5,
        (32, "no_curriculum"): 32_000_260,
        (32, "depth_increasing"): 260,
        (32, "hint_decreasing"): 260,
        (32, "bai"): 20_310_000,
        (32, "ltar"): 310_000,
    }
    assert [row for row in PUBLISHED if not row.converged] == [
        row for row in PUBLISHED if (row.setting.d, row.method) == (32, "no_curriculum")
    ]


VERDICTS = {
    "not converged, as published": (
        (NEVER, 3_400, [10, 90], 0.2),
        "agrees: not converged by the published n (20% of fresh trials reach 99% there); "
        "it takes 34 times more",
    ),
    "twice as much as needed": (
        (ROW, 50, [10, 40], 1.0),
        "more than enough: 2 times the fixed n that suffices (100% of fresh trials reach 99% there)",
    ),
    "just enough": (
        (ROW, 100, [10, 40], 0.97),
        "agrees with a fixed n (97% of fresh trials reach 99% there)",
    ),
    "lucky": (
        (ROW, 670, [10, 101], 0.12),
        "fits a first lucky hit in a sweep, not a fixed n: 12% of fresh trials reach 99% there, "
        "a fixed n needs 6.7 times more",
    ),
    "luckier than our sweeps": (
        (ROW, 1_000, [101, 300], 0.0),
        "not a fixed n: 0% of fresh trials reach 99% there, a fixed n needs 10.0 times more; "
        "below 90% of the first hits of our finer sweeps",
    ),
    "less lucky than our sweeps": (
        (ROW, 24_190, [10, 99], 0.14),
        "not a fixed n: 14% of fresh trials reach 99% there, a fixed n needs 241.9 times more; "
        "above 90% of the first hits of our finer sweeps",
    ),
}


@pytest.mark.parametrize(("arguments", "words"), VERDICTS.values(), ids=VERDICTS)
def test_the_verdict_says_in_words_how_the_published_figure_compares(arguments, words):
    assert verdict(*arguments) == words


def test_a_method_that_converges_where_the_paper_says_it_does_not_is_no_agreement():
    words = verdict(NEVER, 80, [10, 60], 0.98)
    assert not words.startswith("agrees")
    assert "98% of fresh trials reach 99% there" in words


sizes = st.integers(1, 10**9)


@given(sizes, sizes, sizes, sizes, st.floats(0, 1))
def test_agreement_is_claimed_only_where_the_published_n_suffices(published, needed, low, high, success):
    row = Published(D16, "bai", published, "a caption")
    words = verdict(row, needed, sorted([low, high]), success)
    assert (published >= needed) == words.startswith(("agrees", "more than enough"))
    assert f"{success:.0%} of fresh trials reach 99% there" in words
    if published < needed:
        assert "not a fixed n" in words
        assert f"{needed / published:.1f} times more" in words


def test_every_row_is_measured_and_every_number_finite(table):
    assert [(row["setting"], row["method"], row["published"]) for row in table] == [
        (row.setting.name, row.method, row.size) for row in PUBLISHED
    ]
    for row in table:
        numbers = [row["fixed_n"], row["first_hit"], *row["first_hit_range"], row["success_at_published"]]
        assert all(math.isfinite(number) for number in numbers)
        low, high = row["first_hit_range"]
        assert 1 <= low <= row["first_hit"] <= high <= row["fixed_n"]
        assert 0 <= row["success_at_published"] <= 1
        assert row["verdict"] == verdict(
            PUBLISHED[table.index(row)], row["fixed_n"], row["first_hit_range"], row["success_at_published"]
        )


def test_a_rows_unit_says_what_its_numbers_count(table, tiny):
    for published, row in zip(PUBLISHED, table, strict=True):
        question = question_for(published, tiny, 0)
        if published.per_arm:
            assert row["unit"] == "queries per arm"
        elif isinstance(question, SearchQuestion):
            assert row["unit"] == "total queries"
            # n99 is a number of queries per arm, so a total is a multiple of the number of arms.
            assert row["fixed_n"] % question.units == 0
        else:
            assert row["unit"] == "samples per stage"


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: f"{row.method} {row.setting.name}")
def test_a_row_is_measured_at_the_papers_secret_and_learning_rate(row, tiny):
    question = question_for(row, tiny, seed=7)
    assert (question.d, question.secret) == (row.setting.d, tuple(range(row.setting.k)))
    assert (question.trials, question.seed, question.target) == (tiny.trials, 7, 0.99)
    if row.method in ("bai", "ltar"):
        return
    paper = {8: (1e8, 1e5), 16: (2e12, 1e10), 32: (2e12, 1e10)}[row.setting.d]
    assert question.learning_rate == paper[row.method != "no_curriculum"]


def test_the_separation_is_larger_than_published(table):
    fixed = {(row["setting"], row["method"]): row["fixed_n"] for row in table}
    published = {(row["setting"], row["method"]): row["published"] for row in table}
    for setting in SETTINGS:
        measured, claimed = (
            numbers[setting.name, "no_curriculum"] / numbers[setting.name, "depth_increasing"]
            for numbers in (fixed, published)
        )
        assert measured > claimed
