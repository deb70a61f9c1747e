"""`stepladder data`: problems on the screen, in a file, or as one JSON object."""

import json

import pytest

from stepladder.tasks import generate
from stepladder.tasks.catalogue import build_task
from stepladder.tasks.rows import export_row


def made(name, level, count, seed=0):
    task = build_task(name)
    return [export_row(task, task.generate(level, index, seed)) for index in range(count)]


def test_it_shows_the_first_problem_as_a_model_sees_it_with_the_teachers_text(run):
    outcome = run("data", "countdown", "--level", 0)
    task = build_task("countdown")
    problem = task.generate(0, 0)
    assert (outcome.code, outcome.err) == (0, "")
    assert task.prompt(problem).user in outcome.out
    assert task.teacher_completion(problem) in outcome.out
    assert problem.id in outcome.out


@pytest.mark.parametrize("name", ["countdown", "blocksworld", "math", "parity", "sum"])
def test_the_file_holds_what_the_task_generates(name, run, tmp_path):
    out = tmp_path / "deep" / "rows.jsonl"
    outcome = run("data", name, "--level", 1, "--count", 3, "--seed", 5, "--out", out)
    assert outcome.code == 0
    assert f"wrote 3 problems to {out}" in outcome.out
    assert [json.loads(line) for line in out.read_text().splitlines()] == made(name, 1, 3, seed=5)


def test_json_is_one_object_with_all_columns(run):
    outcome = run("data", "sum", "--level", 2, "--count", 2, "--seed", 4, "--json")
    assert outcome.out.count("\n") == 1
    found = json.loads(outcome.out)
    assert found == {"task": "sum", "level": 2, "seed": 4, "rows": made("sum", 2, 2, seed=4)}
    assert list(found["rows"][0]) == ["prompt", "id", "question", "answer", "level", "solution"]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_the_bytes_do_not_depend_on_the_number_of_processes(kind, run, tmp_path, monkeypatch):
    options = ("data", "countdown", "--level", 1, "--count", 8, "--out")
    assert run(*options, tmp_path / f"alone.{kind}").code == 0
    monkeypatch.setattr(generate, "ALONE_SECONDS", 0.0)
    assert run(*options, tmp_path / f"several.{kind}").code == 0
    assert (tmp_path / f"alone.{kind}").read_bytes() == (tmp_path / f"several.{kind}").read_bytes()


@pytest.mark.parametrize("name", ["countdown", "blocksworld", "math", "parity"])
def test_a_longer_file_begins_with_a_shorter_one(name, run, tmp_path):
    for count in (1, 3):
        run("data", name, "--level", 1, "--count", count, "--out", tmp_path / f"{count}.jsonl")
    assert (tmp_path / "3.jsonl").read_bytes().startswith((tmp_path / "1.jsonl").read_bytes())


def test_more_problems_than_a_source_has_are_refused_and_never_repeated(refused, tmp_path):
    out = tmp_path / "rows.jsonl"
    assert "--count must be at most 3" in refused("data", "math", "--level", 1, "--count", 100, "--out", out)
    assert not out.exists()


def test_the_secret_and_the_form_of_a_chain_can_be_given(run):
    options = ("--level", 3, "--d", 5, "--secret", "1,3", "--alphabet", 7, "--form", "hidden", "--json")
    row = json.loads(run("data", "sum", *options).out)["rows"][0]
    assert len(row["question"]) == 5
    assert [step.split()[0] for step in row["solution"]] == ["x1", "x3"]
    assert "cannot see the inputs" in row["prompt"][1]["content"]


def test_math_problems_come_from_the_source(run, tmp_path):
    source = tmp_path / "mine.jsonl"
    row = {"problem": "What is $1+1$?", "level": "Level 2", "solution": r"It is $\boxed{2}$."}
    source.write_text(json.dumps(row))
    row = json.loads(run("data", "math", "--level", 2, "--source", source, "--json").out)["rows"][0]
    assert (row["question"], row["answer"], row["level"]) == ("What is $1+1$?", "2", 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("countdown", "--level", 5), "data: --level must be 0 to 4 for countdown, got 5"),
        (("blocksworld", "--level", -1), "data: --level must be 0 to 4 for blocksworld, got -1"),
        (("math", "--level", 0), "data: --level must be 1 to 5 for math, got 0"),
        (("parity", "--level", 6), "data: --level must be 1 to 5 for parity, got 6"),
        (("parity", "--level", 1, "--d", 0), "data: --d must be between 1 and 4,096, got 0"),
        (("parity", "--level", 1, "--secret", "3,1"), "data: --secret [3,1] goes back"),
        (("parity", "--level", 1, "--secret", "a"), "data: --secret must be whole numbers"),
        (("parity", "--level", 1, "--alphabet", 3), "data: --alphabet of parity is 2, got 3"),
        (("countdown", "--level", 0, "--count", 0), "data: --count must be between 1 and 1e+07, got 0"),
        (("countdown", "--level", 0, "--seed", -1), "data: --seed must be at least 0, got -1"),
        (("countdown", "--level", 0, "--d", 3), "data: --d is not an option of countdown"),
        (("countdown", "--level", 0, "--source", "a"), "data: --source is not an option of countdown"),
        (("countdown",), "--level"),
        (("chess", "--level", 0), "chess"),
        (("math", "--level", 1, "--source", "absent.jsonl"), "absent.jsonl cannot be read: No such file"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_bad_input_is_refused_in_one_line_and_nothing_is_written(refused, tmp_path, arguments, message):
    assert message in refused("data", *arguments, "--out", tmp_path / "out.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_an_out_of_another_kind_is_refused_before_anything_is_made(refused, tmp_path, monkeypatch):
    monkeypatch.setattr("stepladder.commands.data.generate_many", None)
    message = refused("data", "countdown", "--level", 0, "--out", tmp_path / "rows.csv")
    assert "--out must end in .jsonl or .parquet, got" in message


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "source.jsonl"),
        ('{"question": "1+1?", "level": 1}\n', "source.jsonl, line 1: the row has no answer"),
        ('{"question": "1+1?", "level": 1, "answer": "2"}\n{\n', "source.jsonl, line 2: not JSON"),
        ('{"question": "1+1?", "level": 9, "answer": "2"}\n', "source.jsonl, line 1: level must be 1 to 5"),
    ],
    ids=["empty", "no answer", "broken line", "unknown level"],
)
def test_a_bad_source_is_refused_by_its_line_and_nothing_is_written(refused, tmp_path, lines, message):
    source = tmp_path / "source.jsonl"
    source.write_text(lines)
    out = tmp_path / "out.jsonl"
    assert message in refused("data", "math", "--level", 1, "--source", source, "--out", out)
    assert not out.exists()
