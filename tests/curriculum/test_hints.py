"""Hint rules: how much is revealed has the law that the paper and UFT state, and ends when it should."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from stepladder.curriculum.hints import HintRuleName, hint_rule, steps_of_slices
from stepladder.errors import InputError

NAMES = HintRuleName.__args__
RANDOM = ("uft_binomial", "uft_uniform")
names, progresses, totals = st.sampled_from(NAMES), st.floats(0, 1), st.integers(0, 40)


def drawn(rule, progress, total, count=4000):
    return [rule.reveal(progress, total, np.random.default_rng([7, number])) for number in range(count)]


@given(names, progresses, totals, st.integers(0, 10**6))
def test_a_hint_is_part_of_the_solution_and_the_same_for_the_same_random_numbers(name, progress, total, seed):
    rule = hint_rule(name)
    revealed = rule.reveal(progress, total, np.random.default_rng(seed))
    assert 0 <= revealed <= total
    assert rule.reveal(progress, total, np.random.default_rng(seed)) == revealed


@given(names, st.floats(0.05, 1), st.floats(0, 1), totals)
def test_nothing_is_given_or_imitated_from_until_on(name, until, progress, total):
    rule = hint_rule(name, until=until)
    if progress >= until:
        assert rule.reveal(progress, total, np.random.default_rng(0)) == 0
        assert rule.weight(progress) == 0


@given(st.sampled_from(["uft_floor", *RANDOM, "uft_staged"]), st.floats(0.05, 1), st.floats(0, 0.999), totals)
def test_hints_that_end_early_run_through_their_whole_schedule_before(name, until, progress, total):
    early, whole = hint_rule(name, until=until), hint_rule(name)
    now = progress * until
    if now < until:
        generator = np.random.default_rng
        assert early.reveal(now, total, generator(3)) == whole.reveal(now / until, total, generator(3))
        assert early.weight(now) == whole.weight(now / until)


def test_no_rule_gives_nothing():
    rule = hint_rule("none")
    assert set(drawn(rule, 0.0, 9, 20)) == {0}
    assert rule.weight(0.0) == 0


@given(progresses.filter(lambda progress: progress < 1), totals)
def test_floor_reveals_rho_of_the_tokens_with_rho_from_9_to_1_tenths_by_a_cosine(progress, tokens):
    rule = hint_rule("uft_floor")
    rho = 0.1 + (0.9 - 0.1) / 2 * (1 + math.cos(math.pi * progress))
    # One bit of rounding may decide where rho m is whole.
    allowed = {math.floor(rho * tokens + nudge) for nudge in (-1e-9, 0, 1e-9)}
    assert rule.unit == "tokens"
    assert rule.reveal(progress, tokens, np.random.default_rng(0)) in allowed
    assert rule.weight(progress) == pytest.approx((1 + math.cos(math.pi * progress)) / 2, abs=1e-12)


@pytest.mark.parametrize(("steps", "slices"), [(1, 1), (3, 3), (5, 5), (12, 5)])
@pytest.mark.parametrize("progress", [0.0, 0.3, 0.5, 0.9])
def test_binomial_reveals_a_binomial_number_of_slices(steps, slices, progress, fit):
    rule = hint_rule("uft_binomial")
    p = 0.05 + (0.95 - 0.05) / 2 * (1 + math.cos(math.pi * progress))
    law = {steps_of_slices(n, slices, steps): float(binom.pmf(n, slices, p)) for n in range(slices + 1)}
    assert fit(drawn(rule, progress, steps), law) > 1e-3
    assert rule.weight(progress) == 1e-3


@pytest.mark.parametrize(("steps", "slices"), [(2, 2), (5, 5), (9, 5)])
def test_uniform_reveals_any_number_of_slices_alike_throughout(steps, slices, fit):
    law = {steps_of_slices(n, slices, steps): Fraction(1, slices + 1) for n in range(slices + 1)}
    for progress in (0.0, 0.7):
        assert fit(drawn(hint_rule("uft_uniform"), progress, steps), law) > 1e-3


@pytest.mark.parametrize("steps", [1, 2, 4, 5, 12])
def test_staged_reveals_all_slices_first_and_none_in_the_last_of_equal_spans(steps):
    rule = hint_rule("uft_staged")
    slices = min(5, steps)
    times = 60 * (slices + 1)
    seen = [rule.reveal(time / times, steps, np.random.default_rng(0)) for time in range(times)]
    expected = [steps_of_slices(left, slices, steps) for left in range(slices, -1, -1)]
    assert seen == [value for value in expected for _ in range(60)]
    assert (seen[0], seen[-1]) == (steps, 0)


@given(st.integers(1, 60))
def test_slices_share_the_steps_as_equally_as_they_can(steps):
    slices = min(5, steps)
    ends = [steps_of_slices(number, slices, steps) for number in range(slices + 1)]
    sizes = [after - before for before, after in itertools.pairwise(ends)]
    assert (ends[0], ends[-1]) == (0, steps)
    assert max(sizes) - min(sizes) <= 1


def test_the_papers_numbers_can_be_replaced():
    rule = hint_rule("uft_floor", start=0.5, end=0.5, prefix_start=0.25, prefix_end=0.25)
    assert [rule.reveal(t, 10, np.random.default_rng(0)) for t in (0.0, 0.5, 0.99)] == [5, 5, 5]
    assert rule.weight(0.7) == 0.25


@pytest.mark.parametrize(
    ("option", "value"), [("start", 1.1), ("end", -0.1), ("prefix_start", -1.0), ("until", 0.0), ("until", 1.5)]
)
def test_numbers_out_of_range_are_refused_by_name(option, value):
    with pytest.raises(InputError, match=f"^{option} must be between"):
        hint_rule("uft_binomial", **{option: value})
