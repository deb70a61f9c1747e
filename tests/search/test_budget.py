"""Promises of the budget: limits hold, everything is counted, and a stopped search says what it knows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from stepladder.errors import InputError
from stepladder.search import (
    Adaptive,
    Budget,
    CountsArms,
    Fixed,
    Ledger,
    RolloutArms,
    adaptive_rule,
    identify,
)
from stepladder.trees import Parity, Part, Target

SIGMAS = float(norm.isf(1e-3 / 20 / 2))
"""Distance from a mean in standard errors: 1e-3 for all z-tests of this file, fewer than 20, two-sided."""

TARGET = Target(Parity(8), (0, 1, 2))
BRANCHING = (8, 8, 7, 6)
"""Legal picks along the target's path."""

METHODS = pytest.mark.parametrize("method", ["bai", "ltar"])


def counts(method="ltar", target=TARGET, seed=1):
    return CountsArms(method, target, Part(target.tree), [seed])


# ---- T_data


@given(
    queries=st.integers(1, 2_000),
    rule=st.one_of(
        st.integers(1, 60).map(lambda pulls: Fixed((pulls,))),
        st.sampled_from([Adaptive(0.025), adaptive_rule("ltar", TARGET, 0.3)]),
    ),
    method=st.sampled_from(["bai", "ltar"]),
)
def test_a_search_never_asks_more_than_its_budget(queries, rule, method):
    found = identify(counts(method), rule, 5, seed=2, budget=Budget(queries=queries))
    assert (found.t_data <= queries).all()
    assert (found.t_data == sum(_spent(found, depth) for depth in range(len(found.depths)))).all()


def _spent(found, depth):
    """Queries of every search at a depth."""
    spent = np.zeros(len(found.picks), dtype=np.int64)
    spent[found.searched[depth]] = found.depths[depth].pulls.sum(axis=1)
    return spent


@METHODS
def test_t_data_is_what_the_oracle_itself_counted(method):
    target = Target(Parity(5), (0, 2))
    arms = RolloutArms(method, target, Part(target.tree), [3])
    found = identify(arms, Fixed((7,)), 10, seed=3)
    assert arms.oracle.queries == found.t_data.sum()


def test_a_budget_for_two_depths_commits_two_picks_and_keeps_their_estimates():
    # 30 pulls for each of 8 arms, twice, and not one query more: 480.
    found = identify(counts(), Fixed((30,)), 40, seed=4, budget=Budget(queries=2 * 8 * 30))
    right = np.flatnonzero((found.picks[:, :2] == (0, 1)).all(axis=1))
    assert len(right) > 30
    for search in right.tolist():
        assert found.path(search) == (0, 1)
        assert found.t_data[search] == 480
        assert [arm.pulls for arm in found.estimates(search, 1)] == [30] * 8
        assert [arm.pick for arm in found.estimates(search, 2)] == [1, 2, 3, 4, 5, 6, 7, 8]
        assert found.estimates(search, 3) == ()
        assert "stopped at depth 3" in found.undecided(search)
    assert not found.complete.any()
    assert not found.correct.any()
    assert not found.accuracy().any()


def test_one_query_less_stops_a_depth_earlier():
    found = identify(counts(), Fixed((30,)), 40, seed=4, budget=Budget(queries=2 * 8 * 30 - 1))
    assert (found.picks[found.picks[:, 0] == 0, 1:] == -1).all()


@METHODS
@pytest.mark.parametrize("rule", [Fixed((1,)), Adaptive(0.1)], ids=["fixed", "adaptive"])
def test_a_budget_of_one_query_ends_without_a_path(method, rule):
    found = identify(counts(method), rule, 10, seed=5, budget=Budget(queries=1))
    assert (found.picks == -1).all()
    assert (found.t_data <= 1).all()
    assert not found.t_comp.any()
    assert all(found.path(search) == () for search in range(10))
    assert all("stopped at depth 1" in found.undecided(search) for search in range(10))


def test_an_adaptive_search_that_runs_out_keeps_what_it_has_asked():
    found = identify(counts(), Adaptive(0.025), 50, seed=6, budget=Budget(queries=60))
    for search in range(50):
        asked = sum(arm.pulls for arm in found.estimates(search, 1))
        assert 0 < asked <= found.t_data[search] <= 60
        assert found.undecided(search) is not None


