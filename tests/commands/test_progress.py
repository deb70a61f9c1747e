"""The progress bar: on stderr, for work of more than two seconds, and only for people."""

import importlib
import io

import pytest
from rich.console import Console

from stepladder.commands.progress import PATIENCE, Bar

module = importlib.import_module("stepladder.commands.progress")


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test turns."""
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def screen(monkeypatch, terminal):
    written = io.StringIO()
    monkeypatch.setattr(module, "stderr", Console(file=written, force_terminal=terminal, width=80))
    return written


def test_quick_work_shows_nothing(monkeypatch, clock):
    written = screen(monkeypatch, terminal=True)
    with Bar("training") as bar:
        clock[0] = PATIENCE
        bar.fraction(0.5)
    assert written.getvalue() == ""


def test_long_work_shows_what_is_going_on(monkeypatch, clock):
    written = screen(monkeypatch, terminal=True)
    with Bar("training") as bar:
        clock[0] = PATIENCE + 0.1
        bar.describe("still training")
        bar.fraction(0.5)
    assert "still training" in written.getvalue()


def test_a_pipe_or_a_log_file_gets_one_plain_line_a_minute(monkeypatch, clock):
    written = screen(monkeypatch, terminal=False)
    with Bar("training") as bar:
        bar.describe("still training")
        for clock[0] in range(0, 130):
            bar.fraction(clock[0] / 200)
    assert written.getvalue() == "still training: 30%\nstill training: 61%\n"


def test_the_bar_goes_away_when_the_work_is_interrupted(monkeypatch, clock):
    screen(monkeypatch, terminal=True)
    bar = Bar("training")
    with pytest.raises(KeyboardInterrupt), bar:
        clock[0] = PATIENCE + 1
        bar.fraction(0.1)
        raise KeyboardInterrupt
    assert not bar.progress.live.is_started
