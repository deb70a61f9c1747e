"""Time two ways of doing the same work in one run, and report the outcome as one JSON line.

The repetitions alternate, ours and the baseline's in turn, so that a slow spell of the machine hits
both; the best of each counts. A benchmark is ok when `ratio >= target`.
"""

import json
import time
from collections.abc import Callable


def seconds_of(work: Callable[[], object]) -> float:
    """Return the wall-clock seconds of one call, its result thrown away within the time."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def alternate(
    ours: Callable[[], object], baseline: Callable[[], object], repetitions: int = 3
) -> tuple[float, float]:
    """Return the best seconds of each callable over alternating repetitions."""
    pairs = [(seconds_of(ours), seconds_of(baseline)) for _ in range(repetitions)]
    return min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)


def report(name: str, ratio: float, target: float, **measured: float) -> int:
    """Print the benchmark's JSON line and return its exit code, 1 if the target is missed."""
    ok = ratio >= target
    line = {"name": name, "ratio": round(ratio, 2), "target": target, "ok": ok}
    print(json.dumps(line | {key: round(value, 4) for key, value in measured.items()}), flush=True)
    return 0 if ok else 1


def compare(name: str, target: float, ours: Callable[[], object], baseline: Callable[[], object]) -> int:
    """Time both and report how many times faster ours is than the baseline."""
    seconds, baseline_seconds = alternate(ours, baseline)
    return report(name, baseline_seconds / seconds, target, seconds=seconds, baseline_seconds=baseline_seconds)
