"""Facts of Alg. fxrs: what one pull of an arm returns and costs, in both engines, against exact laws."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy.signal import convolve2d
from scipy.stats import norm

from stepladder.errors import InputError
from stepladder.search import CountsArms, RolloutArms
from stepladder.transformer import TreeTransformer, path_weights
from stepladder.trees import FamilyOracle, ModularSum, Parity, Part, Recall, Target, TerminalOracle

LEVEL = 1e-3 / 400
"""1e-3 for all tests of this file that compare a sample with its law; there are fewer than 400 of them."""

SIGMAS = float(norm.isf(LEVEL / 2))
"""The same level as a distance from a mean in standard errors, two-sided."""

METHODS = pytest.mark.parametrize("method", ["bai", "ltar"])
TINY = Target(Parity(3), (0, 1))
TINY_SUM = Target(ModularSum(3, 3), (0, 1))


def spread_base(tree):
    """A base model whose picks are all differently likely, so that no mix-up of two arms goes unseen."""
    generator = torch.Generator().manual_seed(tree.d)
    W = 0.7 * torch.randn(tree.d + 1, tree.d + 1, dtype=torch.float64, generator=generator)
    return TreeTransformer(tree, W)


BASES = pytest.mark.parametrize("make_base", [Part, spread_base], ids=["part", "transformer"])
"""PART, and a transformer with random weights."""


def arms_of(target):
    """Every history a search of this target can have, with each of its arms."""
    for level in itertools.islice(target.tree.chains(), target.k + 1):
        for row in level.tolist():
            yield from ((tuple(row), arm) for arm in target.tree.legal(row))


def batch(history, searches):
    return np.tile(np.asarray(history, dtype=np.int64), (searches, 1)).reshape(searches, len(history))


def pulled(arms, history, arm, times, searches):
    """Pull one arm `times` times in many searches; the (accepted, tokens) of each."""
    pulls = np.zeros((searches, arms.target.tree.d + 1), dtype=np.int64)
    pulls[:, arm] = times
    accepted, tokens = arms.pull(batch(history, searches), pulls)
    assert not np.delete(accepted, arm, axis=1).any()
    return list(zip(accepted[:, arm].tolist(), tokens.tolist(), strict=True))


def agreement(target, path, depth):
    """How often the state after `path` is the value of the target's subtask, over all inputs."""
    inputs = target.tree.all_inputs()
    values = Target(target.tree, path).value(inputs)
    return float(target.tree.same(values, target.prefix(depth).value(inputs)).mean())


def exact_law(method, target, base, history, arm, times, policy_law):
    """The law of (accepted, tokens) after so many pulls of an arm, by walking the tree below it."""
    tree, depth = target.tree, len(history) + 1
    judged = target.k if method == "bai" else min(depth, target.k)
    ends = arm == tree.eos or (method == "ltar" and depth <= target.k)
    if ends:
        endings = {history if arm == tree.eos else (*history, arm): 1.0}
    else:
        endings = policy_law(base, (*history, arm))
    chance = float(base.probabilities(batch(history, 1))[0, arm])
    most = math.ceil(math.log(1e-13) / math.log1p(-chance)) if chance < 1 else 1
    tries = chance * (1 - chance) ** np.arange(most)
    one = np.zeros((2, most + tree.d + 1))
    for path, mass in endings.items():
        rolled_out = 0 if ends else len(path) - depth + 1
        right = agreement(target, path, judged)
        for accepted, share in ((0, 1 - right), (1, right)):
            one[accepted, rolled_out + 1 : rolled_out + 1 + most] += mass * share * tries
    law = one
    for _ in range(times - 1):
        law = convolve2d(law, one)
    return {
        (accepted, tokens): mass / law.sum() for (accepted, tokens), mass in np.ndenumerate(law) if mass > 1e-15
    }


# ---- the exact law of a pull


@METHODS
@BASES
@pytest.mark.parametrize("target", [TINY, TINY_SUM], ids=["parity", "sum"])
def test_counts_draws_accepted_pulls_and_tokens_from_their_exact_joint_law(
    method, make_base, target, policy_law, fit
):
    # Every arm after every history, right and wrong: 13 laws.
    base = make_base(target.tree)
    arms = CountsArms(method, target, base, [1])
    for history, arm in arms_of(target):
        law = exact_law(method, target, base, history, arm, 2, policy_law)
        assert fit(pulled(arms, history, arm, 2, 20_000), law) > LEVEL, (history, arm)


