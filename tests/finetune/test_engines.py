"""Three engines, one gradient: exact against brute force, counts against rollout, both against exact."""

import importlib
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from scipy.stats import chi2, norm

from stepladder.curriculum import MethodName, Scoring, no_curriculum, stages_of
from stepladder.errors import InputError
from stepladder.finetune.engines import (
    CountsEngine,
    ExactEngine,
    RolloutEngine,
    check_samples,
    make_engine,
    stage_accuracy,
)
from stepladder.finetune.setup import Setup
from stepladder.transformer import Readout, TreeTransformer
from stepladder.trees import FamilyOracle, ModularSum, Parity, Recall, Target, TerminalOracle, rollout

CURRICULA = [
    ("no_curriculum", "step"),
    ("depth_increasing", "step"),
    ("depth_increasing", "all"),
    ("hint_decreasing", "step"),
    ("hint_decreasing", "all"),
]
curricula = pytest.mark.parametrize(("method", "scoring"), CURRICULA)

READOUTS = [Readout(), Readout("direct", 0.6), Readout("double_softmax", 0.3)]

# ---- exact against brute force

SMALL = [
    Target(Parity(5), (0, 2, 3)),
    Target(Parity(5), (4,)),
    Target(Parity(4), (1, 3)),
    Target(Parity(3), (0, 1, 2)),
    Target(ModularSum(4, 3), (0, 1, 3)),
    Target(ModularSum(3, 4), (1, 2)),
]
small_targets = pytest.mark.parametrize(
    "target", SMALL, ids=lambda t: f"{t.tree.name}{t.tree.alphabet}-d{t.tree.d}-{t.picks}"
)


@small_targets
@curricula
@pytest.mark.parametrize("baseline", [0.0, 0.5])
def test_the_population_gradient_is_the_sum_over_all_paths_and_inputs(
    target, method, scoring, baseline, spread_weights, literal_gradient
):
    weights = spread_weights(target.tree, seed=1, trials=2)
    for readout in READOUTS:
        setup = Setup(target, readout, baseline)
        for stage in stages_of(method, target.k, scoring):
            found = ExactEngine(setup).gradient(weights, stage, 1, [0, 1])
            for own, gradient in zip(weights, found, strict=True):
                difference = gradient - literal_gradient(setup, own, stage)
                assert difference.abs().max().item() <= 1e-12


@small_targets
@curricula
def test_the_accuracy_on_a_stage_leaves_out_its_discarded_chains(
    target, method, scoring, spread_weights, literal_accuracy
):
    weights = spread_weights(target.tree, seed=2, trials=2)
    for readout in READOUTS:
        setup = Setup(target, readout)
        for stage in stages_of(method, target.k, scoring):
            found = ExactEngine(setup).accuracy(weights, stage, [0, 1])
            expected = [literal_accuracy(setup, own, stage)[0] for own in weights]
            assert found == pytest.approx(expected, abs=1e-12)


def test_exact_does_not_depend_on_the_number_of_samples(spread_weights):
    setup = Setup(SMALL[0])
    weights, stage = spread_weights(SMALL[0].tree), stages_of("depth_increasing", 3)[1]
    one, many = (ExactEngine(setup).gradient(weights, stage, n, [0]) for n in (1, 10**15))
    assert torch.equal(one, many)


# ---- counts against rollout, and both against exact


@dataclass(frozen=True)
class Case:
    """One stage whose gradient is drawn many times by both engines."""

    target: Target
    method: MethodName
    scoring: Scoring
    number: int
    readout: Readout = READOUTS[0]
    baseline: float = 0.0

    def __str__(self):
        baseline = f"-baseline{self.baseline}" if self.baseline else ""
        stage = f"{self.target.tree.name}-{self.method}-{self.number}-{self.scoring}"
        return f"{stage}-{self.readout.name}{baseline}"

    @property
    def setup(self):
        return Setup(self.target, self.readout, self.baseline)

    @property
    def stage(self):
        return stages_of(self.method, self.target.k, self.scoring)[self.number]


