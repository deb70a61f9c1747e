"""What Blocksworld promises: levels proved by shortest plans, partial goals, rewards, reasons for failure."""

import json
import time
from collections import Counter
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.errors import InputError
from stepladder.tasks.blocks_planner import optimal_plan
from stepladder.tasks.blocks_text import read_goal, read_state
from stepladder.tasks.blocksworld import MOST_ACTIONS, Blocksworld, level_of, random_stacks
from stepladder.tasks.task import Problem

REAL = Path(__file__).parents[2].parent / "shared" / "data" / "blocksworld.jsonl"

TASK = Blocksworld()

QUESTION = (
    "the red block is clear, the blue block is clear, the yellow block is clear, the hand is empty, "
    "the blue block is on top of the orange block, the red block is on the table, "
    "the orange block is on the table and the yellow block is on the table"
)
GOAL = "the orange block is on top of the blue block"
PLAN = (
    "unstack the blue block from on top of the orange block",
    "put down the blue block",
    "pick up the orange block",
    "stack the orange block on top of the blue block",
)
ROW = {"id": "blocksworld-1", "question": QUESTION, "answer": GOAL, "level": 1, "solution": list(PLAN)}
PROBLEM = TASK.read(ROW)

problems = st.builds(TASK.generate, st.sampled_from(TASK.levels), st.integers(0, 10**6), st.integers(0, 2**40))


def judged(problem, *lines):
    return TASK.verify(problem, "so </think>\n<answer>" + "\n".join(lines) + "</answer>")


def real_problems():
    rows = map(json.loads, REAL.read_text().splitlines())
    columns = {"initial": "question", "goal": "answer", "plan": "solution", "id": "id"}
    return [TASK.read({columns[name]: value for name, value in row.items()}) for row in rows]


# ---- the problems


@given(problems)
def test_the_level_is_proved_by_the_length_of_the_shortest_plan(problem):
    state = read_state(problem.question)
    plan = optimal_plan(state, read_goal(problem.answer, state))
    assert problem.solution == tuple(map(str, plan))
    assert problem.level == level_of(len(plan))
    assert len(plan) == 2 * problem.level + 2 or (problem.level == 4 and len(plan) in (12, 14, 16))
    assert 3 <= len(state.below) <= 5


@given(problems)
def test_a_problem_goes_through_a_file_unchanged(problem):
    assert TASK.read(json.loads(json.dumps(problem.row()))) == problem


def test_an_item_depends_on_its_seed_level_and_index_alone():
    first = TASK.generate(2, 7, seed=5)
    TASK.generate(4, 1)
    assert Blocksworld().generate(2, 7, seed=5) == first
    others = [TASK.generate(2, 7, seed=6), TASK.generate(2, 8, seed=5), TASK.generate(3, 7, seed=5)]
    assert all(other.question != first.question or other.answer != first.answer for other in others)


def test_problems_of_a_level_are_hardly_ever_the_same():
    made = {(problem.question, problem.answer) for problem in (TASK.generate(0, i) for i in range(200))}
    assert len(made) > 190


def test_an_item_is_the_same_in_every_process():
    assert TASK.generate(1, 0) == Problem(
        id="blocksworld-1-0-0",
        question="the red block is clear, the hand is empty, the red block is on top of the cyan block, "
        "the cyan block is on top of the silver block and the silver block is on the table",
        answer="the cyan block is on top of the red block",
        level=1,
        solution=(
            "unstack the red block from on top of the cyan block",
            "put down the red block",
            "unstack the cyan block from on top of the silver block",
            "stack the cyan block on top of the red block",
        ),
    )


@pytest.mark.parametrize("level", [-1, 5, "five", 1.5, None, True])
def test_an_unknown_level_is_refused(level):
    with pytest.raises(InputError, match="level must be 0 to 4 for blocksworld"):
        TASK.generate(level, 0)


def test_every_arrangement_of_three_blocks_is_equally_likely(fit):
    rng = np.random.default_rng(3)
    draws = [tuple(random_stacks(["red", "blue", "orange"], rng).values()) for _ in range(1300)]
    assert len(set(draws)) == 13
    assert fit(draws, dict.fromkeys(set(draws), 1 / 13)) > 0.001


