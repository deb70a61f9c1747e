"""Workers leave with whoever started them."""

import signal
import subprocess
import sys
import time
from pathlib import Path

CODE = """
import multiprocessing, os, time
from concurrent.futures import ProcessPoolExecutor
from stepladder.processes import begin_worker

if __name__ == "__main__":
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), begin_worker) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        pool.submit(time.sleep, 600)
        time.sleep(600)
"""


def alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_worker_ends_when_its_parent_is_killed(tmp_path):
    script = tmp_path / "start.py"
    script.write_text(CODE)
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    parent = subprocess.Popen([sys.executable, str(script)], **quiet)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    assert alive(worker)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 30
    while alive(worker):
        assert time.monotonic() < deadline, "the worker is still there"
        time.sleep(0.05)
