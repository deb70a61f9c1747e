"""How many samples learning needs: the independent measurements of the notes, fixed n, 400 trials.

Each fact holds for n99 (`size`, a grid point) and for the crossing, which is free of the grid's rounding.
"""

import math

import pytest

from stepladder.errors import InputError
from stepladder.finetune.complexity import FinetuneQuestion, default_secret
from stepladder.scaling import Log, fit_exponent, solve

METHODS = ["no_curriculum", "depth_increasing", "hint_decreasing"]


def ask(method, d, secret, rate, *, trials=400, sweeps=0):
    question = FinetuneQuestion(method, "parity", d, secret, rate, trials=trials)
    return solve(question, Log(None), sweeps)


def within(factor, value, expected):
    return abs(math.log(value / expected)) <= math.log(factor)


# ---- fixed n


@pytest.mark.parametrize(
    ("method", "d", "k", "rate", "measured"),
    [
        ("no_curriculum", 8, 3, 1e8, 2.9e7),
        ("depth_increasing", 8, 3, 1e5, 512),
        ("hint_decreasing", 8, 3, 1e5, 431),
        ("no_curriculum", 16, 2, 2e12, 3.4e7),
        ("depth_increasing", 16, 2, 1e10, 1024),
        ("hint_decreasing", 16, 2, 1e10, 1024),
        ("no_curriculum", 32, 2, 2e12, 1.6e9),
        ("depth_increasing", 32, 2, 1e10, 2435),
        ("hint_decreasing", 32, 2, 1e10, 2435),
    ],
)
def test_the_samples_per_stage_agree_with_an_independent_measurement(method, d, k, rate, measured):
    point = ask(method, d, tuple(range(k)), rate)
    assert within(1.5, point.crossing.value, measured)
    assert within(1.5, point.size, measured)
    assert point.total == point.size * (1 if method == "no_curriculum" else k + 1)


@pytest.mark.parametrize(("secret", "without"), [((1, 4, 6), 1.0e6), ((5, 6, 7), 1.2e4)])
def test_other_secrets_are_easier_than_the_lowest_one_and_every_method_learns_them(secret, without):
    # Against [0,1,2]: 2.9e7 without a curriculum, 512 and 431 with one.
    alone = ask("no_curriculum", 8, secret, 1e8)
    assert within(1.5, alone.crossing.value, without)
    assert within(1.5, alone.size, without)
    for method, hardest in (("depth_increasing", 512), ("hint_decreasing", 431)):
        point = ask(method, 8, secret, 1e5)
        assert hardest / 2 < point.crossing.value < hardest


def test_scoring_all_free_steps_costs_no_order_of_magnitude():
    for method in METHODS[1:]:
        question = FinetuneQuestion(method, "parity", 8, (0, 1, 2), 1e5, scoring="all", trials=200)
        assert within(4, solve(question, Log(None), sweeps=0).crossing.value, 512)


def test_a_larger_alphabet_makes_wrong_answers_rarer_and_learning_cheaper():
    parity, sums = (
        solve(FinetuneQuestion("no_curriculum", "sum", 8, (0, 1), 1e8, alphabet=v, trials=200), Log(None), 0)
        for v in (2, 10)
    )
    assert sums.crossing.value < parity.crossing.value / 2


# ---- the published sizes


@pytest.mark.parametrize(
    ("method", "d", "k", "rate", "published"),
    [
        ("no_curriculum", 8, 3, 1e8, 1_600_076),
        ("depth_increasing", 8, 3, 1e5, 76),
        ("hint_decreasing", 8, 3, 1e5, 76),
        ("depth_increasing", 16, 2, 1e10, 120),
    ],
)
def test_the_published_sizes_are_lucky_first_hits_and_far_below_a_fixed_n(method, d, k, rate, published):
    point = ask(method, d, tuple(range(k)), rate, trials=100, sweeps=60)
    low, high = point.first_hit_range
    assert low <= published <= high
    assert published < point.crossing.low / 3
    assert point.first_hit < point.crossing.low / 3


# ---- growth with d


def exponent(method, ds, k, rate, trials=80):
    fitted = fit_exponent([ask(method, d, tuple(range(k)), rate, trials=trials) for d in ds])
    return fitted, (fitted.high - fitted.low) / (2 * 1.96)


def agrees(value, error, expected):
    """Within three standard errors of the difference of two measurements that are equally uncertain."""
    return abs(value - expected) <= 3 * math.sqrt(2) * error


@pytest.mark.slow
def test_without_a_curriculum_samples_for_two_picks_grow_as_d_to_5_2_and_not_6():
    fitted, error = exponent("no_curriculum", (8, 16, 32, 64, 128), 2, 2e12)
    assert error < 0.1
    assert agrees(fitted.value, error, 5.24)
    # n ~ d^(2k+1) log d; the paper's lower bound d^(2k+2) = d^6 would be outside.
    assert fitted.low > 5
    assert fitted.high < 6


@pytest.mark.slow
def test_without_a_curriculum_samples_for_three_picks_grow_as_d_to_7_5_and_not_8():
    fitted, error = exponent("no_curriculum", (8, 16, 32, 64), 3, 2e12, trials=100)
    assert error < 0.1
    assert agrees(fitted.value, error, 7.48)
    assert fitted.low > 7
    assert fitted.high < 8


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS[1:])
def test_with_a_curriculum_samples_grow_almost_linearly_in_d(method):
    fitted, error = exponent(method, (8, 16, 32, 64, 128), 2, 1e10)
    assert error < 0.1
    assert min(abs(fitted.value - expected) for expected in (1.13, 1.20)) <= 3 * math.sqrt(2) * error
    # The paper's upper bound d^2 holds and is loose.
    assert fitted.low > 0.9
    assert fitted.high < 1.5


# ---- the default secret


def test_the_default_secret_is_the_papers_lowest_one():
    assert default_secret(3, 8) == (0, 1, 2)


@pytest.mark.parametrize("k", [0, -1, 8, 9])
def test_a_number_of_picks_that_leaves_no_wrong_position_is_refused(k):
    with pytest.raises(InputError, match=f"k must be between 1 and d-1 = 7, got {k}"):
        default_secret(k, 8)
