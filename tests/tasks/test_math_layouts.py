"""Rows as they are published become ours, and a bad row is named by its place."""

import json
import sys
import types

import pytest

from stepladder.errors import InputError
from stepladder.tasks.math_layouts import last_boxed, sentences
from stepladder.tasks.math_problems import Math
from stepladder.tasks.rows import load

OURS = {"id": "a", "question": "1 + 1?", "answer": "2", "level": 3, "solution": ["We add.", "It is 2."]}
MATH = {
    "problem": "1 + 1?",
    "level": "Level 3",
    "type": "Algebra",
    "solution": r"We add. It is $\boxed{2}$.",
}
UFT = {"id": "a", "problem": "1 + 1?", "answer": "2", "level": "Level 3", "type": "Algebra"} | {
    "steps": ["We add. ", "It is 2."]
}
E2H = {"question": "1 + 1?", "answer": "2", "level": 3, "type": "Algebra", "solution": "We add. It is 2."}


@pytest.mark.parametrize("row", [OURS, MATH, UFT, E2H], ids=["ours", "math", "uft", "e2h"])
def test_every_layout_says_the_same_problem(row):
    problem = Math().read(row)
    assert (problem.question, problem.answer, problem.level) == ("1 + 1?", "2", 3)
    assert problem.solution[0].strip() == "We add."
    assert len(problem.solution) == 2


def test_a_source_with_a_level_zero_counts_from_zero_and_we_count_from_one(tmp_path):
    def levels(rows):
        path = tmp_path / "rows.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return [level for level, problems in Math(path).problems.items() if problems]

    assert levels(E2H | {"level": level} for level in range(5)) == [1, 2, 3, 4, 5]
    assert levels(E2H | {"level": level} for level in range(1, 6)) == [1, 2, 3, 4, 5]
    assert levels([E2H | {"level": "Level 4"}]) == [4]


def test_a_row_of_unknown_level_has_none():
    assert Math().read(MATH | {"level": "Level ?"}).level is None


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        (r"\boxed{1} then \boxed{2}", "2"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\boxed{\boxed{3}}", "3"),
        (r"\boxed{4} or \boxed{5", "4"),
        (r"\fbox{6}", "6"),
        (r"so it is $\boxed 7$.", "7"),
        (r"\boxed {8}", "8"),
        ("nine", None),
        (r"\boxed{", None),
        (r"}}\boxed{}", ""),
    ],
)
def test_the_last_box_that_closes_counts(text, inside):
    assert last_boxed(text) == inside


def test_a_solution_is_cut_between_sentences_but_not_inside_formulas():
    text = "First. Then $a = 1. b = 2$ holds! And \\begin{align*}x. \\\\ y\\end{align*} too. Pay \\$3. Ok? Yes"
    cut = sentences(text)
    assert cut[0] == "First."
    assert cut[1] == "Then $a = 1. b = 2$ holds!"
    assert cut[2].startswith("And") and cut[2].endswith("too.")
    assert cut[3:] == ["Pay \\$3.", "Ok?", "Yes"]
    assert " ".join(cut).split() == text.split()


def test_a_broken_line_is_named(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(OURS) + "\n\n{broken\n")
    with pytest.raises(InputError, match=r"rows.jsonl, line 3: not JSON"):
        list(load(path))
    path.write_text("[1]\n")
    with pytest.raises(InputError, match="line 1: a row must be an object"):
        list(load(path))
    with pytest.raises(InputError, match=r"absent.jsonl cannot be read"):
        list(load(tmp_path / "absent.jsonl"))


def test_a_row_without_an_answer_is_named_by_its_line(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(OURS) + "\n" + json.dumps(OURS | {"answer": None}) + "\n")
    with pytest.raises(InputError, match=r"rows.jsonl, line 2: the row has no answer"):
        Math(path).generate(3, 0)


def test_parquet_is_read_like_jsonl(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([OURS]), path)
    assert Math(path).generate(3, 0) == Math().read(OURS)
    path.write_bytes(b"not parquet")
    with pytest.raises(InputError, match="cannot be read"):
        list(load(path))


def test_any_other_source_is_a_data_set_of_the_hub(monkeypatch):
    asked = []
    hub = types.ModuleType("datasets")
    hub.load_dataset = lambda name, split: asked.append((name, split)) or [E2H]
    monkeypatch.setitem(sys.modules, "datasets", hub)
    assert Math("divelab/math", split="test").generate(3, 0).answer == "2"
    assert asked == [("divelab/math", "test")]


def test_a_data_set_that_cannot_be_had_is_an_input_error(tmp_path, monkeypatch):
    pytest.importorskip("datasets")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError, match="nor a data set"):
        list(load(str(tmp_path / "nothing")))
