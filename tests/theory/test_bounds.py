"""The closed forms of Thm. 2, the per-step and one-pass theorems, Thm. 3 and Lemma step_margin_to_loss."""

import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stepladder.errors import InputError
from stepladder.theory.bounds import Bounds, required_attention, required_gap
from stepladder.transformer import Readout

METHODS = ("no_curriculum", "depth_increasing", "hint_decreasing")
CURRICULA = METHODS[1:]

# ---- values by hand


def test_the_sample_sizes_of_the_papers_example_by_hand():
    bounds = Bounds(d=8, k=3)
    assert bounds.samples("no_curriculum") == 8**8 * 4
    assert [bounds.samples(method) for method in CURRICULA] == [256, 256]
    assert [bounds.step_samples(step) for step in (1, 2, 3, 4)] == [4 * 8**6, 4 * 8**4, 4 * 8**2, 4]


def test_the_learning_rates_of_the_papers_example_by_hand():
    bounds = Bounds(d=8, k=3, beta=2.0)
    assert bounds.learning_rate("no_curriculum") == pytest.approx(2 * math.log(8) * 4096 * 2)
    assert bounds.learning_rate("depth_increasing") == pytest.approx(2 * math.log(8) * 64 * 2)


def test_the_margins_of_the_papers_example_by_hand():
    bounds = Bounds(d=8, k=3, beta=2.0)
    margins = [bounds.margin("no_curriculum", step) for step in (1, 2, 3, 4)]
    assert margins == [float(Fraction(1, 4 * 8**power)) for power in (4, 3, 2, 1)]
    assert {bounds.margin(method, step) for method in CURRICULA for step in (1, 4)} == {1 / 256}


def test_the_queries_of_the_papers_example_by_hand():
    bounds = Bounds(d=8, k=3)
    assert (bounds.t_data("bai"), bounds.t_comp("bai")) == (4 * 8**7, 4 * 8**7)
    assert (bounds.t_data("ltar"), bounds.t_comp("ltar")) == (4 * 4 * 64, 4 * 4 * 512)


def test_the_variance_bounds_by_hand():
    bounds = Bounds(d=8, k=3, beta=2.0)
    assert bounds.objective_variance(0.5, 100) == 0.0025
    assert bounds.gradient_error(0.5, 0.6, 10) == pytest.approx(4 * 0.5 * 0.6 / 10)


@given(st.floats(0, 1), st.integers(1, 10**6))
def test_the_objectives_variance_is_at_most_a_quarter_over_n(success, samples):
    assert Bounds(8, 3).objective_variance(success, samples) <= 1 / (4 * samples)


def test_the_objectives_variance_is_that_of_a_mean_of_rewards():
    # Exactly, over all outcomes of three rollouts that are each rewarded with probability 3/10.
    reward = Fraction(3, 10)
    mean = second = Fraction(0)
    for outcome in itertools.product((0, 1), repeat=3):
        mass = math.prod(reward if hit else 1 - reward for hit in outcome)
        value = Fraction(sum(outcome), 3)
        mean, second = mean + mass * value, second + mass * value**2
    assert Bounds(8, 3).objective_variance(0.3, 3) == pytest.approx(float(second - mean**2))


# ---- how they depend on their parameters


@given(st.integers(2, 60), st.integers(1, 6), st.floats(0, 0.9), st.floats(0.1, 10))
def test_every_size_grows_with_d_and_with_the_spurious_rate(d, k, rho, beta):
    k = min(k, d)
    here, longer, luckier = Bounds(d, k, rho, beta), Bounds(d + 1, k, rho, beta), Bounds(d, k, rho + 0.05, beta)
    for method in METHODS:
        for larger in (longer, luckier):
            assert larger.samples(method) > here.samples(method)
            assert larger.learning_rate(method) > here.learning_rate(method)
            assert larger.margin(method, 1) < here.margin(method, 1)
    for search in ("bai", "ltar"):
        for larger in (longer, luckier):
            assert larger.t_data(search) > here.t_data(search)
            assert larger.t_comp(search) > here.t_comp(search)


