"""Parity and sums in words: judged exactly as the oracles judge chains on trees."""

import itertools
import random
import threading
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.errors import InputError
from stepladder.tasks.chain import Chain
from stepladder.tasks.task import Problem
from stepladder.trees import FamilyOracle, Target, TerminalOracle

SMALL = [
    Chain("parity", 4, (0, 2)),
    Chain("parity", 4, (1, 2, 3)),
    Chain("sum", 3, (0, 1), alphabet=3),
    Chain("sum", 3, (2,), alphabet=4),
]
small = pytest.mark.parametrize("task", SMALL, ids=lambda task: f"{task.name} {task.secret}")


def all_chains(tree):
    """Every legal chain but the empty one, as the tree lists them."""
    return [tuple(map(int, chain)) for depth in tree.chains() for chain in depth if len(chain)]


def all_problems(task, level):
    """The problem of every input."""
    for inputs in task.tree.all_inputs():
        picks = task.secret[:level]
        yield Problem("", inputs.tolist(), int(inputs[list(picks)].sum() % task.tree.alphabet), level, ())


def written(task, problem, picks, answer=None):
    """A chain of thought with the running values that an environment gives."""
    values = [sum(problem.question[i] for i in picks[: n + 1]) % task.tree.alphabet for n in range(len(picks))]
    lines = [f"x{pick} -> {value}" for pick, value in zip(picks, values, strict=True)]
    shown = values[-1] if answer is None else answer
    return "\n".join(["", *lines, "end", f"</think><answer>{shown}</answer>"])


# ---- verdicts are those of trees


@small
def test_a_whole_chain_is_judged_as_the_terminal_oracle_judges_it(task):
    target = Target(task.tree, task.secret)
    for picks in all_chains(task.tree):
        for problem in all_problems(task, task.levels[-1]):
            inputs = np.array([problem.question])
            answers = np.array([sum(inputs[0, list(picks)]) % task.tree.alphabet])
            found = task.verify(problem, written(task, problem, picks))
            assert found.correct == TerminalOracle(target).judge(inputs, answers)[0]
            assert found.exact_path == (picks == task.secret)
            assert found.reward == float(found.correct)
            assert found.format_ok


@small
def test_a_level_judges_the_cut_chain_as_the_family_oracle_judges_it(task):
    target = Target(task.tree, task.secret)
    for level in task.levels[:-1]:
        for picks in all_chains(task.tree):
            cut = picks[:level]
            for problem in all_problems(task, level):
                inputs = np.array([problem.question])
                answers = np.array([sum(inputs[0, list(cut)]) % task.tree.alphabet])
                found = task.verify(problem, written(task, problem, picks))
                assert found.correct == FamilyOracle(target).judge(inputs, answers, level)[0]
                assert found.exact_path == (cut == task.secret[:level])


@small
def test_a_wrong_chain_is_right_on_exactly_one_input_in_v(task):
    for picks in all_chains(task.tree):
        verdicts = [
            task.verify(problem, written(task, problem, picks)).correct
            for problem in all_problems(task, task.levels[-1])
        ]
        share = Fraction(sum(verdicts), len(verdicts))
        assert share == (1 if picks == task.secret else Fraction(1, task.tree.alphabet))


@small
def test_a_pick_is_legal_exactly_where_the_tree_says_so(task):
    problem = next(all_problems(task, task.levels[-1]))
    for picks in itertools.chain([()], all_chains(task.tree)):
        legal = task.tree.legal(picks)
        for pick in range(task.tree.d + 2):
            if pick == task.tree.eos:
                continue
            found = task.verify(Problem("", [0] * task.tree.d, 0, 1, ()), written_zero((*picks, pick)))
            assert found.correct == (pick in legal)
            assert (found.why == "") or found.why == f"step {len(picks) + 1}: x{pick} is not a legal pick here"
    assert task.verify(problem, "end</think><answer>0</answer>").why == "the chain has no pick"