PARITY, SUM = Target(Parity(4), (0, 1, 3)), Target(ModularSum(4, 3), (0, 2))
LITERAL = READOUTS[2]
CASES = [
    Case(PARITY, "no_curriculum", "step", 0),
    Case(PARITY, "no_curriculum", "step", 0, LITERAL, 0.5),
    Case(PARITY, "depth_increasing", "step", 0),
    Case(PARITY, "depth_increasing", "step", 1, LITERAL),
    Case(PARITY, "depth_increasing", "all", 2, baseline=0.5),
    Case(PARITY, "depth_increasing", "all", 3),
    Case(PARITY, "hint_decreasing", "step", 0),
    Case(PARITY, "hint_decreasing", "step", 2),
    Case(PARITY, "hint_decreasing", "step", 3, LITERAL, 0.5),
    Case(PARITY, "hint_decreasing", "all", 2),
    Case(SUM, "no_curriculum", "step", 0, baseline=0.3),
    Case(SUM, "depth_increasing", "step", 1),
    Case(SUM, "depth_increasing", "all", 1, LITERAL, 0.3),
    Case(SUM, "hint_decreasing", "step", 1),
    Case(SUM, "hint_decreasing", "all", 2, baseline=0.3),
]
SAMPLES = 200
ROLLED, COUNTED = 600, 5_000
"""Gradients drawn by each engine; counts are cheap."""
PROJECTIONS = 4
LEVEL = 1e-3 / (len(CASES) * 2 * (14 + PROJECTIONS))
"""1e-3 for all two-sample tests and z-tests together: d=4 has 14 legal entries, projections come on top."""


@pytest.fixture(scope="module", params=CASES, ids=str)
def drawn(request, spread_weights):
    """The legal entries of gradients by counts and by rollouts, shape (repetitions, entries), and exact."""
    case = request.param
    setup, tree = case.setup, case.target.tree
    weights = spread_weights(tree, seed=3)
    legal = tree.follows.T

    def entries(engine, repetitions):
        batch = weights.expand(repetitions, -1, -1)
        gradients = engine.gradient(batch, case.stage, SAMPLES, range(repetitions)).numpy()
        assert (gradients[:, ~legal] == 0).all()
        return gradients[:, legal]

    counted = entries(CountsEngine(setup, [17]), COUNTED)
    rolled = entries(RolloutEngine(setup, range(1_000, 1_000 + ROLLED)), ROLLED)
    exact = ExactEngine(setup).gradient(weights, case.stage, 1, [0])[0].numpy()[legal]
    return counted, rolled, exact


def test_counts_and_rollouts_draw_every_gradient_entry_from_one_law(drawn, same_law):
    counted, rolled, _ = drawn
    assert counted.shape[1] == 14
    assert min(same_law(counted[:, entry], rolled[:, entry]) for entry in range(14)) > LEVEL


def test_counts_and_rollouts_draw_the_entries_jointly_from_one_law(drawn, same_law):
    # Random projections: two joint laws that agree on all of them are the same (Cramer-Wold).
    counted, rolled, _ = drawn
    for direction in np.random.default_rng(5).normal(size=(PROJECTIONS, 14)):
        assert same_law(counted @ direction, rolled @ direction) > LEVEL


def test_both_engines_draw_gradients_whose_mean_is_the_population_gradient(drawn):
    counted, rolled, exact = drawn
    limit = norm.isf(LEVEL / 2)
    for values in (counted, rolled):
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        still = error < 1e-15
        assert values.mean(axis=0)[still] == pytest.approx(exact[still], abs=1e-12)
        z = (values.mean(axis=0) - exact)[~still] / error[~still]
        assert np.abs(z).max(initial=0) < limit


