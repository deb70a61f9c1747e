"""`stepladder experiment`: the theorem on a real transformer trained by GRPO."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.table import Table

from stepladder.commands.console import print_json, stdout
from stepladder.commands.progress import Bar
from stepladder.errors import InputError, check_between
from stepladder.files import make_folder
from stepladder.report.run_folder import write_run


@dataclass(frozen=True)
class Command:
    """Train a small transformer on hidden parity with and without a curriculum, at equal budgets.

    Try: stepladder experiment hidden-parity --out runs/hidden-parity
    """

    name: Annotated[Literal["hidden-parity"], tyro.conf.Positional]
    """Which experiment."""
    out: Path
    """Folder for the base model, runs.jsonl, results.json and the figure; a killed experiment goes on there."""
    seeds: int = 5
    """Seeds that are reported."""
    budget: int = 51200
    """Rollouts of each run."""
    secrets: str | None = None
    """Secrets such as 0,1,2,3:0,1,2; by default three of four picks, one of three and one of two."""
    seed: int = 0
    """Taken by every command; the experiment has fixed seeds, 0 to --seeds."""
    json: bool = False
    """Print one JSON object instead."""

    def run(self) -> None:
        """Run what is missing, and print."""
        from stepladder.commands.console import whole_numbers

        check_between("seeds", self.seeds, 1, 1000)
        check_between("budget", self.budget, 5120, 10**9)
        hidden = _import_experiment()
        given = None if self.secrets is None else self.secrets.split(":")
        secrets = tuple(whole_numbers(one, "secrets") for one in given) if given else hidden.SECRETS
        plan = hidden.Plan(secrets, self.seeds, self.budget)
        make_folder(self.out)
        with Bar("hidden parity") as bar:

            def report(done: float, what: str) -> None:
                bar.describe(what)
                bar.fraction(done)

            found = hidden.experiment(plan, self.out, report)
        from stepladder.report.experiment_figure import experiment_figure

        config = {"secrets": [list(one) for one in secrets], "seeds": self.seeds, "budget": self.budget}
        write_run(self.out, config, found, {"hidden-parity": experiment_figure(found)})
        if self.json:
            print_json(found)
            return
        stdout.print(_table(found))
        stdout.print(f"wrote {self.out}")


def _import_experiment() -> Any:
    try:
        from stepladder.posttrain import hidden_experiment
    except ImportError as error:
        raise InputError(f"the experiment needs {error.name}: pip install 'stepladder[llm]'") from error
    return hidden_experiment


def _table(found: dict[str, Any]) -> Table:
    table = Table(title=f"Hidden parity, d = {found['d']}, {found['budget']:,} rollouts a run")
    for column in ("secret", "method", "accuracy", "exact path", "rollouts to .9", "to .99", "predicted"):
        table.add_column(column, justify="right")
    for cell in found["cells"]:
        predicted = found["diagnoses"][cell["secret"]].get(cell["method"])
        table.add_row(
            cell["secret"],
            cell["method"],
            _range(cell["accuracy"], "{:.3f}"),
            _range(cell["exact_path"], "{:.3f}"),
            _range(cell["rollouts_to_0.9"], "{:,}"),
            _range(cell["rollouts_to_0.99"], "{:,}"),
            "" if predicted is None else f"{predicted['saving']['value']:,.0f}x, {predicted['verdict']}",
        )
    return table


def _range(values: list[float | None], form: str) -> str:
    """Show median and range over seeds; a run that never got there counts as the largest."""
    reached = sorted(value for value in values if value is not None)
    missing = len(values) - len(reached)
    if not reached:
        return "never"
    middle = len(values) // 2
    shown = form.format(reached[middle]) if middle < len(reached) else "never"
    last = "never" if missing else form.format(reached[-1])
    return f"{shown} [{form.format(reached[0])}, {last}]"