def written_zero(picks):
    return "\n".join([*(f"x{pick} -> 0" for pick in picks), "end</think><answer>0</answer>"])


@pytest.mark.parametrize(
    ("think", "answer", "why"),
    [
        ("x0 -> 1\nx2 -> 1\nend", "1", ""),
        ("  x0->1 \n\n x2   ->  01 \nend  ", " 1\n", ""),
        ("x0 -> 1\nx2 -> 1\nend", "0", "the answer is not the last running value, 1"),
        ("x0 -> 1\nx2 -> 1\nend", "", "the answer is not the last running value, 1"),
        ("x0 -> 1\nx2 -> 0\nend", "0", "step 2: the running value is 1, not 0"),
        ("x2 -> 0\nx0 -> 1\nend", "1", "step 2: x0 is not a legal pick here"),
        ("x0 -> 1\nx0 -> 0\nend", "0", "step 2: x0 is not a legal pick here"),
        ("x4 -> 1\nend", "1", "step 1: x4 is not a legal pick here"),
        ("x0 -> 1\nx2 -> 1", "1", "step 3: neither `x0 -> 1` nor `end`: ''"),
        ("x0 -> 1\nend\nx2 -> 1", "1", "step 2: neither `x0 -> 1` nor `end`: 'end\\nx2 -> 1'"),
        ("I pick x0 -> 1\nend", "1", "step 1: neither `x0 -> 1` nor `end`: 'I pick x0 -> 1\\nend'"),
        ("x٠ -> 1\nend", "1", "step 1: neither `x0 -> 1` nor `end`: 'x٠ -> 1\\nend'"),
        ("x0 -> 1\nx1 -> 0\nend", "0", "the value is 0, not 1"),
        ("", "1", "step 1: neither `x0 -> 1` nor `end`: ''"),
    ],
)
def test_the_reason_names_the_step(think, answer, why):
    problem = Problem("", [1, 1, 0, 1], 1, 3, ())
    found = Chain("parity", 4, (0, 2)).verify(problem, f"{think}</think><answer>{answer}</answer>")
    assert (found.format_ok, found.correct, found.why) == (True, not why, why)


def test_the_exact_path_is_told_apart_from_a_wrong_answer():
    task = Chain("parity", 4, (0, 2))
    problem = Problem("", [1, 0, 0, 1], 1, 3, ())
    told = task.verify(problem, written(task, problem, (0, 2), answer=0))
    lucky = task.verify(problem, written(task, problem, (0, 1, 2)))
    assert (told.correct, told.exact_path) == (False, True)
    assert (lucky.correct, lucky.exact_path) == (True, False)


# ---- problems, prompts and hints


@given(st.from_type(Target), st.data())
def test_the_teacher_takes_the_secrets_picks_on_any_tree(target, data):
    if target.tree.name not in ("parity", "sum"):
        return
    task = Chain(target.tree.name, target.tree.d, target.picks, target.tree.alphabet)
    level = data.draw(st.sampled_from(task.levels))
    problem = task.generate(level, data.draw(st.integers(0, 99)), data.draw(st.integers(0, 99)))
    found = task.verify(problem, task.teacher_completion(problem))
    assert (found.correct, found.exact_path, found.reward) == (True, True, 1.0)
    assert len(problem.solution) == min(level, target.k)
    inputs = np.array([problem.question], dtype=target.tree.token_type)
    assert problem.answer == int(target.prefix(min(level, target.k)).value(inputs)[0])


@pytest.mark.parametrize("task", SMALL, ids=lambda task: f"{task.name} {task.secret}")
def test_a_hint_and_the_rest_of_the_teacher_are_the_teachers_text(task):
    for level in task.levels:
        problem = task.generate(level, 3)
        whole = task.teacher_completion(problem)
        for steps in range(len(problem.solution) + 1):
            hint = task.hint(problem, steps)
            rest = "".join(f"\n{step}" for step in problem.solution[steps:])
            assert whole == f"{hint}{rest}\nend\n</think>\n<answer>{problem.answer}</answer>"


