"""Batches: a pure function of seed and number, shared out by the schedule, in the order that TRL expects."""

from collections import Counter

import numpy as np
import pytest
from accelerate.data_loader import BatchSamplerShard
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import BatchSampler
from trl.trainer.utils import RepeatSampler

from stepladder.curriculum.levels import e2h_balanced, e2h_classic, e2h_cosine, e2h_window, level_schedule
from stepladder.curriculum.pacing import ByPassRate, Planned
from stepladder.posttrain.sampler import CurriculumSampler

LEVELS = [1] * 30 + [2] * 20 + [4] * 50


def sampler(schedule=e2h_balanced, levels=LEVELS, **changes):
    options = {"rows_per_batch": 8, "generations": 4, "repeats": 3, "batches": 10, "seed": 0} | changes
    pacer = schedule if isinstance(schedule, ByPassRate) else Planned(schedule)
    return CurriculumSampler(levels, pacer, **options)


@given(st.integers(0, 2**32), st.lists(st.integers(0, 9), min_size=1, max_size=6))
def test_a_batch_depends_on_seed_and_number_alone(seed, asked):
    fresh = {number: sampler(e2h_cosine, seed=seed).batch(number) for number in asked}
    used = sampler(e2h_cosine, seed=seed)
    assert {number: used.batch(number) for number in asked} == fresh


def test_other_seeds_and_other_numbers_give_other_batches():
    batches = {tuple(sampler(seed=seed).batch(number)) for seed in range(5) for number in range(10)}
    assert len(batches) == 50


@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 8), st.integers(1, 6))
def test_the_order_is_that_of_trls_repeat_sampler(generations, repeats, rows, batches):
    ours = sampler(rows_per_batch=rows, generations=generations, repeats=repeats, batches=batches)
    # TRL's sampler, over what we chose, without its shuffle.
    chosen = [row for number in range(batches) for row in ours.batch(number)]
    theirs = RepeatSampler(
        chosen, mini_repeat_count=generations, batch_size=rows, repeat_count=repeats, shuffle=False
    )
    assert list(ours) == [chosen[place] for place in theirs]
    assert len(ours) == len(theirs) == len(list(ours))


def test_the_rows_of_two_ranks_together_are_the_single_batch():
    # As accelerate shares out a loader: whole batches in turn, each half the size.
    single = list(BatchSampler(sampler(), 32, drop_last=False))
    ranks = [
        list(BatchSamplerShard(BatchSampler(sampler(), 16, drop_last=False), 2, rank, even_batches=False))
        for rank in (0, 1)
    ]
    assert [left + right for left, right in zip(*ranks, strict=True)] == single


@pytest.mark.parametrize("name", ["e2h_window", "e2h_balanced", "e2h_classic", "e2h_cosine", "e2h_gaussian"])
def test_levels_appear_as_often_as_the_schedule_says(name, fit):
    schedule = level_schedule(name)
    for number in (0, 4, 9):
        law = {
            level: share for level, share in zip((1, 2, 4), schedule(number / 10, 3), strict=True) if share > 0
        }
        seen = [LEVELS[row] for seed in range(300) for row in sampler(schedule, seed=seed).batch(number)]
        assert set(seen) <= set(law)
        assert len(law) == 1 or fit(seen, law) > 1e-3


def test_a_whole_run_has_the_expected_number_of_rows_of_each_level():
    runs = 60
    expected = 8 * runs * np.sum([e2h_window(number / 10, 3) for number in range(10)], axis=0)
    seen = Counter(
        LEVELS[row]
        for seed in range(runs)
        for number in range(10)
        for row in sampler(e2h_window, seed=seed).batch(number)
    )
    # At most 4800 rows of one level: five standard deviations are below 5 * sqrt(4800) / 2.
    assert [seen[level] for level in (1, 2, 4)] == pytest.approx(list(expected), abs=174)
    assert sum(seen.values()) == 8 * 10 * runs


def test_rows_within_a_level_are_drawn_alike(fit):
    seen = [row for seed in range(400) for row in sampler(e2h_classic, seed=seed).batch(0)]
    assert fit(seen, dict.fromkeys(range(30), 1 / 30)) > 1e-3


@given(st.integers(0, 1000), st.integers(1, 12))
def test_rows_of_a_batch_are_different_as_long_as_their_level_has_enough(seed, rows):
    counts = Counter(sampler(e2h_classic, [0] * 5 + [1] * 20, rows_per_batch=rows, seed=seed).batch(0))
    assert sum(counts.values()) == rows
    assert set(counts) <= set(range(5))
    assert max(counts.values()) - min(counts[row] for row in range(5)) <= 1


def test_adaptive_levels_are_the_same_when_the_sampler_is_run_again_from_the_start():
    pacer = ByPassRate(threshold=0.5, window=8)
    ours = sampler(pacer)
    first = []
    for number in range(6):
        first.append(ours.batch(number))
        pacer.observe({pacer.current: (8, 8)})
    resumed = ByPassRate(threshold=0.5, window=8)
    resumed.restore(pacer.state())
    assert [sampler(resumed).batch(number) for number in range(6)] == first
    assert {LEVELS[row] for row in first[0]} == {1}
    assert {LEVELS[row] for batch in first for row in batch} == {1, 2, 4}
