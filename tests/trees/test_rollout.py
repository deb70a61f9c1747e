"""Promises of bulk rollouts: the right law, states that follow, one seed one result, bounded memory."""

import importlib
import os
import time
import tracemalloc
import weakref

import numpy as np
import pytest
import torch

from stepladder.errors import InputError
from stepladder.transformer import TreeTransformer
from stepladder.trees import MarkovChain, Parity, Part, Recall, Target, rollout

# The package exports the function under the module's name, so the module is fetched by its path.
module = importlib.import_module("stepladder.trees.rollout")

COUNT = 40_000
LEVEL = 1e-3 / 100
"""1e-3 for all chi-square tests of this file together; there are fewer than a hundred of them."""


@pytest.fixture(params=["table", "pick by pick"])
def way(request, monkeypatch):
    """Both ways of drawing paths, each with the other one made impossible."""

    def never(*_args):
        raise AssertionError("the table should have been used")

    if request.param == "table":
        monkeypatch.setattr(module, "_pick_by_pick", never)
    else:
        monkeypatch.setattr(module, "path_table", lambda *_args: None)
    return request.param


def random_policy(tree):
    generator = torch.Generator().manual_seed(tree.d)
    W = torch.randn(tree.d + 1, tree.d + 1, dtype=torch.float64, generator=generator)
    return TreeTransformer(tree, W)


def paths_of(chunks):
    for part in chunks:
        for picks, length in zip(part.picks.tolist(), part.lengths.tolist(), strict=True):
            yield tuple(picks[:length])


def same_rollouts(left, right):
    pairs = list(zip(left, right, strict=True))
    return all(
        np.array_equal(one.inputs, two.inputs)
        and np.array_equal(one.picks, two.picks)
        and np.array_equal(one.lengths, two.lengths)
        and np.array_equal(one.answers, two.answers)
        for one, two in pairs
    )


# ---- the law of the paths


def test_sampled_paths_follow_parts_exact_law(tree, way, part_law, fit):
    sampled = paths_of(rollout(Part(tree), COUNT, seed=11, chunk=7_000))
    assert fit(sampled, part_law(tree)) > LEVEL


def test_sampled_paths_follow_a_transformer_with_random_weights(tree, way, policy_law, fit):
    policy = random_policy(tree)
    assert fit(paths_of(rollout(policy, COUNT, seed=12)), policy_law(policy)) > LEVEL


def test_a_hint_gives_the_law_of_the_paths_that_begin_with_it(tree, way, policy_law, fit):
    policy, hint = random_policy(tree), tree.legal()[:1]
    everything = policy_law(policy)
    below = {path: mass for path, mass in everything.items() if path[:1] == hint}
    total = sum(below.values())
    conditional = {path: mass / total for path, mass in below.items()}
    assert fit(paths_of(rollout(policy, COUNT, seed=13, start=hint)), conditional) > LEVEL


def test_truncation_merges_every_longer_path_into_its_prefix(tree, way, policy_law, fit):
    policy = random_policy(tree)
    truncated = {}
    for path, mass in policy_law(policy).items():
        truncated[path[:2]] = truncated.get(path[:2], 0.0) + mass
    assert fit(paths_of(rollout(policy, COUNT, seed=14, truncate=2)), truncated) > LEVEL


def test_a_hint_and_a_truncation_together_give_the_conditional_law_of_the_cut_paths(tree, way, policy_law, fit):
    policy, hint = random_policy(tree), tree.legal()[:1]
    law = policy_law(policy, hint, 2)
    assert fit(paths_of(rollout(policy, COUNT, seed=15, start=hint, truncate=2)), law) > LEVEL


def test_a_truncation_at_the_hint_leaves_exactly_the_hint(tree, way):
    hint = tree.legal()[:1]
    paths = paths_of(rollout(Part(tree), 50, seed=0, start=hint, truncate=1))
    assert list(paths) == [hint] * 50