def test_an_item_depends_on_its_seed_level_and_index_alone():
    task, other = Chain(), Chain()
    asked = [(level, index, seed) for level in (1, 5) for index in (0, 9) for seed in (0, 7)]
    first = [task.generate(*one) for one in asked]
    assert [other.generate(*one) for one in reversed(asked)] == first[::-1]
    assert len({tuple(problem.question) for problem in first}) == len(first)


def test_inputs_are_drawn_uniformly(fit):
    task = Chain("sum", 2, (0, 1), alphabet=3)
    seen = [tuple(task.generate(3, index).question) for index in range(2000)]
    law = dict.fromkeys(itertools.product(range(3), repeat=2), Fraction(1, 9))
    assert fit(seen, law) > 1e-3


def test_only_the_visible_prompt_depends_on_the_inputs_and_neither_on_the_secret():
    for form, differ in (("visible", True), ("hidden", False)):
        task = Chain("parity", 10, (0, 1, 2, 3), form=form)
        users = [task.prompt(task.generate(5, index)).user for index in range(20)]
        assert (len(set(users)) > 1) == differ
        assert users == [Chain(form=form, secret=(4, 7)).prompt(task.generate(5, i)).user for i in range(20)]
    assert "x3 = " not in users[0]
    assert "cannot see the inputs" in users[0]


def test_the_environment_answers_each_pick_with_the_teachers_values():
    task = Chain("sum", 6, (1, 2, 5), alphabet=5, form="hidden")
    problem = task.generate(4, 0)
    values = [task.running_value(problem.question, task.secret[:depth]) for depth in (1, 2, 3)]
    pairs = zip(task.secret, values, strict=True)
    assert problem.solution == tuple(f"x{pick} -> {value}" for pick, value in pairs)


@pytest.mark.parametrize("level", [0, 6, None, "x"])
def test_an_unknown_level_is_refused(level):
    with pytest.raises(InputError, match="level must be 1 to 5 for parity, got"):
        Chain().generate(level, 0)


def test_a_negative_seed_is_refused():
    with pytest.raises(InputError, match="seed must be at least 0, got -1"):
        Chain().generate(1, 0, seed=-1)


# ---- rows


@given(st.sampled_from(SMALL), st.integers(0, 1000), st.data())
def test_a_problem_goes_through_a_row_unchanged(task, index, data):
    problem = task.generate(data.draw(st.sampled_from(task.levels)), index)
    assert task.read(problem.row()) == problem


@pytest.mark.parametrize("row", [{}, {"level": None}], ids=["absent", "null"])
def test_a_row_without_a_level_is_the_whole_chain(row):
    assert Chain("parity", 3, (0, 1)).read({"question": [1, 1, 0], "answer": 0, **row}).level == 3


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"question": [1, 0]}, "question must be 4 numbers below 2, got [1, 0]"),
        ({"question": [1, 0, 2, 0]}, "question must be 4 numbers below 2, got"),
        ({"question": [1, 0, -1, 0]}, "question must be 4 numbers below 2, got"),
        ({"question": [1, 0, 1.0, 0]}, "question must be 4 numbers below 2, got"),
        ({"question": [1, 0, True, 0]}, "question must be 4 numbers below 2, got"),
        ({"question": [1, 0, [1], 0]}, "question must be 4 numbers below 2, got"),
        ({"question": "1010"}, "question must be 4 numbers below 2, got '1010'"),
        ({"question": None}, "the row has no question"),
        ({"answer": None}, "the row has no answer"),
        ({"answer": 1}, "answer must be 0 for the secret [0, 2], got 1"),
        ({"answer": "0"}, "answer must be 0 for the secret [0, 2], got '0'"),
        ({"level": 4}, "level must be 1 to 3 for parity, got 4"),
    ],
)
def test_a_bad_row_is_refused_by_the_name_of_its_column(change, why):
    row = {"id": "a", "question": [1, 0, 1, 0], "answer": 0, "level": 3, "solution": []}
    with pytest.raises(InputError) as refusal:
        Chain("parity", 4, (0, 2)).read(row | change)
    assert str(refusal.value).startswith(why)


