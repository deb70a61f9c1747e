"""`stepladder profile`: how often does a model succeed, by level and by how much of the solution is given?"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from rich.table import Table

from stepladder.commands.console import print_json, print_table, say
from stepladder.commands.model_options import ModelOptions
from stepladder.commands.progress import Bar
from stepladder.errors import check_between, check_seed
from stepladder.files import make_folder, write_whole
from stepladder.tasks.catalogue import TaskName

if TYPE_CHECKING:
    from stepladder.evaluate.profile import Profile


@dataclass(frozen=True)
class Command:
    """Measure a model's pass rates along the ladders to a level, in as many samples as the question needs.

    Try: stepladder profile parity --d 6 --secret 0,1,2 --form hidden --limit 256

    Try: stepladder profile countdown --model Qwen/Qwen2.5-1.5B-Instruct --out runs/qwen-countdown
    """

    task: Annotated[TaskName, tyro.conf.Positional]
    """Which task."""
    model: tyro.conf.OmitArgPrefixes[ModelOptions] = field(default_factory=ModelOptions)
    """The model, the task's options and the decoding."""
    level: int | None = None
    """The level to reach; the hardest by default."""
    limit: int = 1024
    """Most samples for one rate."""
    out: Path | None = None
    """Folder for samples.jsonl and profile.json; a killed run goes on from there."""
    seed: int = 0
    """Seed of problems and sampling."""
    json: bool = False
    """Print one JSON object instead."""

    def run(self) -> None:
        """Sample and print."""
        found = measure(self.task, self.model, self.level, self.limit, self.out, self.seed)
        if self.out is not None:
            write_profile(self.out, found)
        if self.json:
            print_json(found.to_json())
            return
        print_table(profile_table(found))
        if self.out is not None:
            say(f"wrote {self.out / 'profile.json'}")


def measure(
    task: TaskName, model: ModelOptions, level: int | None, limit: int, out: Path | None, seed: int
) -> Profile:
    """Run a profile, keeping its samples in a folder if there is one."""
    from stepladder.evaluate.profile import FIRST_ROUND, profile

    check_seed(seed)
    check_between("limit", limit, FIRST_ROUND, 10**7)
    if level is not None:
        model.task(task).check_level(level)
    if out is not None:
        make_folder(out)
    with Bar(f"profile of {model.model}") as bar:
        sampler = model.sampler(task, None if out is None else out / "samples.jsonl", seed, bar)

        def progress(done: float, what: str) -> None:
            bar.describe(what)
            bar.fraction(done)

        found = profile(sampler, model.model, level, limit, progress)
    found.options = model.task_options()
    return found


def write_profile(folder: Path, found: Profile) -> None:
    """Write profile.json."""
    import json

    write_whole(folder / "profile.json", json.dumps(found.to_json(), indent=1) + "\n")


def profile_table(found: Profile) -> Table:
    """Show every cell with its interval."""
    table = Table(title=f"{found.model} on {found.task}: success rates")
    for column in ("level", "given", "passed", "samples", "rate [95%]"):
        table.add_column(column, justify="right")
    for cell in found.cells:
        rate = cell.rate
        shown = str(rate) if cell.successes else f"below {float(rate.high):.2g}"
        given = f"{cell.slices}/{cell.of}" if cell.slices else "nothing"
        table.add_row(str(cell.level), given, f"{cell.successes:,}", f"{cell.trials:,}", shown)
    return table