def test_index_paths_are_independent_of_the_input(way, part_law, fit):
    tree = Parity(3)
    joint = {
        (path, tuple(bits)): mass / 8
        for path, mass in part_law(tree).items()
        for bits in tree.all_inputs().tolist()
    }
    chunks = list(rollout(Part(tree), COUNT, seed=16))
    inputs = (tuple(row) for part in chunks for row in part.inputs.tolist())
    assert fit(zip(paths_of(chunks), inputs, strict=True), joint) > LEVEL


def test_a_tree_with_too_many_paths_to_tabulate_is_sampled_pick_by_pick(fit):
    tree = Parity(20)
    assert module.path_table(Part(tree)) is None
    lengths = [length for part in rollout(Part(tree), COUNT, seed=17) for length in part.lengths.tolist()]
    assert fit(lengths, dict(enumerate(Part(tree).length_distribution()))) > LEVEL


def test_the_path_table_lists_every_path_once_with_its_exact_probability(tree, part_law):
    table = module.path_table(Part(tree))
    paths = [
        tuple(picks[:length])
        for picks, length in zip(table.picks.tolist(), table.lengths.tolist(), strict=True)
    ]
    law = part_law(tree)
    assert sorted(paths) == sorted(law)
    assert table.probabilities == pytest.approx([float(law[path]) for path in paths], rel=1e-12)
    assert (np.diff(table.lengths) >= 0).all()


# ---- what comes with the paths


def recomputed(tree, letters, path):
    """The states of one rollout, one step at a time."""
    inputs = np.asarray([letters], dtype=tree.token_type)
    state = np.broadcast_to(tree.eos_token, (1, *tree.eos_token.shape))
    states = []
    for depth, pick in enumerate(path, start=1):
        state = tree.step(depth, state, tree.clue(inputs, pick))
        states.append(state[0].tolist())
    return states


@pytest.mark.parametrize("hint_length", [0, 1])
@pytest.mark.parametrize("truncate", [None, 2])
def test_states_and_answers_equal_a_recomputation_row_by_row(tree, way, hint_length, truncate):
    hint = tree.legal()[:hint_length]
    chunks = list(rollout(Part(tree), 400, seed=5, start=hint, truncate=truncate, chunk=150))
    for part in chunks:
        for row, path in enumerate(paths_of([part])):
            states = recomputed(tree, part.inputs[row].tolist(), path)
            for depth, state in enumerate(states, start=1):
                # Entry depth - 1 holds the rows of at least that length: the last ones.
                entry = part.states[depth - 1]
                assert entry[row - (len(part) - len(entry))].tolist() == state
            assert part.answers[row].tolist() == states[-1]
    assert sum(len(part) for part in chunks) == 400


def test_every_path_is_legal_closed_by_eos_and_padded_with_it(tree, way):
    for part in rollout(random_policy(tree), 300, seed=6):
        for picks, length in zip(part.picks.tolist(), part.lengths.tolist(), strict=True):
            assert Target(tree, tuple(picks[:length])).k == length
            assert picks[length:] == [tree.eos] * (len(picks) - length)
            assert len(picks) > length


def test_rows_come_sorted_by_length(tree, way):
    for part in rollout(Part(tree), 1000, seed=7, chunk=300):
        assert (np.diff(part.lengths) >= 0).all()


def test_follows_marks_exactly_the_rollouts_on_the_targets_path(tree, way):
    for part in rollout(Part(tree), 500, seed=8):
        for path in set(paths_of([part])):
            marked = part.follows(Target(tree, path))
            assert marked.tolist() == [other == path for other in paths_of([part])]


def test_follows_marks_nothing_if_no_rollout_is_as_long_as_the_target():
    (part,) = rollout(Part(Parity(5)), 100, seed=8, truncate=1)
    assert not part.follows(Target(Parity(5), (0, 1, 2))).any()


# ---- the seed


