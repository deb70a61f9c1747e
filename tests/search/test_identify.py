"""Facts of Thm. 3 and Alg. bai and ltar: searches find the path, at their confidence, on every tree."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.stats import binomtest, chi2_contingency, ks_2samp

from stepladder.estimate import Estimate
from stepladder.search import (
    Adaptive,
    Budget,
    CountsArms,
    Fixed,
    Identification,
    Ledger,
    RolloutArms,
    adaptive_rule,
    identify,
    paper_rule,
)
from stepladder.search.stopping import Depth
from stepladder.transformer import TreeTransformer
from stepladder.trees import (
    CausalGraph,
    Countdown,
    FamilyOracle,
    MarkovChain,
    ModularSum,
    Parity,
    Part,
    Recall,
    Target,
    TerminalOracle,
    Translation,
    acceptance,
    check_uniqueness,
)

LEVEL = 1e-3 / 40
"""1e-3 for all two-sample tests of this file together; there are fewer than 40 of them."""

SEARCHES = 1000


def counts(method, target, rule, searches=SEARCHES, seed=1):
    return identify(CountsArms(method, target, Part(target.tree), [seed]), rule, searches, seed)


# ---- delta-correct identification


PAPERS = pytest.mark.parametrize(("d", "k"), [(8, 3), (16, 2), (32, 2)])


@PAPERS
@pytest.mark.parametrize("delta", [0.1, 0.3])
def test_ltar_with_the_papers_number_errs_at_most_delta_over_1000_searches(d, k, delta):
    target = Target(Parity(d), tuple(range(k)))
    assert 1 - counts("ltar", target, paper_rule("ltar", target, delta)).correct.mean() <= delta


@PAPERS
@pytest.mark.parametrize("delta", [0.1, 0.3])
def test_ltar_with_the_adaptive_rule_needs_a_twentieth_of_the_papers_queries_at_no_more_error(d, k, delta):
    target = Target(Parity(d), tuple(range(k)))
    paper = counts("ltar", target, paper_rule("ltar", target, delta))
    adaptive = counts("ltar", target, adaptive_rule("ltar", target, delta))
    assert 1 - adaptive.correct.mean() <= min(delta, 1 - paper.correct.mean())
    assert adaptive.t_data.mean() <= paper.t_data.mean() / 20
    assert adaptive.t_comp.mean() <= paper.t_comp.mean() / 20


@pytest.mark.parametrize(
    ("d", "secret"), [(8, (1, 4, 6)), (8, (5, 6, 7)), (16, (3, 9)), (16, (14, 15)), (32, (17, 30))], ids=str
)
@pytest.mark.parametrize("delta", [0.1, 0.3])
def test_the_adaptive_rule_keeps_its_delta_wherever_the_secret_stands(d, secret, delta):
    target = Target(Parity(d), secret)
    assert 1 - counts("ltar", target, adaptive_rule("ltar", target, delta)).correct.mean() <= delta


@pytest.mark.parametrize("secret", [(0,), (1,), (2,), (3,)], ids=str)
@pytest.mark.parametrize("delta", [0.1, 0.3])
def test_bai_with_the_adaptive_rule_errs_at_most_delta_over_1000_searches(secret, delta):
    target = Target(Parity(4), secret)
    assert 1 - counts("bai", target, adaptive_rule("bai", target, delta)).correct.mean() <= delta


def test_bai_with_the_adaptive_rule_keeps_its_delta_at_two_picks_of_eight():
    target = Target(Parity(8), (0, 1))
    assert 1 - counts("bai", target, adaptive_rule("bai", target, 0.1), 300).correct.mean() <= 0.1


def test_the_papers_number_for_bai_with_constant_1_misses_its_delta():
    # d = 8, k = 3, delta = 0.1: five pulls per arm at the last depth cannot tell 1 from 1/2 five times over.
    target = Target(Parity(8), (0, 1, 2))
    found = counts("bai", target, paper_rule("bai", target, 0.1))
    wrong = int((~found.correct).sum())
    assert Estimate.proportion(wrong, SEARCHES, 0.999).low > 0.2


def test_a_correct_pick_is_never_thrown_out_by_the_family_oracle():
    # It is accepted every time, so that it loses no comparison: the adaptive ltar cannot err on parity.
    target = Target(Parity(8), (0, 1, 2))
    assert counts("ltar", target, adaptive_rule("ltar", target, 0.99)).correct.all()


def test_after_a_wrong_turn_the_adaptive_rule_rarely_names_another_pick():
    # All five arms are then equally good. Each leaves with probability at most delta, so that four of them
    # leave with probability at most 5/4 delta (Markov); otherwise the search says that it cannot tell.
    target, delta, searches = Target(Parity(6), (0, 1, 2)), 0.1, 2_000
    arms = CountsArms("bai", target, Part(target.tree), [1])
    histories = np.full((searches, 1), 1)
    rule = Adaptive(delta, patience=(1_000,))
    found = rule.decide(arms, histories, Ledger(searches, Budget()), np.random.default_rng(1))
    named = int((found.chosen >= 0).sum())
    assert Estimate.proportion(named, searches, 0.999).high <= 5 / 4 * delta


# ---- the two engines


def same_law(left, right):
    """The p-value of a chi-square test that two lists of outcomes have one law; rare ones are pooled."""
    first, second = Counter(left), Counter(right)
    common = [outcome for outcome in first | second if first[outcome] + second[outcome] >= 10]
    table = [[counted[outcome] for outcome in common] for counted in (first, second)]
    for row, counted in zip(table, (first, second), strict=True):
        row.append(counted.total() - sum(row))
    columns = [column for column in zip(*table, strict=True) if sum(column)]
    assert len(columns) > 1
    return chi2_contingency(np.transpose(columns)).pvalue


ENGINE_CASES = pytest.mark.parametrize(
    ("method", "target", "rule"),
    [
        ("ltar", Target(Parity(4), (0, 2)), Fixed((3,))),
        ("bai", Target(Parity(4), (0, 2)), Fixed((12, 4))),
        ("ltar", Target(ModularSum(4, 3), (1, 2)), Fixed((2,))),
        ("bai", Target(ModularSum(4, 3), (1, 2)), Fixed((10,))),
        ("ltar", Target(Parity(3), (1,)), Adaptive(0.3, patience=(6,))),
        ("bai", Target(Parity(3), (1,)), Adaptive(0.5, patience=(12,))),
    ],
    ids=["ltar-parity", "bai-parity", "ltar-sum", "bai-sum", "ltar-adaptive", "bai-adaptive"],
)


@ENGINE_CASES
def test_counts_and_rollout_decide_alike_and_spend_alike(method, target, rule):
    searches = 250
    counted = counts(method, target, rule, 20 * searches, seed=2)
    arms = RolloutArms(method, target, Part(target.tree), [3])
    rolled = identify(arms, rule, searches, seed=3)
    paths = [[tuple(row) for row in found.picks.tolist()] for found in (counted, rolled)]
    assert same_law(*paths) > LEVEL
    assert ks_2samp(counted.t_comp, rolled.t_comp).pvalue > LEVEL
    assert ks_2samp(counted.t_data, rolled.t_data).pvalue > LEVEL
    # The tokens given the most frequent path: equal for more reasons than a like mixture of paths.
    (path, _), *_ = Counter(paths[0]).most_common(1)
    given = [
        found.t_comp[(found.picks == path).all(axis=1)] / found.t_data[(found.picks == path).all(axis=1)]
        for found in (counted, rolled)
    ]
    assert ks_2samp(*given).pvalue > LEVEL


@pytest.mark.parametrize("engine", [CountsArms, RolloutArms])
@pytest.mark.parametrize("method", ["bai", "ltar"])
@pytest.mark.parametrize("tree", [Parity(4), ModularSum(4, 3)], ids=str)
def test_t_data_is_the_pulls_per_arm_times_the_arms_met_in_both_engines(engine, method, tree):
    target = Target(tree, (0, 2))
    found = identify(engine(method, target, Part(tree), [4]), Fixed((5, 4, 3)), 60, seed=4)
    for search, picks in enumerate(found.picks.tolist()):
        asked = 0
        for depth, pulls in enumerate((5, 4, 3)):
            if tree.eos in picks[:depth]:
                break
            asked += pulls * len(tree.legal(picks[:depth]))
        assert found.t_data[search] == asked


@pytest.mark.parametrize("engine", [CountsArms, RolloutArms])
def test_the_same_seed_gives_the_same_search_and_another_seed_another(engine):
    target = Target(Parity(4), (0, 1))

    def run(seed):
        found = identify(engine("bai", target, Part(target.tree), [seed]), Fixed((9,)), 20, seed)
        return found.picks.tolist(), found.t_data.tolist(), found.t_comp.tolist()

    assert run(5) == run(5)
    assert run(5) != run(6)


def test_searches_of_a_batch_are_independent_of_each_other(fit):
    # Neighbours: right or wrong, as often together as chance has it.
    target = Target(Parity(4), (0,))
    right = counts("ltar", target, Fixed((3,)), 40_000, seed=7).correct
    share = right.mean()
    law = {
        (one, two): (share if one else 1 - share) * (share if two else 1 - share)
        for one in (True, False)
        for two in (True, False)
    }
    assert fit(zip(right[::2].tolist(), right[1::2].tolist(), strict=True), law) > LEVEL


# ---- any base model


@pytest.mark.parametrize("engine", [CountsArms, RolloutArms])
def test_a_transformer_with_random_weights_is_searched_as_well_as_part(engine):
    tree = Parity(5)
    generator = torch.Generator().manual_seed(8)
    base = TreeTransformer(tree, torch.randn(6, 6, dtype=torch.float64, generator=generator))
    target = Target(tree, (1, 3))
    found = identify(engine("ltar", target, base, [8]), adaptive_rule("ltar", target, 0.1), 6, seed=8)
    assert found.correct.all()


# ---- other trees


LTAR_TREES = [
    Target(Parity(5), (1, 3)),
    Target(ModularSum(5, 4), (0, 2, 3)),
    Target(Countdown(4, 13), (1, 2 * 4 + 3, 2, 3 * 4 + 0)),
    Target(Recall(4), (2, 0)),
    Target(CausalGraph(5, 3, edges=((0, 1), (0, 3), (1, 2), (1, 4), (3, 4))), (0, 3, 4)),
    Target(Translation(4, 5), (3, 1)),
    Target(MarkovChain(4, 3), (2,)),
]


@pytest.mark.parametrize("target", LTAR_TREES, ids=lambda target: target.tree.name)
def test_ltar_finds_the_true_path_on_every_tree(target):
    arms = RolloutArms("ltar", target, Part(target.tree), [9])
    found = identify(arms, adaptive_rule("ltar", target, 0.01), 4, seed=9)
    assert found.correct.all()
    assert (found.accuracy() == 1).all()
    assert [found.path(search) for search in range(4)] == [target.picks] * 4


BAI_TREES = [
    Target(Parity(4), (1, 3)),
    Target(ModularSum(3, 4), (0, 2)),
    Target(Countdown(2, 7), (0, 1 * 2 + 1)),
    Target(Translation(3, 5), (1,)),
    Target(MarkovChain(3, 8), (2,)),
]


@pytest.mark.parametrize("target", BAI_TREES, ids=lambda target: target.tree.name)
def test_bai_finds_the_true_path_where_no_other_path_computes_the_same(target):
    arms = RolloutArms("bai", target, Part(target.tree), [10])
    found = identify(arms, adaptive_rule("bai", target, 0.01), 4, seed=10)
    assert found.correct.all()


def test_where_assumption_1_fails_bai_finds_another_path_to_the_same_function():
    # Only the last node of (0, 1) matters, and (1) gets there in one pick.
    target = Target(CausalGraph(3), (0, 1))
    assert not check_uniqueness(target.tree).holds
    assert acceptance(target, (1,)) == Estimate.known(1)
    arms = RolloutArms("bai", target, Part(target.tree), [11])
    found = identify(arms, Fixed((2_000,)), 5, seed=11)
    assert [found.path(search) for search in range(5)] == [(1,)] * 5
    assert not found.correct.any()
    assert (found.accuracy() == 1).all()


def test_on_recall_the_terminal_oracle_shows_no_difference_between_first_picks(part_law):
    # Exactly: whatever fact comes first, the last one is 1 with probability 1/3, and by luck alike.
    tree = Recall(3)
    assert not check_uniqueness(tree).holds
    target = Target(tree, (0, 1))
    rates = dict.fromkeys(tree.legal(), Fraction(0))
    for path, mass in part_law(tree).items():
        rates[path[0]] += mass * tree.d * acceptance(target, path).value
    assert set(rates.values()) == {Fraction(1, 2)}


def test_on_recall_bai_finds_paths_that_compute_the_targets_function_though_not_its_path():
    target = Target(Recall(3), (0, 1))
    arms = RolloutArms("bai", target, Part(target.tree), [11])
    found = identify(arms, Fixed((2_000,)), 30, seed=11)
    paths = {found.path(search) for search in range(30)}
    assert paths == {(1,), (0, 1), (2, 1), (0, 2, 1), (2, 0, 1)}
    assert all(acceptance(target, path) == Estimate.known(1) for path in paths)
    assert (found.accuracy() == 1).all()
    assert not found.correct.all()


def test_twins_of_equal_length_leave_the_adaptive_bai_undecided():
    # Translation: (0, 1) and (2, 1) are one function, so that their first picks are equally good.
    target = Target(Translation(3, 5), (0, 1))
    assert check_uniqueness(target.tree).holds
    assert acceptance(target, (2, 1)).value == 1
    arms = RolloutArms("bai", target, Part(target.tree), [12])
    found = identify(arms, Adaptive(0.01, patience=(2_000,)), 5, seed=12)
    assert (found.picks == -1).all()


# ---- oracles that tell nothing


class YesFamily(FamilyOracle):
    def judge(self, inputs, answers, depth):
        return np.ones(len(inputs), dtype=np.bool_)


class YesTerminal(TerminalOracle):
    def judge(self, inputs, answers):
        return np.ones(len(inputs), dtype=np.bool_)


class NoFamily(FamilyOracle):
    def judge(self, inputs, answers, depth):
        return np.zeros(len(inputs), dtype=np.bool_)


ORACLES = pytest.mark.parametrize(
    ("method", "oracle"), [("ltar", YesFamily), ("bai", YesTerminal), ("ltar", NoFamily)]
)


@ORACLES
def test_an_oracle_that_always_says_the_same_shows_as_a_tie_under_a_fixed_number(method, oracle):
    target = Target(Parity(4), (0, 1))
    arms = RolloutArms(method, target, Part(target.tree), [13], oracle=oracle(target))
    found = identify(arms, Fixed((20,)), 20, seed=13)
    for search in range(20):
        assert "several picks at depth 1 were accepted equally often" in found.undecided(search)


@ORACLES
def test_an_oracle_that_always_says_the_same_leaves_the_adaptive_rule_without_a_path(method, oracle):
    target = Target(Parity(3), (0, 1))
    rule = adaptive_rule(method, target, 0.1)
    arms = RolloutArms(method, target, Part(target.tree), [14], oracle=oracle(target))
    found = identify(arms, rule, 5, seed=14)
    assert (found.picks == -1).all()
    assert (found.t_data == 3 * rule.patience[0]).all()
    assert all("stopped at depth 1" in found.undecided(search) for search in range(5))
    assert not found.accuracy().any()


# ---- what a search returns


def hand_made():
    """Four searches of (0, 1) on parity of 4: right, wrong, ended early, stopped after one pick."""
    target = Target(Parity(4), (0, 1))
    picks = np.array([[0, 1, 4], [0, 2, 3], [1, 4, 4], [0, -1, -1]])

    def depth(rows, chosen, tied=()):
        pulls = np.tile([10, 10, 10, 10, 0], (rows, 1))
        accepted = np.tile([10, 5, 0, 7, 0], (rows, 1))
        return Depth(pulls > 0, pulls, accepted, np.array(chosen), np.isin(np.arange(rows), tied))

    depths = (depth(4, [0, 0, 1, 0]), depth(4, [1, 2, 4, -1], tied=[1]), depth(2, [4, 3]))
    searched = (np.arange(4), np.arange(4), np.array([0, 1]))
    spent = np.zeros(4, dtype=np.int64)
    return Identification(target, picks, spent, spent, depths, searched)


def test_a_path_is_what_was_committed_before_eos_or_before_the_search_stopped():
    found = hand_made()
    assert [found.path(search) for search in range(4)] == [(0, 1), (0, 2, 3), (1,), (0,)]
    assert found.complete.tolist() == [True, True, True, False]
    assert found.correct.tolist() == [True, False, False, False]


def test_index_accuracy_is_the_share_of_right_picks_at_each_depth():
    assert hand_made().index_accuracy.tolist() == [3 / 4, 1 / 4, 2 / 4]


def test_accuracy_is_the_exact_rate_of_the_committed_path_and_nothing_without_one():
    assert hand_made().accuracy().tolist() == [1.0, 0.5, 0.5, 0.0]


def test_estimates_come_with_clopper_pearson_intervals():
    found = hand_made()
    for level in (0.95, 0.5):
        arms = found.estimates(3, 1, level)
        assert [(arm.pick, arm.pulls) for arm in arms] == [(0, 10), (1, 10), (2, 10), (3, 10)]
        for arm, hits in zip(arms, (10, 5, 0, 7), strict=True):
            interval = binomtest(hits, 10).proportion_ci(level, method="exact")
            assert float(arm.acceptance.value) == hits / 10
            assert float(arm.acceptance.low) == pytest.approx(interval.low, abs=1e-12)
            assert float(arm.acceptance.high) == pytest.approx(interval.high, abs=1e-12)


def test_undecided_names_the_depth_at_which_a_search_stopped_or_drew_lots():
    found = hand_made()
    assert found.undecided(0) is None
    assert found.undecided(1) == "several picks at depth 2 were accepted equally often; one was drawn by lot"
    assert found.undecided(2) is None
    assert found.undecided(3) == "stopped at depth 2 before one pick stood out"


def test_a_search_that_commits_to_eos_early_asks_nothing_more():
    target = Target(Parity(6), (0, 1, 2))
    found = counts("ltar", target, Fixed((1,)), 3_000, seed=15)
    early = np.flatnonzero(found.picks[:, 1] == 6)
    assert len(early) > 100
    for search in early.tolist():
        assert found.picks[search].tolist() == [found.picks[search, 0], 6, 6, 6]
        assert found.t_data[search] == 6 + len(target.tree.legal(found.picks[search, :1]))
        assert not any(search in rows for rows in found.searched[2:])
        assert len(found.path(search)) == 1
    assert (found.accuracy()[early] == 0.5).all()


def test_progress_is_reported_depth_by_depth():
    target, seen = Target(Parity(4), (0, 1)), []
    arms = CountsArms("ltar", target, Part(target.tree), [16])
    identify(arms, Fixed((50,)), 10, seed=16, progress=seen.append)
    assert seen == [pytest.approx(step / 3) for step in (1, 2, 3)]
    assert math.isclose(seen[-1], 1)
