"""`stepladder reproduce`: the paper's synthetic results, with a report."""

from __future__ import annotations

import json
import platform
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tyro

from stepladder.commands.console import print_json, say, stdout
from stepladder.commands.progress import Bar
from stepladder.files import write_whole
from stepladder.report.reproduction_page import write_report
from stepladder.reproduce.run import Reproduction, figure_names, pending, reproduce
from stepladder.reproduce.scale import FULL, QUICK
from stepladder.reproduce.speed import rollouts_of_accuracy, rollouts_per_second

LIBRARIES = ("stepladder", "numpy", "scipy", "torch", "plotly", "matplotlib")
"""Whose versions a report names."""


@dataclass(frozen=True)
class Command:
    """Reproduce the paper's synthetic results: figures, the table published against measured, a report.

    Try: stepladder reproduce --quick --out runs/quick

    Try: stepladder reproduce accuracy growth --out runs/paper

    Figures: accuracy, attention-stages, attention-direct, index, queries, query-index, small-steps, growth,
    secrets, margins, published. An interrupted run resumes where it was.
    """

    figures: tyro.conf.Positional[tuple[str, ...]] = ()
    """Which figures; all of them by default."""
    out: Path = Path("runs/reproduce")
    """Folder for the data, the figures as PNG and SVG, and report.html."""
    quick: bool = False
    """Small samples: the same figures in well under a minute."""
    seed: int = 0
    """The same seed gives the same results.json."""
    json: bool = False
    """Print one JSON object instead."""

    def run(self) -> None:
        """Compute, draw, write the report."""
        plan = Reproduction(self.out, figure_names(self.figures), self.quick, self.seed)
        fresh = pending(plan)
        seconds: dict[str, float] = {}
        started = time.perf_counter()

        def step(name: str, done: int, total: int) -> None:
            seconds[name] = time.perf_counter()
            bar.describe(f"{name} ({done + 1} of {total})")
            bar.fraction(done / total)

        with Bar("reproducing") as bar:
            results = reproduce(plan, step)
            bar.describe("writing the report")
            about = self._about(started, seconds, fresh)
            write_whole(self.out / "run.json", json.dumps(about, indent=1) + "\n")
            page = write_report(self.out)
        if self.json:
            made = [*results["figures"], *(["published"] if "published" in results else [])]
            print_json({"out": str(self.out), "report": str(page), "made": made, "quick": self.quick})
            return
        for row in results.get("published", []):
            stdout.print(f"{row['setting']}  {row['method']}: published {row['published']:,} {row['unit']}")
            stdout.print(f"    {row['verdict']}")
        stdout.print(f"\n{len(results['figures'])} figures in {time.perf_counter() - started:.0f} s")
        say(f"open {page}")

    def _about(self, started: float, seconds: dict[str, float], fresh: tuple[str, ...]) -> dict[str, Any]:
        """Say how the run went. Not part of results.json, which depends on the seed alone."""
        now = time.perf_counter()
        names, starts = list(seconds), [*seconds.values(), now]
        took = {name: starts[i + 1] - starts[i] for i, name in enumerate(names)}
        run = {
            "options": f"quick {self.quick}, seed {self.seed}",
            "seconds in all": f"{now - started:.1f}",
            **{f"seconds, {name}": f"{value:.1f}" for name, value in took.items()},
            "python": platform.python_version(),
            "processor": f"{platform.machine()}",
            **{
                name: version(name)
                for name in ("stepladder", "numpy", "scipy", "torch", "plotly", "matplotlib")
            },
        }
        about: dict[str, Any] = {"run": run}
        if "accuracy" in fresh:
            rate = rollouts_per_second()
            count = rollouts_of_accuracy(QUICK if self.quick else FULL)
            times = count / rate / took["accuracy"]
            about["speed"] = (
                f"The accuracy figure stands for {count:.2g} rollouts. Running them at {_rough(rate)} per "
                f"second would take {_rough(count / rate / 3600)} hours; exact counting took "
                f"{took['accuracy']:.0f} s, about {_rough(times)} times less."
            )
        return about


def _rough(value: float) -> str:
    """Show two digits: a measured speed has no more.

    >>> _rough(482311.0)
    '480,000'
    """
    return f"{float(f'{value:.2g}'):,.0f}"
