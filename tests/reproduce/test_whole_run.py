"""The real thing, in processes of its own: the whole quick run, and a run that is killed."""

import json
import math
import os
import signal
import subprocess
import sys
import time

import pytest

from stepladder.reproduce.run import FIGURES, Reproduction, reproduce

SUBSET = ("index", "query-index", "margins")


def start(*arguments, threads=1):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    command = [sys.executable, "-m", "stepladder", "reproduce", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=environment, text=True, **pipes)


def numbers(value):
    """Every number in JSON data."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, int | float):
        yield float(value)


def refuse(constant):
    raise AssertionError(f"{constant} is no number")


@pytest.mark.slow
def test_the_whole_quick_run_ends_with_every_figure_every_row_and_finite_numbers(tmp_path):
    process = start("--quick", "--out", tmp_path, "--json")
    out, err = process.communicate(timeout=900)
    assert (process.returncode, err) == (0, "")
    assert json.loads(out)["made"] == [*FIGURES, "published"]

    results = json.loads((tmp_path / "results.json").read_text(), parse_constant=refuse)
    assert list(results["figures"]) == list(FIGURES)
    assert all(math.isfinite(number) for number in numbers(results))
    assert len(results["published"]) == 15
    for name in FIGURES:
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (tmp_path / f"{name}.svg").read_bytes()[:2000]
    assert (tmp_path / "report.html").stat().st_size < 5_000_000
    about = json.loads((tmp_path / "run.json").read_text())
    assert "times less" in about["speed"]
    assert not [path for path in tmp_path.rglob(".*") if path.is_file()]

    # Quick is rough, not wrong: the fixed n of every method is within a factor 2 of the table in the README.
    fixed = {(row["setting"], row["method"]): row["fixed_n"] for row in results["published"]}
    known = {
        "d = 8, k = 3": (33_554_432, 512, 512),
        "d = 16, k = 2": (33_554_432, 1_024, 1_449),
        "d = 32, k = 2": (1_518_500_250, 2_897, 2_897),
    }
    for setting, sizes in known.items():
        methods = ("no_curriculum", "depth_increasing", "hint_decreasing")
        for method, size in zip(methods, sizes, strict=True):
            assert size / 2 <= fixed[setting, method] <= 2 * size


@pytest.mark.slow
def test_a_killed_run_ends_the_same_when_run_again_in_another_process(tmp_path):
    out = tmp_path / "killed"
    process = start(*SUBSET, "--quick", "--out", out)
    first = out / "data" / "index.json"
    end = time.monotonic() + 300
    while not first.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert not (out / "results.json").exists()
    json.loads(first.read_text())

    # Another number of threads: the same sums in the same order all the same.
    again = start(*SUBSET, "--quick", "--out", out, threads=2)
    again.communicate(timeout=600)
    assert again.returncode == 0
    here = tmp_path / "here"
    reproduce(Reproduction(here, SUBSET, quick=True))
    assert (out / "results.json").read_bytes() == (here / "results.json").read_bytes()
    for name in SUBSET:
        for suffix in ("png", "svg"):
            assert (out / f"{name}.{suffix}").read_bytes() == (here / f"{name}.{suffix}").read_bytes()