@curricula
@pytest.mark.parametrize("baseline", [0.0, 0.5])
def test_counts_of_a_trillion_rollouts_are_the_population_gradient_up_to_noise(
    method, scoring, baseline, spread_weights
):
    setup = Setup(Target(Parity(7), (0, 2, 5)), baseline=baseline)
    weights = spread_weights(setup.target.tree, seed=4, trials=3)
    for stage in stages_of(method, 3, scoring):
        drawn = CountsEngine(setup, [1]).gradient(weights, stage, 10**12, range(3))
        exact = ExactEngine(setup).gradient(weights, stage, 1, range(3))
        # An entry is a mean of 1e12 numbers of size at most k+1 = 4, so its sigma is at most 4e-6.
        assert (drawn - exact).abs().max().item() < 6 * 4e-6


# ---- counts


def test_one_seed_gives_one_gradient_and_another_seed_another(spread_weights):
    setup, stage = Setup(PARITY), no_curriculum(3)[0]
    weights = spread_weights(PARITY.tree, trials=3)
    one, again, other = (
        CountsEngine(setup, seeds).gradient(weights, stage, 50, range(3)) for seeds in ([7], [7], [8])
    )
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_successive_updates_of_an_engine_are_fresh_draws(spread_weights):
    stage, weights = no_curriculum(3)[0], spread_weights(PARITY.tree)
    for engine in (CountsEngine(Setup(PARITY), [7]), RolloutEngine(Setup(PARITY), [7])):
        first, second = (engine.gradient(weights, stage, 50, [0]) for _ in range(2))
        assert not torch.equal(first, second)


@curricula
def test_a_quadrillion_rollouts_touch_legal_picks_only_and_stay_finite(method, scoring, spread_weights):
    target = Target(Parity(11), (0, 3, 7))
    for readout, scale in ((Readout(), 3.0), (Readout(), 0.0), (Readout("double_softmax", 0.05), 3.0)):
        setup = Setup(target, readout, baseline=0.5)
        weights = spread_weights(target.tree, seed=6, trials=5, scale=scale)
        for stage in stages_of(method, 3, scoring):
            gradient = CountsEngine(setup, [2]).gradient(weights, stage, 10**15, range(5))
            assert torch.isfinite(gradient).all()
            assert (gradient[:, ~torch.from_numpy(target.tree.follows.T)] == 0).all()


# ---- real rollouts


@curricula
def test_on_any_tree_the_rollout_gradient_is_the_mean_rewarded_score_of_its_rollouts(
    tree, method, scoring, spread_weights
):
    picks = tree.legal()[1:2]
    picks += tuple(pick for pick in tree.legal(picks) if pick != tree.eos)[:1]
    setup = Setup(Target(tree, picks), LITERAL, baseline=0.25)
    (W,) = spread_weights(tree, seed=8)
    count = 80
    for stage in stages_of(method, len(picks), scoring):
        found = RolloutEngine(setup, [31]).gradient(W[None], stage, count, [0])[0]
        (stream,) = np.random.SeedSequence(31).spawn(1)
        model = TreeTransformer(tree, W, LITERAL)
        hint = picks[: stage.hint]
        (part,) = rollout(model, count, stream, start=hint, truncate=stage.truncate)
        if stage.oracle == "terminal":
            accepted = TerminalOracle(setup.target).judge(part.inputs, part.answers)
        else:
            accepted = FamilyOracle(setup.target).judge(part.inputs, part.answers, stage.depth)
        objective = torch.zeros((), dtype=torch.float64)
        for row, length, right in zip(part.picks, part.lengths, accepted, strict=True):
            if stage.truncate is not None and length < stage.truncate:
                continue
            for step in range(stage.first_scored, min(stage.last_scored, length + 1) + 1):
                before = row[None, : step - 1].astype(np.int64)
                score = model.log_probabilities(before)[0, row[step - 1]]
                objective = objective + (float(right) - 0.25) * score / count
        model.zero_grad()
        objective.backward()
        assert (found - model.W.grad).abs().max().item() < 1e-12


def test_rollouts_come_in_bounded_chunks_however_many_are_asked_for(monkeypatch, spread_weights):
    sizes = []
    scored = RolloutEngine._scored

    def watched(self, model, stage, chunk):
        sizes.append(len(chunk))
        return scored(self, model, stage, chunk)

    monkeypatch.setattr(RolloutEngine, "_scored", watched)
    setup = Setup(Target(Parity(3), (0, 1)))
    count = 300_000
    RolloutEngine(setup, [0]).gradient(spread_weights(setup.target.tree), no_curriculum(2)[0], count, [0])
    assert sum(sizes) == count
    assert max(sizes) <= importlib.import_module("stepladder.trees.rollout").CHUNK < count