def test_the_prompt_gives_rules_state_goal_and_the_form_of_the_answer():
    user = TASK.prompt(PROBLEM).user
    assert f"As initial conditions I have that, {QUESTION}.\nMy goal is to have that {GOAL}.\n" in user
    for words in ("only one block at a time", "is clear when", "<think>", "<answer>", "one action per line"):
        assert words in user
    assert all(step not in user for step in PLAN)


# ---- verdicts


@given(problems)
def test_the_teacher_is_right_and_gets_three(problem):
    verdict = TASK.verify(problem, TASK.teacher_completion(problem))
    assert (verdict.format_ok, verdict.correct, verdict.reward, verdict.why) == (True, True, 3.0, "")


@given(problems)
def test_no_prefix_of_a_shortest_plan_is_right(problem):
    for cut in range(len(problem.solution)):
        verdict = judged(problem, *problem.solution[:cut])
        assert (verdict.format_ok, verdict.correct, verdict.reward) == (True, False, 1.0)
        assert verdict.why


@pytest.mark.skipif(not REAL.exists(), reason="the shared data are not here")
def test_the_120_real_plans_are_right_shortest_and_have_a_level():
    found = real_problems()
    assert all(TASK.verify(problem, TASK.teacher_completion(problem)).reward == 3.0 for problem in found)
    for problem in found:
        state = read_state(problem.question)
        assert len(optimal_plan(state, read_goal(problem.answer, state))) == len(problem.solution)
    levels = Counter(level_of(len(problem.solution)) for problem in found)
    assert levels == {0: 9, 1: 13, 2: 24, 3: 32, 4: 42}


@pytest.mark.skipif(not REAL.exists(), reason="the shared data are not here")
def test_the_120_real_plans_are_wrong_without_any_one_of_their_actions():
    """Each of them is shortest, and what is left is shorter."""
    for problem in real_problems():
        plan = problem.solution
        for dropped in range(len(plan)):
            verdict = judged(problem, *plan[:dropped], *plan[dropped + 1 :])
            assert (verdict.correct, verdict.reward) == (False, 1.0)
            last = dropped == len(plan) - 1
            assert verdict.why.startswith("the plan ends without: " if last else "step ") or len(plan) == 2


def test_a_plan_without_the_format_gets_nothing():
    verdict = TASK.verify(PROBLEM, "\n".join(PLAN))
    assert (verdict.format_ok, verdict.correct, verdict.reward) == (False, False, 0.0)


def test_a_longer_plan_gets_its_share_of_the_last_point():
    detour = ("pick up the red block", "put down the red block")
    assert judged(PROBLEM, *detour, *PLAN).reward == pytest.approx(2 + 4 / 6)
    assert judged(PROBLEM, *detour, *detour, *PLAN).reward == 2.5


def test_a_plan_shorter_than_the_teachers_gets_no_more_than_three():
    padded = TASK.read(ROW | {"solution": ["pick up the red block", "put down the red block", *PLAN]})
    assert judged(padded, *PLAN).reward == 3.0


def test_without_a_solution_the_shortest_plan_is_the_measure_and_the_answer():
    bare = TASK.read({"question": QUESTION, "answer": GOAL})
    assert (bare.level, bare.solution, bare.id) == (None, (), "")
    assert judged(bare, *PLAN).reward == 3.0
    assert judged(bare, "pick up the red block", "put down the red block", *PLAN).reward < 3.0
    assert TASK.final_answer(bare) == "\n".join(PLAN)


def test_any_state_that_meets_the_goal_counts():
    verdict = judged(
        PROBLEM,
        "unstack the blue block from on top of the orange block",
        "stack the blue block on top of the yellow block",
        "pick up the orange block",
        "stack the orange block on top of the blue block",
    )
    assert (verdict.correct, verdict.reward) == (True, 3.0)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "the plan has no action"),
        ([" ", ",,", ""], "the plan has no action"),
        (PLAN[:2], "the plan ends without: the orange block is on top of the blue block"),
        (PLAN[1:], "step 1: cannot put down the blue block: the hand is not holding the blue block"),
        (
            ["pick up the red block", "stack the red block on top of the orange block"],
            "step 2: cannot stack the red block on top of the orange block: the orange block is not clear",
        ),
        (["pick up the green block"], "step 1: cannot pick up the green block: there is no green block"),
        ([*PLAN[:2], "lift the orange block"], "step 3: 'lift the orange block' is not an action"),
        ([*PLAN, "done"], "step 5: 'done' is not an action"),
        (["a" * 100], f"step 1: '{'a' * 57}...' is not an action"),
        (["pick up the red block"] * (MOST_ACTIONS + 1), "the plan has more than 1,000 actions"),
    ],
)
def test_the_reason_of_failure_names_the_step(lines, why):
    verdict = judged(PROBLEM, *lines)
    assert (verdict.format_ok, verdict.correct, verdict.reward, verdict.why) == (True, False, 1.0, why)