@METHODS
@pytest.mark.parametrize(
    ("target", "make_base"), [(TINY, spread_base), (TINY_SUM, Part)], ids=["parity-transformer", "sum-part"]
)
def test_rollout_samples_accepted_pulls_and_tokens_from_the_same_law(
    method, target, make_base, policy_law, fit
):
    base = make_base(target.tree)
    arms = RolloutArms(method, target, base, [2])
    for history, arm in arms_of(target):
        law = exact_law(method, target, base, history, arm, 2, policy_law)
        assert fit(pulled(arms, history, arm, 2, 400), law) > LEVEL, (history, arm)


@METHODS
@pytest.mark.parametrize("target", [Target(Parity(5), (1, 3)), Target(ModularSum(5, 3), (0, 2))], ids=str)
def test_after_a_wrong_history_every_arm_is_accepted_as_often_as_any_other(method, target, fit):
    q, times = float(target.tree.wrong_acceptance), 4
    binomial = {hits: math.comb(times, hits) * q**hits * (1 - q) ** (times - hits) for hits in range(times + 1)}
    arms = CountsArms(method, target, Part(target.tree), [3])
    wrong = [history for history, _ in arms_of(target) if history and history != target.picks[: len(history)]]
    for history in dict.fromkeys(wrong):
        for arm in target.tree.legal(history):
            seen = (accepted for accepted, _ in pulled(arms, history, arm, times, 4_000))
            assert fit(seen, binomial) > LEVEL, (history, arm)


@BASES
def test_a_rollout_off_the_path_is_a_little_less_often_as_long_as_the_path(make_base, policy_law, fit):
    # Rejected pulls of the correct arm at the root: the lengths of rollouts given that they went astray.
    # Parity of 0 with d = 2: the true path (0) ends at once, and every other way is (0, 1), two tokens.
    target = Target(Parity(2), (0,))
    base = make_base(target.tree)
    arms = CountsArms("bai", target, base, [4])
    chance = float(base.probabilities(batch((), 1))[0, 0])
    seen = [tokens for accepted, tokens in pulled(arms, (), 0, 1, 40_000) if not accepted]
    tries = {t + 2: chance * (1 - chance) ** (t - 1) for t in range(1, 400)}
    assert fit(seen, {tokens: mass / sum(tries.values()) for tokens, mass in tries.items()}) > LEVEL


# ---- sizes at which nobody could sample


def rollout_mean(d, position):
    """Tokens from a position to EOS under PART for parity: H_n, where n picks are legal there."""
    return sum(Fraction(1, n) for n in range(1, d - position + 1))


@METHODS
@pytest.mark.parametrize("times", [10**6, 10**12])
def test_a_million_million_pulls_have_the_exact_mean_and_spread(method, times):
    d, searches = 8, 400
    target = Target(Parity(d), (0, 1, 2))
    arms = CountsArms(method, target, Part(target.tree), [5])
    pulls = np.zeros((searches, d + 1), dtype=np.int64)
    pulls[:, :d] = times
    accepted, tokens = arms.pull(batch((), searches), pulls)
    finish = 1.0 if method == "ltar" else 1 / (8 * 7 * 6)
    rates = np.full(d, 0.5)
    rates[0] = finish + (1 - finish) / 2
    noise = np.sqrt(times * rates * (1 - rates) / searches)
    assert (np.abs(accepted[:, :d].mean(axis=0) - times * rates) <= SIGMAS * noise).all()
    forcing = d * d
    rolling = 0 if method == "ltar" else sum(rollout_mean(d, position) for position in range(d))
    error = tokens.std(ddof=1) / math.sqrt(searches)
    assert abs(tokens.mean() - times * float(forcing + rolling)) <= SIGMAS * error
    if method == "ltar":  # geometric tries: variance (1-p)/p^2 each
        variance = d * times * (1 - 1 / d) * d**2
        assert abs(tokens.var(ddof=1) / variance - 1) <= SIGMAS * math.sqrt(2 / searches)


