"""Counts in place of rollouts: nothing is lost, nothing goes where it may not, rounding never matters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, kstest, multinomial

from stepladder.curriculum import no_curriculum, stages_of
from stepladder.errors import InputError
from stepladder.finetune.flow import Draws, Means, check_countable, flow, surviving_laws, tail
from stepladder.finetune.setup import Setup
from stepladder.trees import Countdown, ModularSum, Parity, Recall, Target

LARGEST = 10**15
CURRICULA = [
    ("no_curriculum", "step"),
    ("depth_increasing", "step"),
    ("depth_increasing", "all"),
    ("hint_decreasing", "step"),
    ("hint_decreasing", "all"),
]
curricula = pytest.mark.parametrize(("method", "scoring"), CURRICULA)


def draws(seed=0):
    return Draws(np.random.default_rng(seed))


# ---- dividing counts


@st.composite
def divisions(draw):
    """A count and a law over d picks, d any number, some of them illegal."""
    d = draw(st.integers(2, 40))
    legal = draw(st.lists(st.booleans(), min_size=d, max_size=d).filter(any))
    weights = draw(st.lists(st.floats(1e-12, 1), min_size=d, max_size=d))
    law = np.where(legal, weights, 0.0)
    return draw(st.integers(0, LARGEST)), law / law.sum()


@given(divisions(), st.integers(0, 2**32))
def test_a_split_loses_nothing_and_gives_nothing_to_an_illegal_pick(division, seed):
    count, law = division
    moves = draws(seed).split(np.array([count]), law[None])[0]
    assert moves.sum() == count
    assert (moves >= 0).all()
    assert (moves[law == 0] == 0).all()


@pytest.mark.parametrize("d", [3, 5, 6, 7, 9, 10, 11, 12, 13, 21, 33, 49, 100, 127])
def test_a_quadrillion_rollouts_over_d_equal_picks_never_reach_an_illegal_one(d):
    # 1/d is rounded, so d of them do not add up to 1 exactly: 1e15 times the last bit is a rollout.
    laws = np.zeros((2 * d, 2 * d))
    for first in range(2 * d):
        laws[first, np.arange(first, first + d) % (2 * d)] = 1 / d
    counts = np.full((20, 2 * d), LARGEST)
    moves = draws(1).split(counts, laws)
    assert (moves.sum(axis=-1) == LARGEST).all()
    assert (moves[:, laws == 0] == 0).all()


def test_a_certain_pick_takes_every_rollout():
    law = np.eye(5)
    moves = draws(2).split(np.full(5, LARGEST), law)
    assert (moves == LARGEST * law.astype(np.int64)).all()


def test_a_row_that_nothing_reaches_may_have_no_law():
    assert (draws(3).split(np.zeros(2, dtype=np.int64), np.zeros((2, 4))) == 0).all()


def test_small_splits_are_multinomial(fit):
    law = np.array([0.5, 0.0, 0.2, 0.3])
    moves = draws(4).split(np.full(20_000, 3), law)
    outcomes = [(a, 0, b, 3 - a - b) for a in range(4) for b in range(4 - a)]
    expected = {one: float(multinomial.pmf(one, 3, law)) for one in outcomes}
    assert fit(map(tuple, moves.tolist()), expected) > 1e-4


@pytest.mark.parametrize("count", [10**6, 10**12, LARGEST])
def test_large_splits_and_thinnings_have_the_mean_and_spread_of_a_binomial(count):
    law = np.array([0.1, 0.25, 0.0, 0.6, 0.05])
    moves = draws(5).split(np.full(4_000, count), law)
    for pick in np.flatnonzero(law):
        scaled = (moves[:, pick] - count * law[pick]) / np.sqrt(count * law[pick] * (1 - law[pick]))
        assert kstest(scaled, "norm").pvalue > 1e-4
    thinned = draws(6).thin(np.full(4_000, count), np.asarray(0.5))
    assert kstest((thinned - count / 2) / np.sqrt(count / 4), "norm").pvalue > 1e-4


def test_small_thinnings_are_binomial(fit):
    thinned = draws(7).thin(np.full(20_000, 4), np.asarray(0.3))
    assert fit(thinned.tolist(), {n: float(binom.pmf(n, 4, 0.3)) for n in range(5)}) > 1e-4


def test_thinning_by_a_probability_that_rounding_lifted_over_one_keeps_all():
    assert draws(8).thin(np.array([LARGEST]), np.array([1 + 2**-52])).tolist() == [LARGEST]


@given(divisions())
def test_means_divide_by_expectation(division):
    count, law = division
    assert Means().split(np.array([float(count)]), law[None])[0] == pytest.approx(count * law)
    assert Means().thin(np.array([float(count)]), np.asarray(0.25)) == pytest.approx([count / 4])


# ---- conservation

TARGETS = [Target(Parity(11), (0, 3, 7)), Target(ModularSum(6, 3), (1, 2, 5)), Target(Parity(3), (0, 1, 2))]
every_target = pytest.mark.parametrize("target", TARGETS, ids=lambda t: f"{t.tree.name}-d{t.tree.d}")
sizes = pytest.mark.parametrize("samples", [1, 1_000, LARGEST])


@pytest.fixture
def flows(spread_weights):
    """Return the stages of a method with all their scored transitions, accepted and rejected together."""

    def run(target, method, scoring, samples, chance=None):
        law = Setup(target).law(spread_weights(target.tree, seed=1, trials=4, scale=1.5))
        for stage in stages_of(method, target.k, scoring):
            flowed = flow(law, target, stage, samples, chance or draws(9), with_rejected=True)
            assert (flowed.accepted >= 0).all()
            assert (flowed.rejected >= 0).all()
            yield stage, flowed.accepted + flowed.rejected, law

    return run


@every_target
@sizes
@curricula
def test_no_transition_is_illegal_whatever_the_number_of_rollouts(target, samples, method, scoring, flows):
    for _, moved, _ in flows(target, method, scoring, samples):
        assert (moved[:, ~target.tree.follows] == 0).all()


@every_target
@sizes
def test_without_a_curriculum_every_rollout_leaves_the_root_once(target, samples, flows):
    ((_, moved, _),) = flows(target, "no_curriculum", "step", samples)
    assert (moved[:, target.tree.eos].sum(axis=-1) == samples).all()


@sizes
def test_what_enters_a_position_leaves_it_and_everything_ends_in_eos(samples, flows):
    # Three picks of three: every chain is over after the k+1 = 4 scored steps.
    target = TARGETS[2]
    ((_, moved, _),) = flows(target, "no_curriculum", "step", samples)
    assert (moved[:, :, :3].sum(axis=1) == moved[:, :3].sum(axis=2)).all()
    assert (moved[:, :, target.tree.eos].sum(axis=1) == samples).all()


@every_target
@sizes
def test_every_hinted_rollout_takes_the_scored_step_from_the_end_of_its_hint(target, samples, flows):
    for stage, moved, _ in flows(target, "hint_decreasing", "step", samples):
        start = (target.tree.eos, *target.picks)[stage.hint]
        assert (moved[:, start].sum(axis=-1) == samples).all()
        assert (moved.sum(axis=(1, 2)) == samples).all()


@every_target
@sizes
def test_every_survivor_of_a_cut_takes_as_many_steps_as_the_cut_leaves_and_none_of_them_is_eos(
    target, samples, flows
):
    stages = zip(
        flows(target, "depth_increasing", "all", samples),
        flows(target, "depth_increasing", "step", samples),
        strict=True,
    )
    for (stage, moved, law), (_, scored_once, _) in stages:
        if stage.truncate is None:
            continue
        survivors = moved[:, target.tree.eos].sum(axis=-1)
        assert (moved.sum(axis=(1, 2)) == stage.truncate * survivors).all()
        assert (moved[..., target.tree.eos] == 0).all()
        _, survival = surviving_laws(law, stage, target.tree.eos, target.tree.eos)
        # Both runs draw their survivors from Binomial(n, survival): six standard deviations.
        for drawn in (survivors, scored_once.sum(axis=(1, 2))):
            spread = np.sqrt(samples * survival * np.maximum(1 - survival, 0))
            assert (np.abs(drawn - samples * survival) <= 6 * spread + 1e-6 * samples**0.5 + 1).all()


@every_target
@curricula
def test_drawn_transitions_average_to_the_mean_transitions(target, method, scoring, flows):
    samples = 10**14
    drawn = flows(target, method, scoring, samples)
    means = flows(target, method, scoring, samples, chance=Means())
    for (_, moved, _), (_, expected, _) in zip(drawn, means, strict=True):
        # A count is a sum over at most k+1 steps of binomials with spread at most sqrt(n)/2.
        assert (np.abs(moved - expected) < 6 * 4 * samples**0.5 / 2).all()


# ---- conditioning on survival


def test_survival_of_a_cut_is_the_probability_of_no_eos_before_it(spread_weights):
    target = Target(Parity(5), (0, 2, 3))
    law = Setup(target).law(spread_weights(target.tree, seed=2))
    for stage in stages_of("depth_increasing", 3)[:3]:
        reach = np.zeros(6)
        reach[5] = 1
        for _ in range(stage.truncate):
            reach = reach @ law[0]
            reach[5] = 0
        laws, survival = surviving_laws(law, stage, 5, 5)
        assert survival == pytest.approx([reach.sum()], abs=1e-14)
        assert len(laws) == stage.truncate


def test_a_model_that_always_stops_early_leaves_no_survivors_and_no_error():
    target = Target(Parity(4), (0, 1))
    law = np.zeros((1, 5, 5))
    law[0, :4, 4] = 1
    law[0, 4, 0] = 1
    stage = stages_of("depth_increasing", 2)[1]
    flowed = flow(law, target, stage, LARGEST, draws(10), with_rejected=True)
    assert flowed.accepted.sum() == flowed.rejected.sum() == 0


def test_the_tail_is_the_probability_of_finishing_the_path_after_the_scored_step(spread_weights):
    target = Target(Parity(6), (0, 2, 3))
    law = Setup(target).law(spread_weights(target.tree, seed=3, trials=2))
    path = [(6, 0), (0, 2), (2, 3), (3, 6)]
    for stage in stages_of("hint_decreasing", 3):
        expected = np.ones(2)
        for query, pick in path[stage.last_scored :]:
            expected = expected * law[:, query, pick]
        assert tail(law, target, stage) == pytest.approx(expected)
    assert tail(law, target, no_curriculum(3)[0]).tolist() == [1, 1]


# ---- what can be counted


def test_wrong_chains_are_accepted_half_of_the_time_for_parity_and_a_vth_for_sums():
    assert check_countable(Target(Parity(4), (0, 1))) == 1 / 2
    assert check_countable(Target(ModularSum(4, 5), (0, 1))) == 1 / 5


@pytest.mark.parametrize("tree", [Recall(4), Countdown(3)], ids=lambda tree: tree.name)
def test_other_tasks_cannot_be_counted_and_the_message_says_what_to_use(tree):
    with pytest.raises(
        InputError, match=rf"task {tree.name} cannot be counted.*parity and sum.*engine rollout"
    ):
        check_countable(Target(tree, (0, 1)))
