"""The worker: whatever it is asked, the caller gets a verdict in time and no process is left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stepladder.tasks import math_check
from stepladder.tasks.math_check import Outcome, compare

pytest.importorskip("math_verify")
pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="processes are watched through /proc")

ENDLESS = "9^{9^{9^9}}"
SOURCES = str(Path(math_check.__file__).parents[2])


@pytest.fixture(scope="module", autouse=True)
def started():
    assert compare("0.5", r"\frac12") is Outcome.EQUAL


def children_of(pid: int) -> set[int]:
    """The living children of a process."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == pid and state != "Z":
            found.add(int(stat.parent.name))
    return found


def gone(pids: set[int], seconds: float = 3) -> bool:
    """Whether all of the processes end within a time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not any(alive(pid) for pid in pids):
            return True
        time.sleep(0.02)
    return False


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def worker() -> int:
    return math_check._pool.worker.process.pid


def test_a_comparison_without_end_is_cut_off_and_the_next_one_does_not_wait():
    before = worker()
    start = time.monotonic()
    assert compare(ENDLESS, "9") is Outcome.TOO_LONG
    cut = time.monotonic()
    assert compare("3^2", "9") is Outcome.EQUAL
    assert 1 <= cut - start < 2
    assert time.monotonic() - cut < 2
    assert worker() == before


def test_threads_do_not_wait_for_each_others_comparisons():
    with ThreadPoolExecutor(5) as pool:
        endless = [pool.submit(compare, ENDLESS, "9") for _ in range(3)]
        time.sleep(0.1)
        start = time.monotonic()
        assert [pool.submit(compare, "3^2", "9").result() for _ in range(3)] == [Outcome.EQUAL] * 3
        assert time.monotonic() - start < 0.9
        assert not any(one.done() for one in endless)
        assert [one.result() for one in endless] == [Outcome.TOO_LONG] * 3


def test_many_threads_get_the_answers_to_their_own_questions():
    def ask(number: int) -> bool:
        return (compare(str(number % 7), "3.0") is Outcome.EQUAL) == (number % 7 == 3)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(300)))
    assert len(math_check._pool.children) <= 12


def test_a_child_has_bounded_memory():
    (child, *_) = children_of(worker())
    limits = Path(f"/proc/{child}/limits").read_text()
    (line,) = [line for line in limits.splitlines() if line.startswith("Max address space")]
    assert int(line.split()[3]) == math_check._MEMORY


def test_a_child_that_died_is_replaced():
    for child in children_of(worker()):
        os.kill(child, signal.SIGKILL)
        assert gone({child})
    assert compare("3^2", "9") is Outcome.EQUAL


def test_a_child_that_dies_over_a_comparison_gives_a_verdict():
    found = []
    thread = threading.Thread(target=lambda: found.append(compare(ENDLESS, "9")))
    thread.start()
    time.sleep(0.2)
    for child in children_of(worker()):
        os.kill(child, signal.SIGKILL)
    thread.join()
    assert found == [Outcome.BROKEN]


def test_a_worker_that_died_is_replaced():
    before = worker()
    processes = {before} | children_of(before)
    for pid in processes:
        os.kill(pid, signal.SIGKILL)
    assert gone(processes)
    assert compare("3^2", "9") is Outcome.EQUAL
    assert worker() != before


def test_a_child_retires_after_its_share_of_requests(monkeypatch):
    compare("1", "2")
    child = math_check._pool.idle[-1]
    monkeypatch.setattr(math_check, "_REQUESTS_PER_CHILD", child.requests + 1)
    compare("1", "2")
    assert child not in math_check._pool.children | set(math_check._pool.idle)
    assert compare("3^2", "9") is Outcome.EQUAL


def test_a_stale_reply_is_never_taken_for_that_of_the_next_request(monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(math_check._Child, "reply", interrupted)
        with pytest.raises(KeyboardInterrupt):
            compare("3^2", "9")
    assert compare("3", "9") is Outcome.DIFFERENT


FORKED = """
import os, sys
from stepladder.tasks import math_check
from stepladder.tasks.math_check import Outcome, compare
assert compare("3^2", "9") is Outcome.EQUAL
assert "sympy" not in sys.modules
mine = math_check._pool.worker.process.pid
if os.fork() == 0:
    code = 1
    try:
        assert compare("3^2", "9") is Outcome.EQUAL
        assert compare("9^{9^{9^9}}", "9") is Outcome.TOO_LONG
        assert math_check._pool.worker.process.pid != mine
        code = 0
    finally:
        os._exit(code)
assert os.wait()[1] == 0
assert compare("4", "9") is Outcome.DIFFERENT
assert math_check._pool.worker.process.pid == mine
print("well")
"""


def test_a_forked_process_has_a_worker_of_its_own_and_sympy_stays_out_of_the_caller(tmp_path):
    for name in ("math_verify", "socket"):  # nor does the worker import what lies in the current folder
        (tmp_path / f"{name}.py").write_text("raise RuntimeError")
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", FORKED],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": SOURCES},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("well\n", "")


WAITING = """
import threading, time
from stepladder.tasks import math_check
math_check.compare("1", "2")
threading.Thread(target=math_check.compare, args=("9^{9^{9^9}}", "9")).start()
threading.Thread(target=math_check.compare, args=("9^{9^{9^9}}", "9")).start()
time.sleep(0.2)
print(math_check._pool.worker.process.pid, flush=True)
time.sleep(60)
"""


def test_no_process_outlives_a_caller_that_is_killed():
    environment = os.environ | {"PYTHONPATH": SOURCES}
    with subprocess.Popen([sys.executable, "-c", WAITING], env=environment, stdout=subprocess.PIPE) as caller:
        pid = int(caller.stdout.readline())
        processes = {pid} | children_of(pid)
        assert len(processes) == 3
        caller.kill()
    assert gone(processes)


def test_an_interrupt_from_the_terminal_is_not_the_workers():
    assert os.getsid(worker()) == worker() != os.getsid(0)
