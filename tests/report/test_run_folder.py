"""Files are written whole or not at all, whatever interrupts the write."""

import json
import os
from pathlib import Path

import pytest
import yaml

from stepladder.errors import InputError
from stepladder.files import make_folder, write_whole
from stepladder.report.run_folder import write_run
from stepladder.report.style import new_figure


class Interrupted(BaseException):
    """Stands for Ctrl-C, a full disk or anything else."""


def everything_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def interrupt(*_args, **_options):
    raise Interrupted


@pytest.fixture(params=["while writing", "before the rename"])
def interruption(request, monkeypatch):
    """An interruption of write_whole, early or late."""
    if request.param == "before the rename":
        monkeypatch.setattr(Path, "replace", interrupt)
        return
    opened = os.fdopen

    class Half:
        def __init__(self, *args):
            self.file = opened(*args)

        def __enter__(self):
            return self

        def __exit__(self, *_error):
            self.file.close()

        def write(self, data):
            self.file.write(data[: len(data) // 2])
            self.file.flush()
            raise Interrupted

    monkeypatch.setattr(os, "fdopen", Half)


def test_text_and_bytes_arrive_as_they_are_with_folders_made_on_the_way(tmp_path):
    write_whole(tmp_path / "a" / "b.txt", "päth\n")
    write_whole(tmp_path / "a" / "c.bin", b"\x00\xff")
    assert (tmp_path / "a" / "b.txt").read_bytes() == "päth\n".encode()
    assert (tmp_path / "a" / "c.bin").read_bytes() == b"\x00\xff"
    assert everything_in(tmp_path) == ["a", "a/b.txt", "a/c.bin"]


def test_a_written_file_may_be_read_by_others(tmp_path):
    write_whole(tmp_path / "a", "x")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644


def test_an_interrupted_write_leaves_no_file(tmp_path, interruption):
    with pytest.raises(Interrupted):
        write_whole(tmp_path / "result.json", "x" * 100_000)
    assert everything_in(tmp_path) == []


def test_an_interrupted_write_leaves_the_old_file_as_it_was(tmp_path, interruption):
    (tmp_path / "result.json").write_text("old")
    with pytest.raises(Interrupted):
        write_whole(tmp_path / "result.json", "new" * 100_000)
    assert (tmp_path / "result.json").read_text() == "old"
    assert everything_in(tmp_path) == ["result.json"]


def test_a_folder_that_cannot_be_made_is_named_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match=f"out {folder} cannot be used as a folder") as refusal:
            make_folder(folder)
        assert "\n" not in str(refusal.value)


def test_a_file_whose_place_is_taken_by_a_folder_is_refused_in_one_line_and_leaves_nothing(tmp_path):
    (tmp_path / "tree.png").mkdir()
    with pytest.raises(InputError, match=r"tree\.png"):
        write_whole(tmp_path / "tree.png", b"picture")
    assert everything_in(tmp_path) == ["tree.png"]


def test_a_run_folder_holds_config_results_and_each_figure_twice(tmp_path):
    figure, _ = new_figure(2, 2)
    written = write_run(tmp_path / "run", {"d": 8, "secret": "0,1,2"}, {"accuracy": 0.5}, {"map": figure})
    assert everything_in(tmp_path / "run") == ["config.yaml", "map.png", "map.svg", "results.json"]
    assert sorted(written) == sorted((tmp_path / "run").iterdir())
    assert yaml.safe_load((tmp_path / "run" / "config.yaml").read_text()) == {"d": 8, "secret": "0,1,2"}
    assert json.loads((tmp_path / "run" / "results.json").read_text()) == {"accuracy": 0.5}


def test_a_result_that_is_not_a_number_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write_run(tmp_path / "run", {}, {"accuracy": float("nan")}, {})
    assert everything_in(tmp_path) == []