@pytest.mark.parametrize("secret", [(7,), (5, 6, 7), (0, 7)], ids=str)
def test_counts_handles_a_secret_that_ends_at_the_last_position(secret):
    # After position d-1 only EOS is legal, so that no rollout from there can go astray.
    target = Target(Parity(8), secret)
    arms = CountsArms("bai", target, Part(target.tree), [7])
    history = secret[:-1]
    for accepted, tokens in pulled(arms, history, 7, 100, 20):
        assert accepted == 100
        assert tokens >= 200


def test_counts_can_leave_the_tokens_out_without_touching_the_decisions():
    target = Target(Parity(6), (0, 2))
    pulls = np.full((50, 7), 30) * target.tree.legal_mask(batch((), 50))
    with_tokens = CountsArms("bai", target, Part(target.tree), [8])
    without = CountsArms("bai", target, Part(target.tree), [8], tokens=False)
    accepted, tokens = with_tokens.pull(batch((), 50), pulls)
    same, none = without.pull(batch((), 50), pulls)
    assert (accepted == same).all()
    assert tokens.min() > 0
    assert not none.any()
    assert not without.commit(batch((), 50), np.zeros(50, dtype=np.int64)).any()


def test_counts_refuses_a_tree_whose_wrong_chains_are_not_all_accepted_equally_often():
    target = Target(Recall(3), (0, 1))
    with pytest.raises(InputError, match="recall cannot be counted"):
        CountsArms("ltar", target, Part(target.tree), [0])


# ---- forcing: retries and commits


@BASES
@pytest.mark.parametrize("engine", [CountsArms, RolloutArms])
def test_a_commit_costs_one_forced_pick_and_no_query(make_base, engine, fit):
    base = make_base(TINY.tree)
    arms = engine("ltar", TINY, base, [9])
    for history, pick in ((), 2), ((0,), 1), ((0,), 3):
        chance = float(base.probabilities(batch(history, 1))[0, pick])
        tries = {t: chance * (1 - chance) ** (t - 1) for t in range(1, 500)}
        spent = arms.commit(batch(history, 1_000), np.full(1_000, pick))
        assert fit(spent.tolist(), tries) > LEVEL
    if isinstance(arms, RolloutArms):
        assert arms.oracle.queries == 0


def test_the_retry_limit_grows_until_the_forced_pick_comes_and_its_hits_are_counted():
    # One pick in 400 matches; the first limit is ceil(4 log(4 / 0.1)) = 15 tries, then 30, 60, 120, ...
    tree = Parity(4)
    chance = 1 / 400
    W = torch.zeros(5, 5, dtype=torch.float64)
    W[3, 4] = math.log(3 * chance / (1 - chance))
    arms = RolloutArms("ltar", Target(tree, (0,)), TreeTransformer(tree, W), [10], delta=0.1)
    assert arms.retries == 15
    count = 4_000
    picked, tokens = arms._force(np.zeros(0, dtype=np.int64), 3, tree.draw_inputs(count, arms.rng))
    assert (picked == 3).all()
    error = math.sqrt(count * (1 - chance)) / chance
    assert abs(tokens - count / chance) <= SIGMAS * error
    late = [(1 - chance) ** (15 * 2**doublings) for doublings in range(12)]
    # Hits of one pull are at most 12 and their variance at most E[hits^2] <= 12 E[hits].
    assert abs(arms.limit_hits - count * sum(late)) <= SIGMAS * math.sqrt(12 * count * sum(late))


def test_a_likely_pick_never_hits_the_limit():
    arms = RolloutArms("ltar", Target(Parity(4), (0,)), Part(Parity(4)), [11], delta=1e-9)
    arms.pull(batch((), 1), np.array([[50, 50, 50, 50, 0]]))
    assert arms.limit_hits == 0


@pytest.mark.parametrize("engine", [CountsArms, RolloutArms])
def test_an_arm_the_base_model_never_picks_is_an_error_and_not_an_endless_loop(engine, monkeypatch):
    # A model trained to certainty picks its path with probability exactly 1 in floating point.
    target = Target(Parity(4), (0, 1))
    matches, calls = RolloutArms._matches, itertools.count()

    def counted(*args):
        assert next(calls) < 20_000, "forced sampling goes on forever"
        return matches(*args)

    monkeypatch.setattr(RolloutArms, "_matches", counted)
    arms = engine("ltar", target, TreeTransformer(target.tree, path_weights(target)), [12])
    with pytest.raises(InputError, match="never picks"):
        arms.pull(batch((), 1), np.array([[5, 5, 5, 5, 0]]))


