"""The real thing, in processes of its own: the whole quick run, and a run that is killed."""

import json
import math
import os
import random
import subprocess
import sys
import time

import pytest

from stepladder.reproduce.run import FIGURES

SUBSET = ("index", "query-index", "margins")


def start(*arguments, threads=1):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    command = [sys.executable, "-m", "stepladder", "reproduce", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=environment, text=True, **pipes)


def finish(*arguments, threads=1):
    """Run to the end without a complaint; return what was printed. A slow run tells how far it is."""
    process = start(*arguments, threads=threads)
    out, err = process.communicate(timeout=900)
    assert process.returncode == 0, err
    assert all(line.endswith("%") for line in err.splitlines()), err
    return out


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
    assert json.loads(finish("--quick", "--out", tmp_path, "--json"))["made"] == [*FIGURES, "published"]

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
def test_a_run_killed_at_three_random_moments_and_run_again_gives_the_same_files(tmp_path):
    whole = tmp_path / "whole"
    began = time.monotonic()
    finish(*SUBSET, "--quick", "--out", whole)
    seconds = time.monotonic() - began

    out = tmp_path / "killed"
    for moment in sorted(random.Random(0).uniform(0.2, 0.9) for _ in range(3)):
        process = start(*SUBSET, "--quick", "--out", out)
        time.sleep(moment * seconds)
        process.kill()
        process.communicate()
        for path in out.rglob("*.json"):
            json.loads(path.read_text())

    # Another number of threads: the same sums in the same order all the same.
    finish(*SUBSET, "--quick", "--out", out, threads=2)
    for name in ("results.json", *(f"{figure}.{suffix}" for figure in SUBSET for suffix in ("png", "svg"))):
        assert (out / name).read_bytes() == (whole / name).read_bytes(), name