def test_a_plan_that_reaches_the_goal_and_leaves_it_again_is_wrong():
    leaves = "unstack the orange block from on top of the blue block"
    assert judged(PROBLEM, *PLAN, leaves).why == f"the plan ends without: {GOAL}"


def test_a_long_but_legal_plan_is_judged_to_its_end():
    detour = ["pick up the red block", "put down the red block"] * ((MOST_ACTIONS - len(PLAN)) // 2)
    assert judged(PROBLEM, *detour, *PLAN).reward == 2 + len(PLAN) / MOST_ACTIONS


# ---- rows


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"question": None}, "the row has no question"),
        ({"answer": ""}, "the row has no answer"),
        ({"question": 7}, "question must be sentences about blocks, got 7"),
        ({"answer": ["x"]}, "answer must be sentences about blocks, got ['x']"),
        ({"question": QUESTION + ", the sky is blue"}, "question must be sentences like"),
        ({"answer": "the green block is clear"}, "answer names the green block"),
        ({"answer": "the blue block is clear"}, "answer is reached before any action"),
        ({"solution": 5}, "solution must be a list of texts, got 5"),
        ({"level": 5}, "level must be 0 to 4"),
    ],
)
def test_a_bad_row_is_refused_in_one_line_that_names_the_column(change, why):
    with pytest.raises(InputError) as error:
        TASK.read(ROW | change)
    assert str(error.value).startswith(why)
    assert "\n" not in str(error.value)


def test_a_row_with_planbenchs_openings_and_a_plan_in_one_text_is_the_same_problem():
    row = ROW | {
        "question": f"As initial conditions I have that, {QUESTION}.",
        "answer": f"My goal is to have that {GOAL}.",
        "solution": "\n".join(f"{i}. {step.capitalize()}." for i, step in enumerate(PLAN, start=1)),
    }
    assert TASK.read(row) == PROBLEM


# ---- hostile text

PIECES = st.sampled_from(
    [
        *PLAN,
        "\n",
        ",",
        "1.",
        "9" * 50,
        "\x00",
        "\u0665",
        "<think>",
        "</answer>",
        "(" * 50,
        "the red block",
        "\ud800",
    ]
)


@given(st.lists(PIECES | st.text(max_size=20), max_size=30).map("".join))
def test_any_text_gets_a_verdict(text):
    for completion in (text, f"</think><answer>{text}</answer>"):
        verdict = TASK.verify(PROBLEM, completion)
        assert verdict.reward in (0.0, 1.0) or verdict.correct
        assert verdict.correct == (verdict.why == "")
        assert "\n" not in verdict.why
        assert len(verdict.why) < 500


@pytest.mark.parametrize(
    "piece",
    [
        *(",", "\n", " ", "a", "1.", "9. ", "a,", "(", "the ", "\x00", "\u2028", "\u0660", "\U0001f600"),
        *("pick up the red block\n", "pick up the red block,", f"pick up the {'x' * 30} block\n"),
    ],
)
def test_200_000_characters_are_judged_at_once(piece):
    answer = (piece * 200_000)[:199_900]
    start = time.process_time()
    verdict = judged(PROBLEM, answer)
    assert time.process_time() - start < 2
    assert (verdict.format_ok, verdict.correct) == (True, False)
    assert len(verdict.why) < 500


def test_judging_never_changes_a_problem():
    wrong = chain.from_iterable((PLAN[:i], PLAN[i:]) for i in range(1, 4))
    for lines in wrong:
        judged(PROBLEM, *lines)
    assert judged(PROBLEM, *PLAN).reward == 3.0


@pytest.mark.parametrize("steps", [PLAN[:3], PLAN[1:], ["think hard"], [" "]], ids=str)
def test_a_solution_that_does_not_reach_the_goal_counts_as_none_and_a_shortest_plan_measures(steps):
    problem = TASK.read(ROW | {"solution": list(steps)})
    assert problem.solution == ()
    assert judged(problem, *PLAN).reward == 3
    assert not judged(problem, *steps).correct
