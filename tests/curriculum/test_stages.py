"""Algorithms A, B and C as sequences of stages: what is given, cut, judged and scored."""

import itertools

import pytest

from stepladder.curriculum import (
    METHODS,
    Stage,
    depth_increasing,
    hint_decreasing,
    no_curriculum,
    stages_of,
)
from stepladder.errors import InputError

ks = pytest.mark.parametrize("k", [1, 2, 3, 7])
scorings = pytest.mark.parametrize("scoring", ["step", "all"])


@ks
def test_without_a_curriculum_one_free_stage_scores_every_step_by_the_terminal_oracle(k):
    assert no_curriculum(k) == (
        Stage(hint=0, truncate=None, oracle="terminal", depth=k, first_scored=1, last_scored=k + 1),
    )


def test_the_stages_of_b_for_three_picks_are_those_of_the_paper():
    assert depth_increasing(3) == (
        Stage(hint=0, truncate=1, oracle="family", depth=1, first_scored=1, last_scored=1),
        Stage(hint=0, truncate=2, oracle="family", depth=2, first_scored=2, last_scored=2),
        Stage(hint=0, truncate=3, oracle="family", depth=3, first_scored=3, last_scored=3),
        Stage(hint=0, truncate=None, oracle="family", depth=3, first_scored=4, last_scored=4),
    )


def test_the_stages_of_c_for_three_picks_are_those_of_the_corrected_loop():
    assert hint_decreasing(3) == (
        Stage(hint=3, truncate=None, oracle="family", depth=3, first_scored=4, last_scored=4),
        Stage(hint=2, truncate=None, oracle="family", depth=3, first_scored=3, last_scored=3),
        Stage(hint=1, truncate=None, oracle="family", depth=3, first_scored=2, last_scored=2),
        Stage(hint=0, truncate=None, oracle="family", depth=3, first_scored=1, last_scored=1),
    )


@ks
@scorings
def test_b_gives_no_hint_and_cuts_at_depth_l_until_the_last_stage_leaves_the_end_free(k, scoring):
    stages = depth_increasing(k, scoring)
    assert [stage.truncate for stage in stages] == [*range(1, k + 1), None]
    assert [stage.depth for stage in stages] == [*range(1, k + 1), k]
    assert all(stage.hint == 0 and stage.oracle == "family" for stage in stages)


@ks
@scorings
def test_c_gives_one_pick_less_at_every_stage_and_cuts_nothing(k, scoring):
    stages = hint_decreasing(k, scoring)
    assert [stage.hint for stage in stages] == [*range(k, -1, -1)]
    assert all(stage.truncate is None and stage.depth == k for stage in stages)


@ks
@scorings
@pytest.mark.parametrize("method", METHODS)
def test_no_stage_scores_a_pick_that_was_given_or_cut(method, k, scoring):
    for stage in stages_of(method, k, scoring):
        assert stage.hint < stage.first_scored <= stage.last_scored
        assert stage.last_scored <= (k + 1 if stage.truncate is None else stage.truncate)


@ks
@pytest.mark.parametrize("method", METHODS[1:])
def test_scoring_step_l_alone_scores_every_step_in_exactly_one_stage(method, k):
    stages = stages_of(method, k, "step")
    assert all(stage.first_scored == stage.last_scored for stage in stages)
    assert sorted(stage.first_scored for stage in stages) == list(range(1, k + 2))


@ks
@pytest.mark.parametrize("method", METHODS[1:])
def test_scoring_all_steps_scores_every_step_that_is_free_in_its_stage(method, k):
    for stage in stages_of(method, k, "all"):
        last = k + 1 if stage.truncate is None else stage.truncate
        assert (stage.first_scored, stage.last_scored) == (stage.hint + 1, last)


@ks
@pytest.mark.parametrize("method", METHODS[1:])
def test_scoring_changes_nothing_but_what_is_scored(method, k):
    for one, other in zip(stages_of(method, k, "step"), stages_of(method, k, "all"), strict=True):
        assert (one.hint, one.truncate, one.oracle, one.depth) == (
            other.hint,
            other.truncate,
            other.oracle,
            other.depth,
        )


@ks
def test_methods_are_found_by_name(k):
    makers = {
        "no_curriculum": lambda scoring: no_curriculum(k),
        "depth_increasing": lambda scoring: depth_increasing(k, scoring),
        "hint_decreasing": lambda scoring: hint_decreasing(k, scoring),
    }
    assert tuple(makers) == METHODS
    for (name, maker), scoring in itertools.product(makers.items(), ("step", "all")):
        assert stages_of(name, k, scoring) == maker(scoring)


@pytest.mark.parametrize("k", [0, -1])
def test_a_target_without_picks_has_no_stages(k):
    with pytest.raises(InputError, match=f"k must be at least 1, got {k}"):
        stages_of("depth_increasing", k)


def test_an_unknown_method_is_refused_with_the_known_ones_named():
    with pytest.raises(InputError, match=r"'spiral'.*no_curriculum, depth_increasing, hint_decreasing"):
        stages_of("spiral", 2)