# ---- the oracles are asked what the algorithms ask them


class Recording(FamilyOracle):
    """Notes the depths it is asked about."""

    def judge(self, inputs, answers, depth):
        self.depths = [*getattr(self, "depths", []), depth]
        return super().judge(inputs, answers, depth)


def test_ltar_asks_the_family_oracle_at_its_own_depth_and_at_k_after_the_last_pick():
    target = Target(Parity(5), (0, 2))
    oracle = Recording(target)
    arms = RolloutArms("ltar", target, Part(target.tree), [13], oracle=oracle)
    for history in (), (0,), (0, 2):
        legal = target.tree.legal(history)
        arms.pull(batch(history, 1), np.eye(6, dtype=np.int64)[[legal[0]]] * 7)
    assert oracle.depths == [1, 2, 2]
    assert oracle.queries == 21


@METHODS
def test_every_pull_is_one_query_of_the_methods_own_oracle(method):
    target = Target(Parity(5), (0, 2))
    arms = RolloutArms(method, target, Part(target.tree), [14])
    assert isinstance(arms.oracle, TerminalOracle if method == "bai" else FamilyOracle)
    pulls = np.array([[3, 0, 2, 0, 0, 0], [0, 1, 0, 0, 4, 0]])
    arms.pull(batch((), 2), pulls)
    assert arms.oracle.queries == 10


# ---- matching token values, as Alg. fxrs is printed


def test_forcing_by_value_leaves_the_index_open():
    # Given x, every position that shows x_j is equally likely. With N = 1 + Binomial(d-1, 1/2) of them,
    # P(emitted = j) = E[1/N] = (2/d) (1 - 2^-d); the rest is shared by the other positions alike.
    d, forced, count = 8, 2, 40_000
    tree = Parity(d)
    arms = RolloutArms("bai", Target(tree, (0, 1, 2)), Part(tree), [15], match="value")
    inputs = tree.draw_inputs(count, arms.rng)
    picked, tokens = arms._force(np.zeros(0, dtype=np.int64), forced, inputs)
    own = Fraction(2, d) * (1 - Fraction(1, 2**d))
    assert own == Fraction(255, 1024)
    law = {position: own if position == forced else (1 - own) / (d - 1) for position in range(d)}
    expected = {position: float(share) for position, share in law.items()}
    seen = np.bincount(picked, minlength=d) / count
    noise = np.sqrt([share * (1 - share) / count for share in expected.values()])
    assert (np.abs(seen - list(expected.values())) <= SIGMAS * noise).all()
    # d/N tries on average, which is 2 (1 - 2^-d) instead of d: forcing is cheap because it forces little.
    assert abs(tokens / count - 2 * (1 - 2**-d)) <= SIGMAS * 1.5 / math.sqrt(count)


@pytest.mark.parametrize("match", ["index", "value"])
def test_a_forced_pick_always_shows_the_arms_token(tree, match):
    arms = RolloutArms("ltar", Target(tree, tree.legal()[:1]), Part(tree), [16], match=match)
    inputs = tree.draw_inputs(300, arms.rng)
    for arm in tree.legal():
        picked, tokens = arms._force(np.zeros(0, dtype=np.int64), arm, inputs)
        assert tree.same(tree.clue(inputs, picked), tree.clue(inputs, arm)).all()
        assert tokens >= 300
        if match == "index":
            assert (picked == arm).all()


def test_eos_is_forced_by_its_index_whatever_is_matched():
    arms = RolloutArms("ltar", TINY, Part(TINY.tree), [17], match="value")
    picked, _ = arms._force(np.array([0]), 3, TINY.tree.draw_inputs(200, arms.rng))
    assert (picked == 3).all()