# ---- hostile text


@pytest.mark.parametrize(
    "text",
    [
        *("x" * 199_000, "x0 -> 0\n" * 20_000, " " * 199_000, "x0" + " " * 190_000 + "->", "9" * 199_000),
        *("x" + "9" * 190_000 + " -> 0", "x0 -> " + "0" * 190_000, "\x00" * 1000, "end" * 60_000, "\ud800"),
        *("->" * 90_000, "x0 -> 0" + " " * 190_000 + "x", "a" * 1_000_000, "__import__('os').abort()"),
        "\n".join(f"x{number} -> 0" for number in range(10_000)),
    ],
    ids=lambda text: text[:10].encode("ascii", "backslashreplace").decode(),
)
def test_hostile_text_is_wrong_within_a_moment(text):
    task = Chain("parity", 4096, (0, 2))
    problem = Problem("", [0] * 4096, 0, 3, ())
    for completion in (text, f"{text}</think><answer>0</answer>", f"end</think><answer>{text}</answer>"):
        found = []
        began = time.process_time()
        thread = threading.Thread(target=lambda: found.append(task.verify(problem, completion)))  # noqa: B023
        thread.start()
        thread.join()
        assert time.process_time() - began < 2
        assert not found[0].correct
        assert found[0].why and len(found[0].why) < 200


def test_the_longest_legal_chain_is_judged_at_once():
    task = Chain("sum", 4096, range(4096), alphabet=1 << 20)
    problem = task.generate(4097, 0)
    began = time.process_time()
    assert task.verify(problem, task.teacher_completion(problem)).exact_path
    assert time.process_time() - began < 2


PIECES = (
    *(*(f"x{i} -> {v}\n" for i in range(4) for v in range(2)), "end", "end\n", "x", "->", "0", "1", " ", "\n"),
    *("<think>", "</think>", "<answer>", "</answer>", "\x00", "\ud800", "٠", "9" * 30, "x99 -> 0", "(" * 30),
)


def fuzzed(draw):
    kind = draw.random()
    if kind < 0.3:
        return "".join(draw.choices(PIECES, k=draw.randint(0, 20)))
    lines = [f"x{pick} -> {draw.randint(0, 1)}" for pick in sorted(draw.sample(range(4), draw.randint(0, 4)))]
    if kind < 0.5:
        lines.insert(draw.randint(0, len(lines)), draw.choice(PIECES))
    return "\n".join([*lines, f"end</think><answer>{draw.choice(('0', '1', ' 1 ', 'x'))}</answer>"])


def judge_all(count, seed):
    draw = random.Random(seed)
    task = SMALL[0]
    problems = [task.generate(level, index) for level in task.levels for index in range(5)]
    kinds = set()
    for _ in range(count):
        found = task.verify(draw.choice(problems), fuzzed(draw))
        assert found.correct == (found.why == "")
        kinds.add((found.format_ok, found.correct, found.reward, found.exact_path))
    return kinds


ALL_KINDS = {
    (False, False, 0.0, None),
    (True, False, 0.0, False),
    (True, False, 0.0, True),
    (True, True, 1.0, False),
    (True, True, 1.0, True),
}


def test_ten_thousand_fuzzed_completions_get_a_verdict_each():
    assert judge_all(10_000, seed=0) == ALL_KINDS


@pytest.mark.slow
def test_two_hundred_thousand_fuzzed_completions_get_a_verdict_each():
    assert judge_all(200_000, seed=1) == ALL_KINDS
