"""Problems in files: what is written is read again, and an error names its row."""

import importlib
import json

import pytest

from stepladder.errors import InputError
from stepladder.tasks import rows
from stepladder.tasks.catalogue import build_task
from stepladder.tasks.rows import data_set, export_row, load, read_problems, write_rows

COLUMNS = ["prompt", "question", "answer", "level", "solution", "id"]
NAMES = ["countdown", "blocksworld", "math", "parity", "sum"]


def made(name, count=4):
    task = build_task(name)
    return task, [task.generate(level, index) for level in task.levels[:2] for index in range(count)]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize("name", NAMES)
def test_problems_go_through_a_file_unchanged(name, kind, tmp_path):
    task, problems = made(name)
    path = tmp_path / f"rows.{kind}"
    write_rows(path, (export_row(task, problem) for problem in problems))
    assert read_problems(task, path) == problems
    assert all(sorted(row) == sorted(COLUMNS) for _, row in load(path))
    assert [path.name for path in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", NAMES)
def test_problems_go_through_a_data_set_unchanged(name):
    task, problems = made(name)
    made_set = data_set(task, problems)
    assert sorted(made_set.column_names) == sorted(COLUMNS)
    assert [task.read(row) for row in made_set] == problems
    assert made_set[0]["prompt"] == task.prompt(problems[0]).messages


def test_a_data_set_saved_by_datasets_is_read_again(tmp_path):
    task, problems = made("countdown")
    path = tmp_path / "saved.parquet"
    data_set(task, problems).to_parquet(path)
    assert read_problems(task, path) == problems


def test_the_same_rows_are_the_same_bytes(tmp_path):
    task, problems = made("countdown")
    for kind in ("jsonl", "parquet"):
        for name in ("one", "two"):
            write_rows(tmp_path / f"{name}.{kind}", [export_row(task, problem) for problem in problems])
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()


GOOD = '{"question": [2, 3], "answer": 5}'


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([GOOD, "{"], "rows.jsonl, line 2: not JSON: "),
        ([GOOD, "", GOOD, "nonsense"], "rows.jsonl, line 4: not JSON: "),
        ([GOOD, "[1]"], "rows.jsonl, line 2: a row must be an object with columns, got [1]"),
        ([GOOD, '{"question": [2, 3]}'], "rows.jsonl, line 2: the row has no answer"),
        (['{"answer": 5}'], "rows.jsonl, line 1: the row has no question"),
        ([GOOD, GOOD[:-1] + ', "level": 7}'], "rows.jsonl, line 2: level must be 0 to 4 for countdown, got 7"),
        ([GOOD, "[" * 100_000], "rows.jsonl, line 2: not JSON: "),
        ([GOOD, '{"answer": ' + "9" * 5000 + "}"], "rows.jsonl, line 2: not JSON: "),
        ([], "rows.jsonl has no rows"),
        (["", "  ", ""], "rows.jsonl has no rows"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_an_error_names_the_line(lines, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    with pytest.raises(InputError) as refusal:
        read_problems(build_task("countdown"), "rows.jsonl")
    assert str(refusal.value).startswith(why)
    assert "\n" not in str(refusal.value)


def test_an_error_names_the_row_of_a_parquet_file(tmp_path):
    path = tmp_path / "rows.parquet"
    write_rows(path, [{"question": [2, 3], "answer": 5}, {"question": [2, 3], "answer": None}])
    with pytest.raises(InputError, match=r"rows\.parquet, row 2: the row has no answer"):
        read_problems(build_task("countdown"), path)


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_file_that_cannot_be_read_is_refused_in_one_line(kind, tmp_path):
    missing, folder, broken = (tmp_path / f"{name}.{kind}" for name in ("missing", "folder", "broken"))
    folder.mkdir()
    broken.write_bytes(b"\xff\xfe\x00")
    for path in (missing, broken, *([folder] if kind == "jsonl" else [])):
        with pytest.raises(InputError, match="cannot be read: ") as refusal:
            list(load(path))
        assert "\n" not in str(refusal.value)
    if kind == "parquet":
        broken.write_bytes(b"")
        with pytest.raises(InputError, match="cannot be read: "):
            list(load(broken))


def test_windows_line_ends_and_blank_lines_do_not_matter(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(f"\r\n{GOOD}\r\n\r\n{GOOD}\r\n".encode())
    assert [place for place, _ in load(path)] == [f"{path}, line 2", f"{path}, line 4"]
    assert len(read_problems(build_task("countdown"), path)) == 2


@pytest.mark.parametrize("name", ["rows", "rows.json", "rows.csv", "rows.JSONL"])
def test_a_file_name_that_does_not_say_its_kind_is_refused(name, tmp_path):
    with pytest.raises(InputError, match=r"out must end in \.jsonl or \.parquet, got"):
        write_rows(tmp_path / name, [])
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_if_making_the_rows_fails(tmp_path):
    def some():
        yield {"question": 1}
        raise InputError("no more")

    with pytest.raises(InputError, match="no more"):
        write_rows(tmp_path / "rows.jsonl", some())
    assert list(tmp_path.iterdir()) == []


def test_without_the_language_model_extra_the_error_says_how_to_get_it(monkeypatch, tmp_path):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(rows.importlib, "import_module", absent)
    with pytest.raises(InputError, match=r"pip install 'stepladder\[llm\]'"):
        write_rows(tmp_path / "rows.parquet", [{"a": 1}])
    monkeypatch.setattr(rows.importlib, "import_module", importlib.import_module)


def test_jsonl_holds_any_text(tmp_path):
    path = tmp_path / "rows.jsonl"
    row = {"question": "\ud800\x00\u2028\nπ", "answer": 1}
    write_rows(path, [row])
    assert [found for _, found in load(path)] == [row]
    assert json.loads(path.read_text()) == row
