"""Many runs in several processes, each appended to a file when it is finished.

An interrupted set goes on with the runs that are not in the file; a last line that was cut short is dropped.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

from stepladder.errors import InputError
from stepladder.files import write_whole
from stepladder.processes import begin_worker

Report = Callable[[float, str], None]
Outcome = Any
"""What a run leaves: plain data."""


class RunLog:
    """Finished runs on disk; a run is a dataclass of everything its outcome depends on."""

    def __init__(self, path: Path) -> None:
        """Read what is finished."""
        self.path = path
        self.known: dict[str, Outcome] = {}
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        whole = [line for line in lines if line.endswith("\n")]
        if len(whole) < len(lines):
            write_whole(path, "".join(whole))
        for number, line in enumerate(whole, start=1):
            try:
                entry = json.loads(line)
                self.known[json.dumps(entry["run"])] = entry["outcome"]
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(
                    f"{path}, line {number} is no finished run; take the line out", "out"
                ) from error

    def __getitem__(self, run: Any) -> Outcome:
        """Return what a finished run left."""
        return self.known[_key(run)]

    def finish(
        self,
        runs: Sequence[Any],
        work: Callable[[Any], Outcome],
        jobs: int,
        report: Report,
        before: int = 0,
        after: int = 0,
    ) -> None:
        """Do the runs that are missing, `jobs` at a time; of the whole set, some come before and after them."""
        missing = [run for run in runs if _key(run) not in self.known]
        if not missing:
            return
        os.environ["OMP_NUM_THREADS"] = "1"  # for the new processes: they share the cores
        total = before + len(runs) + after

        def tell() -> None:
            done = before + sum(_key(run) in self.known for run in runs)
            report(done / total, f"{done} of {total} runs finished")

        tell()
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), begin_worker) as pool:
            futures = {pool.submit(work, run): run for run in missing}
            try:
                for future in as_completed(futures):
                    self._add(futures[future], future.result())
                    tell()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _add(self, run: Any, outcome: Outcome) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps({"run": asdict(run), "outcome": outcome}) + "\n")
        self.known[_key(run)] = outcome


def _key(run: Any) -> str:
    return json.dumps(asdict(run))