@given(st.integers(3, 60), st.integers(1, 5))
def test_one_more_pick_costs_direct_learning_a_factor_d_squared_and_each_stage_nothing(d, k):
    k = min(k, d - 1)
    here, deeper = Bounds(d, k), Bounds(d, k + 1)
    assert deeper.samples("no_curriculum") / here.samples("no_curriculum") == pytest.approx(d**2)
    assert deeper.t_data("bai") / here.t_data("bai") == pytest.approx(d**2)
    assert deeper.samples("depth_increasing") == here.samples("depth_increasing")
    assert deeper.t_data("ltar") - here.t_data("ltar") == pytest.approx(4 * d**2)


@given(st.integers(2, 40), st.integers(1, 6))
def test_the_first_step_is_the_one_the_single_batch_of_a_is_sized_for_up_to_erratum_4(d, k):
    # The per-step theorem's first step has d^(2k); the batch d^(2k+2): gamma^A lacks the attention's 1/d.
    bounds = Bounds(d, min(k, d))
    steps = [bounds.step_samples(step) for step in range(1, bounds.k + 2)]
    assert steps == sorted(steps, reverse=True)
    assert bounds.samples("no_curriculum") == pytest.approx(d**2 * steps[0])


@pytest.mark.parametrize("method", METHODS)
def test_the_learning_rate_times_the_claimed_margin_is_of_order_log_d(method):
    # "eta >= Theta(Gamma / (gamma / 2))" of the one-pass theorem, for the step with the smallest margin.
    for d in (8, 64, 512):
        bounds = Bounds(d, 3, rho=0.3, beta=0.7)
        assert bounds.learning_rate(method) * bounds.margin(method, 1) == pytest.approx(math.log(d))


# ---- refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"d": 1, "k": 1}, "d must be between 2"),
        ({"d": 8, "k": 0}, "k must be between 1 and 8"),
        ({"d": 8, "k": 9}, "k must be between 1 and 8"),
        ({"d": 8, "k": 3, "rho": 1.0}, "rho must be between 0"),
        ({"d": 8, "k": 3, "beta": 0.0}, "beta must be between"),
    ],
)
def test_parameters_without_meaning_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Bounds(**options)


@pytest.mark.parametrize("step", [0, 5])
def test_a_step_the_target_does_not_have_is_refused(step):
    with pytest.raises(InputError, match="step must be between 1 and 4"):
        Bounds(8, 3).step_samples(step)
    with pytest.raises(InputError, match="step must be between 1 and 4"):
        Bounds(8, 3).margin("no_curriculum", step)


def test_a_size_beyond_floating_point_is_infinite_or_refused():
    try:
        size = Bounds(1000, 200).samples("no_curriculum")
    except InputError:
        return
    assert size == math.inf


# ---- Lemma step_margin_to_loss


def readout(attention, beta):
    """The double softmax over the legal picks, from the attention on them."""
    weights = np.exp((attention - attention.max(-1, keepdims=True)) / beta)
    return weights / weights.sum(-1, keepdims=True)


def attentions(gap, legal, values=(0.0, 0.5, 1.0, 2.0, 4.0, 9.0, 60.0)):
    """Attention vectors whose first entry leads every other by at least `gap`: rivals on a grid below it."""
    for below in itertools.combinations_with_replacement(values, legal - 1):
        scores = np.exp(-np.array([0.0, *(gap + more for more in below)]))
        yield scores / scores.sum()


@pytest.mark.parametrize("legal", [2, 3, 4, 5])
@pytest.mark.parametrize("error", [0.3, 0.05, 1e-3, 1e-6])
@pytest.mark.parametrize("share", [0.3, 0.8, 0.99])
def test_the_required_gap_guarantees_the_pick_whatever_the_rivals_attention_is(error, legal, share):
    # Temperature at a share of the largest feasible one, M = the legal picks, rivals on a grid up to gap + 60.
    beta = share / math.log(legal * (1 - error) / error)
    gap = required_gap(error, tokens=legal, legal=legal, beta=beta)
    worst = min(readout(attention, beta)[0] for attention in attentions(gap, legal))
    assert worst >= 1 - error