def test_the_same_seed_gives_the_same_rollouts_whatever_the_number_of_cores(tree, way, monkeypatch):
    def run(cores):
        monkeypatch.setattr(os, "cpu_count", lambda: cores)
        return list(rollout(Part(tree), 5_432, seed=21, chunk=500))

    alone = run(1)
    assert [len(part) for part in alone] == [500] * 10 + [432]
    for cores in (2, 5, 64, None):
        assert same_rollouts(alone, run(cores))


def test_another_seed_gives_other_rollouts(tree, way):
    one, two = (rollout(Part(tree), 2_000, seed=seed, chunk=500) for seed in (1, 2))
    assert not same_rollouts(list(one), list(two))


def test_chunks_of_one_run_are_not_copies_of_each_other(tree, way):
    first, second, third = rollout(Part(tree), 1_500, seed=1, chunk=500)
    assert not np.array_equal(first.inputs, second.inputs)
    assert not np.array_equal(second.inputs, third.inputs)


def test_a_seed_sequence_gives_what_its_entropy_gives_as_a_seed():
    plain = list(rollout(Part(Parity(4)), 1_000, seed=9, chunk=300))
    wrapped = list(rollout(Part(Parity(4)), 1_000, seed=np.random.SeedSequence(9), chunk=300))
    assert same_rollouts(plain, wrapped)


# ---- bounded work


def peak_memory(count):
    """The peak while a consumer pauses over the first chunk, long enough for others to pile up."""
    tracemalloc.start()
    try:
        chunks = rollout(Part(Parity(6)), count, seed=0)
        next(chunks)
        time.sleep(1)
        for part in chunks:
            del part
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_three_million_rollouts_come_in_bounded_chunks_that_are_let_go():
    seen, alive, total = [], 0, 0
    for part in rollout(Part(Parity(6)), 3_000_000, seed=0):
        assert len(part) <= module.CHUNK
        total += len(part)
        seen.append(weakref.ref(part))
        alive = max(alive, sum(ref() is not None for ref in seen))
    assert total == 3_000_000
    assert len(seen) > 20
    # The one in hand and at most the one before it.
    assert alive <= 2


def test_chunks_do_not_pile_up_in_front_of_a_slow_consumer(monkeypatch):
    made = []
    draw = Parity.draw_inputs

    def counted(tree, count, rng):
        made.append(count)
        return draw(tree, count, rng)

    monkeypatch.setattr(Parity, "draw_inputs", counted)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    chunks = rollout(Part(Parity(6)), 3_000_000, seed=0)
    next(chunks)
    time.sleep(1)
    # Two chunks for each core, of the 23 there are in all.
    assert len(made) <= 4
    chunks.close()


def test_peak_memory_does_not_grow_with_the_number_of_rollouts(monkeypatch):
    # Two cores work on at most four chunks at a time: 600,000 rollouts already fill them.
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    few, many = peak_memory(600_000), peak_memory(3_000_000)
    assert many < 1.5 * few


# ---- what a user may ask for


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"count": 0}, "^0 rollouts.*at least 1"),
        ({"count": -5}, "^-5 rollouts.*at least 1"),
        ({"start": (2, 1)}, "back from position 2 to 1"),
        ({"start": (0, 9)}, r"position 9, outside 0\.\.3"),
        ({"truncate": 0}, "between 1 and 4.*got 0"),
        ({"truncate": 5}, "between 1 and 4.*got 5"),
        ({"start": (0, 1), "truncate": 1}, "between 2 and 4.*got 1"),
    ],
)
def test_a_rollout_that_cannot_be_is_refused_with_the_reason(options, problem):
    options = {"count": 10, "seed": 0, **options}
    with pytest.raises(InputError, match=problem):
        next(rollout(Part(Parity(4)), **options))


def test_a_markov_chain_that_may_go_on_for_ever_still_ends_at_its_depth(way):
    tree = MarkovChain(2, alphabet=6)
    lengths = np.concatenate([part.lengths for part in rollout(Part(tree), 5_000, seed=0)])
    assert lengths.max() == 6


def test_a_tree_with_one_path_gives_that_path(way):
    assert set(paths_of(rollout(Part(Recall(1)), 100, seed=0))) == {(0,)}
