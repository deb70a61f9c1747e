"""Many problems: the same whoever makes them, in order, and nobody left behind."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from stepladder.tasks import generate
from stepladder.tasks.catalogue import build_task
from stepladder.tasks.generate import generate_many

COUNT = 7


@pytest.mark.parametrize("name", ["countdown", "blocksworld", "math", "sum"])
def test_several_processes_make_what_one_makes(name, monkeypatch):
    task = build_task(name)
    level = task.levels[1]
    alone = [task.generate(level, index, seed=3) for index in range(COUNT)]
    monkeypatch.setattr(generate, "ALONE_SECONDS", 0.0)
    assert generate_many(task, level, COUNT, seed=3) == alone


def test_one_process_goes_over_to_several_without_a_gap(monkeypatch):
    monkeypatch.setattr(generate, "ALONE_SECONDS", 0.05)
    task = build_task("countdown")
    made = generate_many(task, 1, 30, seed=0)
    assert made == [task.generate(1, index, 0) for index in range(30)]


def test_a_single_core_needs_no_other_process(monkeypatch):
    monkeypatch.setattr(generate, "ALONE_SECONDS", 0.0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    monkeypatch.setattr(generate, "ProcessPoolExecutor", None)
    assert len(generate_many(build_task("sum"), 1, 5, seed=0)) == 5


def test_progress_rises_to_one():
    told = []
    generate_many(build_task("sum"), 1, 5, 0, told.append)
    assert told == [0.2, 0.4, 0.6, 0.8, 1.0]


def children(pid):
    """The processes whose parent, or whose parent's parent, it is, by what Linux tells."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found += [int(path.parent.name), *children(int(path.parent.name))]
    return found


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them")
@pytest.mark.skipif(os.cpu_count() == 1, reason="one core has no other processes")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_one_that_is_interrupted_or_killed(how, tmp_path):
    script = tmp_path / "script.py"
    program = """
        from stepladder.tasks import generate
        from stepladder.tasks.countdown import Countdown
        if __name__ == "__main__":
            generate.ALONE_SECONDS = 0.0
            generate.generate_many(Countdown(), 2, 10**5, 0, lambda done: print("one", flush=True))
    """
    script.write_text(textwrap.dedent(program))
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        others = children(process.pid)
        assert len(others) >= 2
        for pid in [process.pid, *(others if how == signal.SIGINT else [])]:  # a terminal tells all of them
            os.kill(pid, how)
        assert process.wait(timeout=30) != 0
        if how == signal.SIGINT:
            assert process.stderr.read().count("Traceback") == 1
    end = time.monotonic() + 10
    while any(map(alive, others)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(alive, others))