@pytest.mark.parametrize("legal", [3, 5])
def test_a_gap_well_below_the_required_one_guarantees_nothing(legal):
    error, beta = 0.01, 0.15
    gap = required_gap(error, tokens=legal, legal=legal, beta=beta) - 2.0
    worst = min(readout(attention, beta)[0] for attention in attentions(gap, legal))
    assert worst < 1 - error


def test_the_literal_readout_of_the_transformer_gives_the_guaranteed_probability():
    beta, legal, error = 0.05, 9, 0.02
    gap = required_gap(error, tokens=legal, legal=legal, beta=beta)
    torch.manual_seed(3)
    rivals = -gap - torch.rand(200, legal - 1, dtype=torch.float64) * 5
    logits = torch.cat([torch.zeros(200, 1, dtype=torch.float64), rivals], dim=1)
    law = Readout("double_softmax", beta).log_probabilities(logits, torch.ones_like(logits, dtype=torch.bool))
    assert float(law[:, 0].exp().min()) >= 1 - error


def test_with_the_papers_vocabulary_of_three_the_guarantee_breaks_for_a_choice_among_many_positions():
    # M = K+1 = 3 for parity, but the readout chooses among 200 positions.
    error, legal = 0.01, 200
    beta = 0.99 / math.log(3 * (1 - error) / error)
    gap = required_gap(error, tokens=3, legal=legal, beta=beta)
    logits = np.array([0.0] + [-gap] * (legal - 1))
    attention = np.exp(logits) / np.exp(logits).sum()
    assert readout(attention, beta)[0] < 1 - error


@given(st.floats(1e-6, 0.5), st.integers(2, 50), st.floats(1e-3, 10))
def test_the_required_attention_solves_the_lemmas_softmax_bound(error, tokens, beta):
    attention = required_attention(error, tokens, beta)
    bound = 1 / (1 + tokens * math.exp(-(2 * attention - 1) / beta))
    assert bound == pytest.approx(1 - error, rel=1e-9)


@given(st.floats(1e-6, 0.3), st.integers(3, 50), st.integers(2, 40), st.floats(0.05, 0.95))
def test_at_the_required_gap_equal_rivals_leave_exactly_the_required_attention(error, tokens, legal, share):
    beta = share / math.log(tokens * (1 - error) / error)
    gap = required_gap(error, tokens, legal, beta)
    assert 1 / (1 + (legal - 1) * math.exp(-gap)) == pytest.approx(
        required_attention(error, tokens, beta), rel=1e-9
    )


@given(st.floats(1e-6, 0.3), st.integers(2, 50), st.integers(2, 40), st.floats(1.0, 100.0))
def test_a_temperature_that_is_too_high_is_refused_and_the_one_named_works(error, tokens, legal, times):
    beta = times / math.log(tokens * (1 - error) / error) * (1 + 1e-9)
    with pytest.raises(InputError) as refused:
        required_gap(error, tokens, legal, beta)
    message = str(refused.value)
    assert "\n" not in message
    named = float(re.search(r"use a temperature below (\S+)$", message).group(1))
    # Three digits are named, so the last one may be rounded up.
    gap = required_gap(error, tokens, legal, named * 0.99)
    assert math.isfinite(gap)
    with pytest.raises(InputError):
        required_gap(error, tokens, legal, named * 1.01)


def test_one_legal_pick_needs_no_gap():
    assert required_gap(0.01, tokens=3, legal=1, beta=0.05) == 0


def test_an_error_that_any_attention_allows_needs_no_gap():
    # M (1-eps)/eps < 1 at a high temperature: the required attention is below 0.
    assert required_attention(0.9, tokens=3, beta=10.0) < 0
    assert required_gap(0.9, tokens=3, legal=5, beta=10.0) <= 0


@pytest.mark.parametrize("error", [0.0, 1.0, -0.1, math.nan])
def test_an_error_budget_outside_zero_to_one_is_refused(error):
    with pytest.raises(InputError, match="error must be between"):
        required_attention(error, 3, 1.0)