def root_rates(target, match, part_law):
    """How often bai accepts each arm at the root, exactly: all inputs, all matching picks, all rollouts."""
    tree = target.tree
    paths = part_law(tree)
    rates = [Fraction(0)] * tree.d
    for letters in tree.all_inputs().tolist():
        wanted = sum(letters[pick] for pick in target.picks) % 2
        right = [Fraction(0)] * tree.d
        for path, mass in paths.items():
            if sum(letters[pick] for pick in path) % 2 == wanted:
                right[path[0]] += mass * tree.d  # given its first pick, a path is d times as likely
        for arm in range(tree.d):
            shown = [arm] if match == "index" else [i for i in range(tree.d) if letters[i] == letters[arm]]
            rates[arm] += sum(right[i] for i in shown) / len(shown) / 2**tree.d
    return rates


@pytest.mark.parametrize(
    ("d", "secret", "by_index", "by_value"),
    [
        (4, (0, 1), Fraction(1, 24), Fraction(1, 128)),
        (4, (0, 1, 2), Fraction(1, 48), Fraction(-1, 576)),
        (8, (0, 1, 2), Fraction(1, 672), Fraction(-683, 5_419_008)),
    ],
    ids=str,
)
def test_matching_values_shrinks_bais_gap_and_for_the_papers_secret_reverses_it(
    d, secret, by_index, by_value, part_law
):
    # A gap 16/3 times smaller needs 28 times the queries; a negative one is beyond any number: position 2
    # is then accepted more often than the correct 0.
    target = Target(Parity(d), secret)
    for match, gap in ("index", by_index), ("value", by_value):
        rates = root_rates(target, match, part_law)
        assert rates[0] - max(rates[1:]) == gap
        if gap < 0:
            assert max(rates) == rates[2]


@pytest.mark.parametrize("match", ["index", "value"])
@pytest.mark.parametrize("secret", [(0, 1), (0, 1, 2)], ids=str)
def test_rollout_accepts_as_often_as_the_exact_rates_by_either_matching(secret, match, part_law):
    target, times = Target(Parity(4), secret), 200_000
    arms = RolloutArms("bai", target, Part(target.tree), [18], match=match)
    accepted, _ = arms.pull(batch((), 1), np.array([[times] * 4 + [0]]))
    exact = np.array([float(rate) for rate in root_rates(target, match, part_law)])
    noise = np.sqrt(exact * (1 - exact) / times)
    assert (np.abs(accepted[0, :4] / times - exact) <= SIGMAS * noise).all()


@pytest.mark.parametrize("match", ["index", "value"])
def test_ltar_does_not_mind_value_matching_before_its_last_depth(match):
    # The truncated chain shows the oracle the forced token and nothing else.
    target = Target(Parity(6), (0, 2))
    arms = RolloutArms("ltar", target, Part(target.tree), [19], match=match)
    for history, correct in ((), 0), ((0,), 2):
        pulls = np.full((1, 7), 20_000) * target.tree.legal_mask(batch(history, 1))
        accepted, _ = arms.pull(batch(history, 1), pulls)
        assert accepted[0, correct] == 20_000
        wrong = np.delete(accepted[0], correct)[np.delete(pulls[0], correct) > 0] / 20_000
        assert (np.abs(wrong - 0.5) <= SIGMAS * 0.5 / math.sqrt(20_000)).all()


def test_an_unknown_matching_is_refused_by_name():
    with pytest.raises(InputError, match="match must be index or value, got 'token'"):
        RolloutArms("bai", TINY, Part(TINY.tree), [0], match="token")


@pytest.mark.parametrize("delta", [0, 1, -0.1, 1.5, math.nan])
def test_a_delta_outside_0_to_1_sets_no_retry_limit(delta):
    with pytest.raises(InputError, match="delta must lie strictly between 0 and 1"):
        RolloutArms("ltar", TINY, Part(TINY.tree), [0], delta=delta)


@METHODS
def test_more_tokens_than_can_be_counted_are_refused_and_never_a_wrong_number(method):
    # The most pulls a rule allows, 1e15 per arm, on the largest d of the sweeps: about 2e19 tokens.
    target = Target(Parity(128), (0, 1))
    arms = CountsArms(method, target, Part(target.tree), [6])
    pulls = np.full((1, 129), 10**15) * target.tree.legal_mask(batch((), 1))
    try:
        _, tokens = arms.pull(batch((), 1), pulls)
    except InputError:
        return
    assert float(tokens[0]) == pytest.approx(1e15 * 128 * 128, rel=0.1)