def test_a_trial_draws_the_same_rollouts_alone_and_beside_others(spread_weights):
    setup, stage = Setup(PARITY), no_curriculum(3)[0]
    weights = spread_weights(PARITY.tree, trials=3)
    together = RolloutEngine(setup, [5, 6, 7]).gradient(weights, stage, 40, [0, 1, 2])
    alone = RolloutEngine(setup, [6]).gradient(weights[1:2], stage, 40, [0])
    assert torch.equal(together[1], alone[0])


def test_a_single_unrewarded_or_discarded_rollout_gives_a_zero_gradient(spread_weights):
    setup = Setup(PARITY)
    weights = spread_weights(PARITY.tree)
    for stage in stages_of("depth_increasing", 3):
        for engine in (CountsEngine(setup, [0]), RolloutEngine(setup, [0])):
            gradients = [engine.gradient(weights, stage, 1, [0]) for _ in range(25)]
            assert all(torch.isfinite(gradient).all() for gradient in gradients)
            assert any((gradient == 0).all() for gradient in gradients)


@curricula
def test_validation_by_rollouts_estimates_the_exact_accuracy_of_a_stage(
    method, scoring, spread_weights, literal_accuracy
):
    setup, trials = Setup(Target(Parity(5), (0, 1, 3))), 20
    weights = spread_weights(setup.target.tree, seed=9, trials=trials)
    for stage in stages_of(method, 3, scoring):
        sampled = RolloutEngine(setup, range(trials)).accuracy(weights, stage, range(trials))
        exact, kept = np.transpose([literal_accuracy(setup, own, stage) for own in weights])
        assert stage_accuracy(setup, setup.law(weights), stage) == pytest.approx(exact, abs=1e-12)
        error = np.sqrt(exact * (1 - exact) / (RolloutEngine.VALIDATION * kept))
        # The sum of squared z-scores is chi-square up to the spread of how many rollouts are kept.
        assert chi2.sf((((sampled - exact) / error) ** 2).sum(), trials) > 1e-3 / (4 * len(CURRICULA))


# ---- what cannot work


@pytest.mark.parametrize("name", ["counts", "exact"])
def test_counting_is_refused_for_a_task_without_equal_acceptance_and_the_message_says_what_works(name):
    with pytest.raises(InputError, match=r"task recall cannot be counted.*parity and sum.*engine rollout"):
        make_engine(name, Setup(Target(Recall(4), (0, 1))), [0])


def test_rollouts_accept_a_task_without_equal_acceptance():
    assert isinstance(make_engine("rollout", Setup(Target(Recall(4), (0, 1))), [0]), RolloutEngine)


def test_an_unknown_engine_is_refused_with_the_known_ones_named():
    with pytest.raises(InputError, match=r"'magic'.*counts, rollout, exact"):
        make_engine("magic", Setup(PARITY), [0])


@pytest.mark.parametrize("samples", [0, -5, 10**15 + 1])
def test_a_number_of_samples_that_means_nothing_or_overflows_is_refused(samples):
    with pytest.raises(InputError, match="samples must be between 1 and"):
        check_samples(samples)
    for engine in (CountsEngine(Setup(PARITY), [0]), RolloutEngine(Setup(PARITY), [0])):
        with pytest.raises(InputError, match="samples must be between 1 and"):
            engine.gradient(torch.zeros(1, 5, 5, dtype=torch.float64), no_curriculum(3)[0], samples, [0])


@pytest.mark.parametrize("baseline", [-0.1, 1.5, float("nan")])
def test_a_baseline_that_is_no_reward_is_refused(baseline):
    with pytest.raises(InputError, match="baseline must be between 0 and 1"):
        Setup(PARITY, baseline=baseline)
