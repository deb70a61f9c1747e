"""Finished runs are kept, cut lines dropped, and only what is missing is done again."""

from operator import attrgetter
from pathlib import Path

import pytest

from stepladder.posttrain.run_log import RunLog
from stepladder.scaling import Interval

# Other processes import what they are given, so runs and work are things that they can import.
THREE, FOUR, FIVE = (Interval(number, 0.0, 1.0) for number in (3.0, 4.0, 5.0))
value, refuses = attrgetter("value"), attrgetter("nothing")


def finish(path: Path, runs, work=value):
    told = []
    log = RunLog(path)
    log.finish(runs, work, 2, lambda done, what: told.append(done))
    return log, told


def test_every_run_is_on_disk_and_progress_reaches_the_end(tmp_path):
    log, told = finish(tmp_path / "runs.jsonl", [THREE, FOUR])
    assert log[THREE] == 3.0
    assert told == [0.0, 0.5, 1.0]
    assert RunLog(tmp_path / "runs.jsonl").known == log.known


def test_finished_runs_are_not_done_again(tmp_path):
    finish(tmp_path / "runs.jsonl", [THREE])
    log, _ = finish(tmp_path / "runs.jsonl", [THREE], refuses)
    assert log[THREE] == 3.0


def test_a_line_that_was_cut_short_is_dropped_and_done_again(tmp_path):
    path = tmp_path / "runs.jsonl"
    finish(path, [THREE, FOUR])
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[1][:9])
    log = RunLog(path)
    assert len(log.known) == 1
    assert path.read_text() == lines[0]


def test_a_run_that_fails_is_an_error_and_the_others_are_kept(tmp_path):
    finish(tmp_path / "runs.jsonl", [THREE])
    with pytest.raises(AttributeError, match="nothing"):
        finish(tmp_path / "runs.jsonl", [THREE, FIVE], refuses)
    assert len(RunLog(tmp_path / "runs.jsonl").known) == 1
