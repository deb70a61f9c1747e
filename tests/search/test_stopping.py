"""Facts of the rules: the paper's numbers, fair ties, and the anytime guarantee of the adaptive rule."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from stepladder.errors import InputError
from stepladder.estimate import Estimate
from stepladder.search import (
    Adaptive,
    Arms,
    Budget,
    CountsArms,
    Fixed,
    Ledger,
    adaptive_rule,
    identify,
    paper_rule,
)
from stepladder.search.stopping import _discordant, _log_evidence, most_accepted
from stepladder.trees import Countdown, MarkovChain, ModularSum, Parity, Part, Target

LEVEL = 1e-3 / 40
"""1e-3 for all tests of this file that compare a sample with its law; there are fewer than 40 of them."""

DELTAS = [0, 1, -0.1, 1.5, math.nan, math.inf]


class Bernoulli(Arms):
    """Arms at the root that are accepted independently with given rates; emitting costs nothing."""

    def __init__(self, rates, seed):
        tree = Parity(len(rates))
        super().__init__("ltar", Target(tree, (0,)), Part(tree))
        self.rates = np.append(rates, 0.0)
        self.rng = np.random.default_rng(seed)

    def pull(self, histories, pulls):
        return self.rng.binomial(pulls, self.rates), np.zeros(len(pulls), dtype=np.int64)

    def commit(self, histories, chosen):
        return np.zeros(len(chosen), dtype=np.int64)


def decide(rule, rates, searches, seed):
    source = Bernoulli(rates, seed)
    histories = np.zeros((searches, 0), dtype=np.int64)
    return rule.decide(source, histories, Ledger(searches, Budget()), np.random.default_rng(seed + 1))


# ---- the paper's numbers


def test_the_papers_ltar_number_is_d_squared_over_the_squared_rejection_rate_times_log_d_over_delta():
    # Parity: rho = 1/2, so 8^2 * 4 * ln(8/0.1) = 256 * 4.38203 = 1121.8, at every one of the k+1 depths.
    assert paper_rule("ltar", Target(Parity(8), (0, 1, 2)), 0.1).per_depth == (1122,) * 4
    # Sums modulo 3: rho = 1/3, (1 - rho)^-2 = 9/4; 6^2 * 9/4 * ln(6/0.05) = 81 * 4.78749 = 387.8.
    assert paper_rule("ltar", Target(ModularSum(6, 3), (0, 3)), 0.05).per_depth == (388,) * 3


def test_the_papers_bai_number_falls_by_d_squared_with_every_depth():
    # 8^6, 8^4, 8^2 and 8^0 times ln 80 = 4.3820266: 1148722.0, 17948.8, 280.4 and 4.4, rounded up.
    assert paper_rule("bai", Target(Parity(8), (0, 1, 2)), 0.1).per_depth == (1_148_722, 17_949, 281, 5)


def test_the_papers_ltar_number_uses_each_depths_own_spurious_rate_and_the_largest_at_the_end():
    # Countdown from two numbers 1..3, secret x0 then + x1. Depth 1: x1 = x0 on 1/3 of the inputs. Depth 2:
    # x0 * x1 = x0 + x1 on 1 of 9 inputs (2, 2), x0 - x1 and x0 / x1 never, so rho = 1/9. At the end 1/3.
    target = Target(Countdown(2, 3), (0, 1))
    d, delta = 8, 0.1
    rates = [Fraction(1, 3), Fraction(1, 9), Fraction(1, 3)]
    expected = [math.ceil(d**2 * float((1 - rate) ** -2) * math.log(d / delta)) for rate in rates]
    assert paper_rule("ltar", target, delta).per_depth == tuple(expected)
    assert expected[0] != expected[1]


def test_a_task_with_arms_that_no_oracle_tells_apart_is_refused():
    # The picks of a Markov chain after the first never matter.
    with pytest.raises(InputError, match="no number of queries tells them apart"):
        paper_rule("ltar", Target(MarkovChain(3), (0, 1)), 0.1)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize(
    "rule",
    [
        lambda delta: paper_rule("ltar", Target(Parity(4), (0,)), delta),
        lambda delta: paper_rule("bai", Target(Parity(4), (0,)), delta),
        lambda delta: adaptive_rule("ltar", Target(Parity(4), (0,)), delta),
        Adaptive,
    ],
    ids=["paper-ltar", "paper-bai", "adaptive", "Adaptive"],
)
def test_a_delta_outside_0_to_1_is_refused_and_named(rule, delta):
    with pytest.raises(InputError, match="delta must lie strictly between 0 and 1"):
        rule(delta)


def test_the_adaptive_rule_splits_delta_over_the_depths_and_waits_twenty_times_the_papers_number():
    target = Target(Parity(8), (0, 1, 2))
    rule = adaptive_rule("ltar", target, 0.1)
    assert rule.delta == pytest.approx(0.1 / 4)
    assert rule.patience == tuple(20 * m for m in paper_rule("ltar", target, 0.1).per_depth)


# ---- a fixed number of pulls


def test_fixed_pulls_every_arm_as_often_as_its_depth_says_and_the_last_number_goes_on():
    target = Target(Parity(6), (0, 1, 2))
    arms = CountsArms("ltar", target, Part(target.tree), [1])
    found = identify(arms, Fixed((40, 30)), 50, seed=1)
    for number, depth in zip((40, 30, 30, 30), found.depths, strict=True):
        assert (depth.pulls == depth.arms * number).all()


@pytest.mark.parametrize("pulls", [0, -1, 10**16])
def test_a_number_of_pulls_that_cannot_be_is_refused(pulls):
    with pytest.raises(InputError, match="per_arm must be between 1 and 1e"):
        Fixed((3, pulls))


# ---- ties


def test_the_most_accepted_arm_wins_and_an_illegal_one_never_does():
    accepted = np.array([[3, 9, 4, 0], [0, 0, 0, 0]])
    arms = np.array([[True, False, True, True], [False, False, True, False]])
    for seed in range(50):
        chosen, tied = most_accepted(accepted, arms, np.random.default_rng(seed))
        assert chosen.tolist() == [2, 2]
        assert tied.tolist() == [False, False]


def test_a_tie_is_broken_uniformly_among_the_tied_arms_alone(fit):
    accepted = np.tile([5, 7, 7, 2, 7, 7], (40_000, 1))
    arms = np.tile([True, True, True, True, True, False], (40_000, 1))
    chosen, tied = most_accepted(accepted, arms, np.random.default_rng(2))
    assert tied.all()
    assert fit(chosen.tolist(), dict.fromkeys((1, 2, 4), 1 / 3)) > LEVEL


@pytest.mark.parametrize("rate", [0.0, 1.0, 0.5])
def test_with_equal_arms_the_first_has_no_advantage_under_a_fixed_number(rate, fit):
    found = decide(Fixed((3,)), [rate] * 6, 30_000, seed=3)
    assert fit(found.chosen.tolist(), dict.fromkeys(range(6), 1 / 6)) > LEVEL
    if rate in (0.0, 1.0):
        assert found.tied.all()


def test_with_equal_arms_the_first_has_no_advantage_under_the_adaptive_rule(fit):
    # A level this high is often wrong, which is what shows whom the rule would favour.
    found = decide(Adaptive(0.9, patience=(40,)), [0.5] * 4, 12_000, seed=4)
    chosen = found.chosen[found.chosen >= 0]
    assert len(chosen) > 3_000
    assert fit(chosen.tolist(), dict.fromkeys(range(4), 1 / 4)) > LEVEL


def test_a_fixed_number_chooses_with_the_probabilities_of_counting_by_hand(fit):
    # ltar, d = 3, secret (0), two pulls per arm. The correct arm is always accepted twice; each wrong one
    # twice with probability 1/4. P(correct) = 9/16 + (6/16)/2 + (1/16)/3 = 37/48; the rest is shared.
    target = Target(Parity(3), (0,))
    arms = CountsArms("ltar", target, Part(target.tree), [5])
    found = identify(arms, Fixed((2,)), 40_000, seed=5)
    law = {0: Fraction(37, 48), 1: Fraction(11, 96), 2: Fraction(11, 96)}
    assert fit(found.picks[:, 0].tolist(), law) > LEVEL
    assert fit(found.depths[0].tied.tolist(), {True: 7 / 16, False: 9 / 16}) > LEVEL


# ---- the adaptive rule: evidence against an arm


def mixture(wins, losses):
    """2^(w+l) times the average of t^w (1-t)^l over t uniform in [1/2, 1], exactly."""
    total = Fraction(0)
    for power in range(losses + 1):
        degree = wins + power + 1
        total += (-1) ** power * math.comb(losses, power) * (1 - Fraction(1, 2**degree)) / degree
    return 2 ** (wins + losses) * 2 * total


def test_the_evidence_is_the_mixture_of_the_docstring_wherever_it_can_reach_a_threshold():
    pairs = [(wins, rounds - wins) for rounds in range(61) for wins in range(rounds + 1)]
    wins, losses = np.array(pairs).T
    computed = _log_evidence(wins, losses)
    for (w, lost), value in zip(pairs, computed, strict=True):
        exact = mixture(w, lost)
        if w > lost:
            assert value == pytest.approx(math.log(exact), abs=1e-9)
        else:  # no evidence: the mixture is at most 1 here, so that no threshold above 1 is ever reached
            assert value == 0
            assert exact <= 1


@pytest.mark.parametrize("win", [Fraction(1, 2), Fraction(2, 5), Fraction(1, 10), Fraction(0)], ids=str)
def test_the_evidence_is_a_supermartingale_as_long_as_the_leader_wins_at_most_half(win):
    for rounds in range(25):
        for wins in range(rounds + 1):
            losses = rounds - wins
            after = win * mixture(wins + 1, losses) + (1 - win) * mixture(wins, losses + 1)
            assert after <= mixture(wins, losses)
            if win == Fraction(1, 2):
                assert after == mixture(wins, losses)


@pytest.mark.parametrize("win", [Fraction(1, 2), Fraction(1, 3)], ids=str)
@pytest.mark.parametrize("rounds", [1, 7, 30])
def test_the_expected_evidence_after_any_number_of_rounds_is_at_most_1(win, rounds):
    expected = sum(
        math.comb(rounds, wins) * win**wins * (1 - win) ** (rounds - wins) * mixture(wins, rounds - wins)
        for wins in range(rounds + 1)
    )
    assert expected <= 1
    if win == Fraction(1, 2):
        assert expected == 1


@pytest.mark.parametrize("delta", [0.01, 0.1, 0.3, 0.9])
def test_a_fair_coin_ever_reaches_the_threshold_with_probability_at_most_delta(delta):
    # Exact, by carrying the law of the wins through 1500 rounds with the threshold as a trap.
    law, reached = {0: 1.0}, 0.0
    for rounds in range(1, 1501):
        following = Counter()
        for wins, mass in law.items():
            following[wins] += mass / 2
            following[wins + 1] += mass / 2
        wins = np.array(list(following))
        crossed = _log_evidence(wins, rounds - wins) >= -math.log(delta)
        for count, out in zip(wins.tolist(), crossed, strict=True):
            if out:
                reached += following.pop(count)
        law = following
    assert delta / 20 < reached <= delta


def test_eight_wins_in_a_row_are_needed_at_the_confidence_of_the_papers_example():
    # delta = 0.1 over 4 depths: 1/0.025 = 40. After n wins the mixture is (2^(n+1) - 1) / (n+1): 31.9 after
    # seven, 56.8 after eight.
    assert mixture(7, 0) == Fraction(255, 8)
    assert mixture(8, 0) == Fraction(511, 9)
    evidence = np.exp(_log_evidence(np.array([7, 8]), np.array([0, 0])))
    assert evidence[0] < 40 < evidence[1]
    # Two arms, one always and one never accepted: eight rounds, and one more if the first leader, drawn
    # by lot, was the wrong one.
    found = decide(Adaptive(0.025), [1.0, 0.0], 200, seed=6)
    assert (found.chosen == 0).all()
    assert set(found.pulls[:, 0].tolist()) == {8, 9}


# ---- pairing rounds


def test_paired_rounds_have_the_law_of_laying_them_side_by_side(fit):
    # Five rounds; the leader accepted in three of them and the other arm in two: all placements.
    placements = list(
        itertools.product(itertools.combinations(range(5), 3), itertools.combinations(range(5), 2))
    )
    law = Counter()
    for leader, other in placements:
        won, lost = len(set(leader) - set(other)), len(set(other) - set(leader))
        law[won, lost] += Fraction(1, len(placements))
    good = np.tile([3, 2], (30_000, 1))
    leader = np.zeros(30_000, dtype=np.int64)
    won, lost = _discordant(good, leader, np.ones_like(good, dtype=bool), 5, np.random.default_rng(7))
    assert fit(zip(won[:, 1].tolist(), lost[:, 1].tolist(), strict=True), dict(law)) > LEVEL


@pytest.mark.parametrize("batch", [1, 2, 6])
def test_wins_and_losses_of_independent_arms_are_trinomial_whatever_the_batch(batch, fit):
    # A round is won with probability p (1-q), lost with (1-p) q, and otherwise undecided.
    p, q, count = 0.7, 0.4, 30_000
    rng = np.random.default_rng(8)
    good = np.stack([rng.binomial(batch, q, count), rng.binomial(batch, p, count)], axis=1)
    leader = np.ones(count, dtype=np.int64)
    won, lost = _discordant(good, leader, np.ones_like(good, dtype=bool), batch, rng)
    law = {}
    for w, lo in itertools.product(range(batch + 1), repeat=2):
        if w + lo <= batch:
            ways = math.comb(batch, w) * math.comb(batch - w, lo)
            neither = 1 - p * (1 - q) - (1 - p) * q
            law[w, lo] = ways * (p * (1 - q)) ** w * ((1 - p) * q) ** lo * neither ** (batch - w - lo)
    assert fit(zip(won[:, 0].tolist(), lost[:, 0].tolist(), strict=True), law) > LEVEL


def test_the_leader_is_not_compared_with_itself_nor_with_arms_that_left():
    rng = np.random.default_rng(9)
    good = rng.integers(0, 11, (500, 5))
    pulled = rng.random((500, 5)) < 0.6
    leader = rng.integers(0, 5, 500)
    pulled[np.arange(500), leader] = True
    good = good * pulled
    won, lost = _discordant(good, leader, pulled, 10, rng)
    compared = pulled & (np.arange(5) != leader[:, None])
    ahead = good[np.arange(500), leader][:, None] - good
    assert (won - lost == ahead * compared).all()
    assert not won[~compared].any()
    assert not lost[~compared].any()
    assert (won >= 0).all()
    assert (lost >= 0).all()
    assert (won + lost <= 10).all()


# ---- the guarantee, by simulation


def eliminated(found, arm):
    """Whether a search threw an arm out: pulled less often than others, or passed over at the end."""
    fewer = found.pulls[:, arm] < found.pulls.max(axis=1)
    return fewer | ((found.chosen >= 0) & (found.chosen != arm))


@pytest.mark.parametrize("delta", [0.1, 0.3])
@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.5, 0.5, 0.5), (0.8, 0.8, 0.3), (0.05, 0.05)], ids=str)
def test_an_arm_as_good_as_any_is_thrown_out_with_probability_at_most_delta(rates, delta):
    searches = 4_000
    found = decide(Adaptive(delta, patience=(1_000,)), rates, searches, seed=10)
    for arm in (0, 1):
        errors = int(eliminated(found, arm).sum())
        assert Estimate.proportion(errors, searches, 0.999).high <= delta


@pytest.mark.parametrize("delta", [0.1, 0.3])
@pytest.mark.parametrize("rates", [(0.6, 0.5, 0.5, 0.5), (0.45, 0.5, 0.45, 0.4), (0.3, 0.2)], ids=str)
def test_the_best_arm_is_found_with_probability_at_least_1_minus_delta(rates, delta):
    searches = 2_000
    found = decide(Adaptive(delta, patience=(20_000,)), rates, searches, seed=11)
    wrong = int((found.chosen != int(np.argmax(rates))).sum())
    assert Estimate.proportion(wrong, searches, 0.999).high <= delta


@pytest.mark.parametrize("growth", [0.0, 0.05, 1.0])
def test_checking_late_is_always_valid(growth):
    searches = 2_000
    found = decide(Adaptive(0.2, patience=(400,), growth=growth), [0.5, 0.5], searches, seed=12)
    errors = int(eliminated(found, 0).sum())
    assert Estimate.proportion(errors, searches, 0.999).high <= 0.2


def test_half_the_gap_needs_about_four_times_the_pulls():
    rule = Adaptive(0.01, patience=(100_000,))
    medians = [
        float(np.median(decide(rule, [0.5 + gap, 0.5, 0.5], 300, seed=13).pulls.sum(axis=1)))
        for gap in (0.05, 0.1, 0.2, 0.4)
    ]
    for narrow, wide in itertools.pairwise(medians):
        assert 3 < narrow / wide < 7


# ---- patience


def test_equal_arms_are_given_up_after_the_patience_and_not_a_round_later():
    found = decide(Adaptive(0.01, patience=(77,)), [1.0, 1.0, 0.0], 200, seed=14)
    assert (found.chosen == -1).all()
    assert (found.pulls[:, :2] == 77).all()
    assert (found.pulls[:, 2] < 77).all()
    assert not found.tied.any()


def test_patience_is_given_for_each_depth_and_the_last_number_goes_on():
    # After a wrong history all arms are equally good, so the search only ends with its patience.
    parity = Target(Parity(6), (1, 3))
    arms = CountsArms("ltar", parity, Part(parity.tree), [15])
    for history, rounds in ((0,), 60), ((0, 2), 60):
        histories = np.tile(history, (100, 1))
        rule = Adaptive(1e-6, patience=(30, 60))
        found = rule.decide(arms, histories, Ledger(100, Budget()), np.random.default_rng(15))
        assert (found.pulls.max(axis=1) == rounds).all()


def test_thirty_billion_rounds_are_spent_to_the_last_one():
    # Beyond the 1e9 that hypergeometric draws take at once.
    found = decide(Adaptive(1e-9, patience=(30_000_000_019,)), [0.5, 0.5], 3, seed=16)
    assert (found.chosen == -1).all()
    assert (found.pulls[:, :2] == 30_000_000_019).all()


@pytest.mark.parametrize("patience", [0, 10**16])
def test_a_patience_that_cannot_be_is_refused(patience):
    with pytest.raises(InputError, match="patience must be between 1 and 1e"):
        Adaptive(0.1, patience=(patience,))


def test_a_lone_arm_is_taken_without_a_query():
    found = decide(Adaptive(0.1), [0.5], 5, seed=17)
    assert (found.chosen == 0).all()
    assert not found.pulls.any()
