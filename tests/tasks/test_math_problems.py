"""MATH as a task: which problems come, how they are asked, what a completion is worth."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stepladder.errors import InputError
from stepladder.tasks import math_check
from stepladder.tasks.math_problems import EXAMPLES, Math
from stepladder.tasks.task import Problem

REAL = Path(__file__).parents[2].parent / "shared" / "data" / "math.jsonl"

needs_math_verify = pytest.mark.usefixtures("math_verify")


@pytest.fixture
def math_verify():
    pytest.importorskip("math_verify")


@pytest.fixture
def no_worker(monkeypatch):
    def refuse(self):
        raise AssertionError("the worker was asked")

    monkeypatch.setattr(math_check._Pool, "new_child", refuse)
    monkeypatch.setattr(math_check, "_pool", math_check._Pool())


@pytest.fixture(scope="module")
def real() -> list[Problem]:
    if not REAL.exists():
        pytest.skip("the real rows are not here")
    return [Math().read(json.loads(line)) for line in REAL.read_text().splitlines()]


def verdict(answer: str, expected: str):
    problem = Math().read({"question": "?", "answer": expected})
    return Math().verify(problem, f"</think><answer>{answer}</answer>")


# ---- problems


def test_the_examples_cover_all_levels_and_their_solutions_end_in_their_answers():
    task = Math()
    for level in task.levels:
        assert len(task.problems[level]) >= 2
        for problem in task.problems[level]:
            assert len(problem.solution) >= 2
            assert task.final_answer(problem) in problem.solution[-1]
            assert task.read(problem.row()) == problem


def test_each_problem_of_a_level_comes_once_before_any_comes_again():
    task = Math()
    count = len(task.problems[2])
    for again in range(3):
        ids = [task.generate(2, again * count + index, seed=5).id for index in range(count)]
        assert len(set(ids)) == count


def test_an_item_depends_on_seed_level_and_index_only():
    forwards = [Math().generate(level, index, seed=1) for level in (1, 3) for index in range(8)]
    task = Math()
    backwards = [task.generate(level, index, seed=1) for level in (3, 1) for index in reversed(range(8))]
    assert forwards == backwards[::-1]
    program = "from stepladder.tasks.math_problems import Math; print(Math().generate(3, 7, seed=1).id)"
    path = {"PYTHONPATH": str(Path(math_check.__file__).parents[2]), "PYTHONHASHSEED": "7"}
    child = subprocess.run(
        [sys.executable, "-c", program], env=path, capture_output=True, text=True, check=True
    )
    assert child.stdout.strip() == forwards[-1].id
    orders = {tuple(Math().generate(1, index, seed).id for index in range(3)) for seed in range(20)}
    assert len(orders) > 1


def test_a_level_without_problems_is_refused(tmp_path):
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps({"question": "?", "answer": 1, "level": 1}))
    assert Math(path).generate(1, 5).answer == "1"
    with pytest.raises(InputError, match=r"level 4 has no problems in .*one.jsonl"):
        Math(path).generate(4, 0)
    with pytest.raises(InputError, match="level must be 1 to 5"):
        Math(path).generate(0, 0)


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({"question": "?"}, "has no answer"),
        ({"question": "?", "answer": ""}, "has no answer"),
        ({"question": "?", "answer": "  "}, "answer must be a text"),
        ({"question": "?", "answer": [1]}, "answer must be a text"),
        ({"question": "?", "answer": True}, "answer must be a text"),
        ({"answer": "1"}, "has no question"),
        ({"question": 3, "answer": "1"}, "question must be a text"),
        ({"question": "?", "answer": "1", "level": 6}, "level must be 1 to 5"),
        ({"question": "?", "answer": "1", "level": "hard"}, "level must be 1 to 5"),
        ({"question": "?", "answer": "1", "solution": 3}, "solution must be a list"),
        ({"problem": "?", "solution": "no box", "type": "Algebra"}, "has no answer"),
    ],
)
def test_a_bad_row_is_refused_by_the_name_of_its_column(row, complaint):
    with pytest.raises(InputError, match=complaint):
        Math().read(row)


def test_a_row_to_score_needs_no_level_and_no_id():
    problem = Math().read({"question": "?", "answer": 0.5, "completion": "..."})
    assert (problem.answer, problem.level, problem.solution) == ("0.5", None, ())
    assert problem.id == Math().read({"question": "?", "answer": 1}).id


def test_the_prompt_asks_the_question_and_for_a_box_in_the_answer_block():
    problem = Math().read({"question": r"What is {1} \cup {2}?", "answer": "x"})
    user = Math().prompt(problem).user
    assert problem.question in user
    assert r"<answer>\boxed{500}</answer>" in user


# ---- verdicts that need no worker


def test_the_teachers_text_earns_the_whole_reward(no_worker):
    task = Math()
    for problems in task.problems.values():
        for problem in problems:
            verdict = task.verify(problem, task.teacher_completion(problem))
            assert (verdict.format_ok, verdict.correct, verdict.reward, verdict.why) == (True, True, 1.0, "")


def test_identical_tex_needs_no_worker(no_worker):
    for answer in (
        r"\boxed{\frac12}",
        r" \boxed{ \frac12 } ",
        r"\frac12",
        "\\frac12.\n",
        r"\boxed{1}\boxed{\frac12}",
    ):
        assert verdict(answer, r"\frac12").correct


def test_a_badly_formed_completion_earns_nothing(no_worker):
    problem = Math().generate(1, 0)
    found = Math().verify(problem, f"\\boxed{{{problem.answer}}}")
    assert (found.format_ok, found.correct, found.reward) == (False, False, 0.0)


def test_an_empty_or_endless_answer_is_wrong(no_worker):
    assert verdict(" ", "1").why == verdict(r"\boxed{}", "1").why == "the answer is empty"
    found = verdict("1" * 1001, "1")
    assert (found.reward, found.why) == (0.1, "the answer has more than 1,000 characters")


def test_without_math_verify_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(math_check, "_pool", math_check._Pool())
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'stepladder\[llm\]'"):
        verdict("2", "1")


# ---- verdicts by math-verify


@needs_math_verify
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (r"\boxed{0.5}", r"\frac{1}{2}"),
        (r"\boxed{1/2}", r"\dfrac12"),
        ("$0.5$", r"\frac12"),
        (r"\boxed{x = 5}", "5"),
        (r"\boxed{6}", r"\$6"),
        (r"\boxed{1000}", r"1,\!000"),
        (r"\boxed{\sqrt{40}}", r"2\sqrt{10}"),
        (r"\boxed{7x - 15 + 2x^2}", "2x^2+7x-15"),
        (r"\boxed{17}", r"17\text{ meters}"),
        (r"\boxed{13, 12}", r"12\text{ and }13"),
        (r"\boxed{Dana}", r"\text{Dana}"),
    ],
)
def test_the_same_value_written_otherwise_is_correct(answer, expected):
    found = verdict(answer, expected)
    assert (found.correct, found.reward, found.why) == (True, 1.0, "")


@needs_math_verify
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (r"\boxed{\frac{1}{3}}", r"\frac{1}{2}"),
        (r"\boxed{-5}", "5"),
        (r"\boxed{4} \boxed{3}", "4"),
        (r"\boxed{3, 4}", "4"),
        (r"\boxed{3 \text{ or } 4}", "4"),
        (r"\boxed{3\} \boxed{4}", "3"),
        ("3} \\boxed{4", "4"),
        (r"\boxed{(2, 1)}", "(1, 2)"),
        (r"\boxed{\text{Devon}}", r"\text{Dana}"),
    ],
)
def test_another_value_or_several_at_once_earn_the_format_reward_only(answer, expected):
    found = verdict(answer, expected)
    assert (found.format_ok, found.correct, found.reward) == (True, False, 0.1)
    assert found.why.startswith(f"the answer is {expected}, not ")


@needs_math_verify
def test_the_reason_names_both_answers_and_is_short_and_printable():
    assert verdict(r"\boxed{\frac{1}{3}}", r"\frac{1}{2}").why == r"the answer is \frac{1}{2}, not \frac{1}{3}"
    why = verdict("\x00\ud800\n" + "z" * 500, "1").why
    assert why.isprintable() and len(why) < 100


@needs_math_verify
def test_every_real_answer_equals_itself_without_the_short_cut(real):
    for problem in real:
        assert math_check.compare(problem.answer, problem.answer) is math_check.Outcome.EQUAL, problem.answer


def test_every_real_row_is_correct_with_its_own_answer(real, no_worker):
    task = Math()
    assert len(real) == 512
    for problem in real:
        assert task.verify(problem, task.teacher_completion(problem)).correct
        assert {problem.level} <= {3, 4, 5}


def altered(answer: str) -> str:
    """Change the first digit, or else the first letter of the last word."""
    if digit := re.search(r"\d", answer):
        return answer[: digit.start()] + str((int(digit.group()) + 1) % 10) + answer[digit.end() :]
    *_, word = re.finditer(r"[A-Za-z]+", answer)
    return answer[: word.start()] + ("Q" if word.group()[0] != "Q" else "W") + answer[word.start() + 1 :]


@needs_math_verify
def test_every_real_row_is_incorrect_with_an_altered_answer(real):
    task = Math()
    for problem in real:
        found = task.verify(problem, f"</think><answer>\\boxed{{{altered(problem.answer)}}}</answer>")
        assert (found.format_ok, found.correct, found.reward) == (True, False, 0.1), problem.answer


def test_the_examples_are_where_the_package_looks_for_them():
    assert EXAMPLES.exists()
