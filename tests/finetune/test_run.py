"""Finetuning from start to finish: trials that can be run again alone, every task, every engine."""

import numpy as np
import pytest

from stepladder.curriculum import stages_of
from stepladder.errors import InputError
from stepladder.finetune.run import attention_maps, default_rate, finetune
from stepladder.finetune.setup import Setup
from stepladder.finetune.train import Recipe
from stepladder.transformer import Readout
from stepladder.trees import (
    CausalGraph,
    Countdown,
    MarkovChain,
    ModularSum,
    Parity,
    Part,
    Recall,
    Target,
    Translation,
)

PAPER = Setup(Target(Parity(8), (0, 1, 2)))
METHODS = ["no_curriculum", "depth_increasing", "hint_decreasing"]


def parts(result):
    """Everything of a result but its time."""
    return (
        result.accuracy.tolist(),
        result.greedy.tolist(),
        result.index_accuracy.tolist(),
        result.attention.tolist(),
        result.updates.tolist(),
        result.done.tolist(),
        result.histories,
    )


@pytest.mark.parametrize("engine", ["counts", "rollout"])
@pytest.mark.parametrize(
    "recipe",
    [Recipe(samples=60, learning_rates=(5.0,)), Recipe("adam", (0.5,), 32, max_steps=16)],
    ids=["one", "small"],
)
def test_trial_t_has_the_seed_base_plus_t_and_can_be_run_again_by_itself(engine, recipe):
    setup = Setup(Target(Parity(5), (0, 2)))

    def run(seed, trials):
        return finetune(setup, "depth_increasing", recipe, engine=engine, trials=trials, seed=seed)

    together = run(100, 3)
    for trial in range(3):
        alone = run(100 + trial, 1)
        assert alone.accuracy[0] == together.accuracy[trial]
        assert alone.greedy[0] == together.greedy[trial]
        assert alone.index_accuracy[0].tolist() == together.index_accuracy[trial].tolist()
        assert alone.histories[0] == together.histories[trial]
    assert len(set(map(tuple, together.index_accuracy.tolist()))) > 1


@pytest.mark.parametrize("engine", ["counts", "rollout", "exact"])
def test_the_same_seed_gives_the_same_results(engine):
    setup = Setup(Target(Parity(5), (0, 2)))
    one, again = (
        finetune(setup, "hint_decreasing", Recipe(samples=60), engine=engine, trials=2, seed=4)
        for _ in range(2)
    )
    assert parts(one) == parts(again)


@pytest.mark.parametrize(
    ("method", "samples"), [("no_curriculum", 6 * 10**7), ("depth_increasing", 1024), ("hint_decreasing", 1024)]
)
@pytest.mark.parametrize("secret", [(0, 1, 2), (1, 4, 6), (5, 6, 7)], ids=str)
def test_every_method_learns_every_secret_of_the_paper_given_enough_samples(method, samples, secret):
    setup = Setup(Target(Parity(8), secret))
    recipe = Recipe(learning_rates=(1e8,), samples=samples)
    result = finetune(setup, method, recipe, trials=40, tests=0)
    assert result.accuracy.mean() > 0.99
    assert result.greedy.mean() > 0.99
    assert (result.index_accuracy.mean(axis=0) > 0.99).all()


def test_at_the_curricula_s_sample_size_no_curriculum_learns_nothing():
    result = finetune(PAPER, "no_curriculum", Recipe(learning_rates=(1e8,), samples=1024), trials=40, tests=0)
    assert abs(result.accuracy.mean() - 0.5) < 0.02


@pytest.mark.parametrize(
    "target",
    [
        Target(Recall(5), (3, 1)),
        Target(Countdown(3, alphabet=4), (1, 8, 3)),
        Target(Translation(5), (4, 0, 2)),
        Target(MarkovChain(4, alphabet=4), (2, 0)),
        Target(CausalGraph(5), (0, 2, 4)),
        Target(ModularSum(5, 3), (0, 3)),
    ],
    ids=lambda target: target.tree.name,
)
def test_real_rollouts_with_a_curriculum_learn_every_task(target):
    recipe = Recipe(samples=8_000)
    result = finetune(Setup(target), "depth_increasing", recipe, engine="rollout", trials=3, tests=4_000)
    assert result.accuracy.mean() > 0.97
    # Not every pick need be the target's: where Assumption 1 fails, another path computes the same.
    assert result.greedy.mean() > 0.97


@pytest.mark.parametrize("target", [Target(Translation(5), (4, 0, 2)), Target(Recall(5), (3, 1))], ids=str)
def test_real_rollouts_with_hints_learn_other_tasks_too(target):
    result = finetune(
        Setup(target), "hint_decreasing", Recipe(samples=8_000), engine="rollout", trials=3, tests=4_000
    )
    assert result.accuracy.mean() > 0.97


def test_the_literal_readout_cannot_pass_its_ceiling_where_the_direct_one_learns():
    # softmax of attention in [0, 1]: no pick is likelier than e / (e + |legal| - 1).
    setup = Setup(PAPER.target, Readout("double_softmax"))
    recipe = Recipe(learning_rates=(1e10,), samples=10**6)
    literal = finetune(setup, "depth_increasing", recipe, trials=5, tests=0)
    legal = np.asarray(Part(PAPER.target.tree).branching(PAPER.target))
    assert (literal.index_accuracy <= np.e / (np.e + legal - 1) + 1e-12).all()
    assert literal.accuracy.max() < 0.51
    assert finetune(PAPER, "depth_increasing", recipe, trials=5, tests=0).accuracy.min() > 0.99


# ---- attention maps


@pytest.mark.parametrize("method", METHODS)
def test_the_maps_show_the_base_model_first_and_one_more_learned_row_after_each_stage(method):
    recipe = Recipe(learning_rates=(1e8,), samples=10**9)
    result = finetune(PAPER, method, recipe, trials=3, tests=0)
    tree = PAPER.target.tree
    stages = stages_of(method, 3)
    assert result.stages == stages
    assert result.attention.shape == (len(stages) + 1, 9, 9)
    base = tree.follows / tree.follows.sum(axis=1, keepdims=True)
    assert result.attention[0] == pytest.approx(base)
    edges = list(zip((8, 0, 1, 2), (0, 1, 2, 8), strict=True))
    for number, stage in enumerate(stages, start=1):
        for query, pick in edges[stage.first_scored - 1 : stage.last_scored]:
            assert result.attention[number, query, pick] > 0.99
    assert result.attention.sum(axis=-1) == pytest.approx(1)


def test_a_map_is_the_mean_over_trials_of_the_next_pick_law(spread_weights):
    weights = [spread_weights(PAPER.target.tree, seed=seed, trials=3) for seed in (0, 1)]
    maps = attention_maps(PAPER, weights)
    assert maps == pytest.approx(np.stack([PAPER.law(one).mean(axis=0) for one in weights]))


# ---- the rest


def test_the_papers_rates_are_the_default():
    assert [default_rate(method) for method in METHODS] == [2e12, 1e10, 1e10]


def test_progress_rises_to_one():
    seen = []
    finetune(PAPER, "depth_increasing", Recipe(), trials=3, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"trials": 0}, "trials must be between 1 and"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"engine": "magic"}, r"'magic'.*counts, rollout, exact"),
        ({"tests": -1}, "test must be 0"),
    ],
    ids=str,
)
def test_a_run_that_cannot_work_is_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        finetune(PAPER, "depth_increasing", Recipe(), **wrong)