def test_one_search_running_out_does_not_stop_the_others():
    # Enough for some of the adaptive searches and not for others.
    found = identify(counts(), adaptive_rule("ltar", TARGET, 0.1), 300, seed=7, budget=Budget(queries=640))
    assert 50 < found.complete.sum() < 250
    assert found.correct[found.complete].all()
    for search in np.flatnonzero(~found.complete).tolist():
        assert "stopped" in found.undecided(search)


# ---- T_comp


@METHODS
def test_no_query_is_made_once_the_tokens_are_spent(method):
    # Depth 1 alone takes some 8 * 30 * 8 = 1920 tokens; a limit of 500 lets it finish and nothing follow.
    found = identify(counts(method), Fixed((30,)), 40, seed=8, budget=Budget(tokens=500))
    assert (found.t_data == 8 * 30).all()
    assert (found.t_comp > 500).all()
    assert (found.picks[:, 0] >= 0).all()
    assert (found.picks[:, 1:] == -1).all()


def test_an_adaptive_search_stops_between_rounds_when_its_tokens_are_spent():
    found = identify(counts(), Adaptive(1e-9), 40, seed=9, budget=Budget(tokens=500))
    assert (found.picks == -1).all()
    # A round of 8 arms takes 64 tokens on average: the limit is passed by one round at most.
    assert (found.t_comp >= 500).all()
    assert found.t_comp.mean() < 700


def harmonic(n):
    return sum(1 / i for i in range(1, n + 1))


@METHODS
@pytest.mark.parametrize("engine", ["counts", "rollout"])
def test_t_comp_counts_retries_rollouts_and_commits(method, engine):
    # Forcing one of n equally likely picks takes n tokens on average: n * m * n for the arms of a depth and
    # n for its commit. A rollout from position j takes H_(d-j) tokens: at every depth of bai, at the
    # last one of ltar. Pulls are many enough that searches go down the true path; for ltar they are few
    # enough, and searches many enough, that leaving out the commits would show.
    d, secret, m, searches = (8, (0, 1, 2), 3_000_000, 400) if engine == "counts" else (4, (0,), 400, 100)
    if (method, engine) == ("ltar", "counts"):
        m, searches = 30, 40_000
    target = Target(Parity(d), secret)
    kind = CountsArms if engine == "counts" else RolloutArms
    arms = kind(method, target, Part(target.tree), [10])
    found = identify(arms, Fixed((m,)), searches, seed=10)
    right = found.correct
    assert right.mean() > 0.97
    expected = 0.0
    for depth in range(1, target.k + 2):
        legal = target.tree.legal(secret[: depth - 1])
        expected += m * len(legal) ** 2 + len(legal)
        if method == "bai" or depth == target.k + 1:
            expected += m * sum(harmonic(d - j) for j in legal if j != d)
    spent = found.t_comp[right]
    error = spent.std(ddof=1) / math.sqrt(len(spent))
    assert abs(spent.mean() - expected) <= SIGMAS * error


@pytest.mark.parametrize("engine", [CountsArms, RolloutArms])
def test_commits_are_counted_even_where_nothing_is_asked(engine):
    # d = 1: a single arm at each depth, which the adaptive rule takes unasked; forcing it takes one token.
    target = Target(Parity(1), (0,))
    found = identify(engine("ltar", target, Part(target.tree), [11]), Adaptive(0.1), 5, seed=11)
    assert found.correct.all()
    assert not found.t_data.any()
    assert (found.t_comp == 2).all()


# ---- the ledger


def test_the_ledger_affords_exactly_the_limit_and_nothing_after_the_tokens_are_gone():
    ledger = Ledger(3, Budget(queries=10, tokens=100))
    ledger.spend(np.array([4, 4, 0]), np.array([0, 100, 99]))
    assert ledger.affords(np.array([6, 6, 10])).tolist() == [True, False, True]
    assert ledger.affords(np.array([7, 0, 11])).tolist() == [False, False, False]
    ledger.spend(np.array([6, 0, 0]), np.array([1, 1, 1]))
    assert ledger.queries.tolist() == [10, 4, 0]
    assert ledger.tokens.tolist() == [1, 101, 100]


@pytest.mark.parametrize(
    "limits", [{"queries": 0}, {"queries": -5}, {"tokens": 0}, {"tokens": 10**19}], ids=str
)
def test_a_limit_that_cannot_be_is_refused_under_its_options_name(limits):
    (name,) = limits
    with pytest.raises(InputError, match=f"max_{name} must be between 1 and 1e"):
        Budget(**limits)
