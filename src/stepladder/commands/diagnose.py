"""`stepladder diagnose`: will a curriculum pay for this model on this task, and which one?"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
import yaml
from rich.markup import escape
from rich.table import Table

from stepladder.commands.console import print_json, print_table, say, stdout
from stepladder.commands.model_options import ModelOptions
from stepladder.commands.profile import measure, profile_table, write_profile
from stepladder.errors import InputError
from stepladder.files import write_whole
from stepladder.report.style import render
from stepladder.tasks.catalogue import TaskName

if TYPE_CHECKING:
    from stepladder.evaluate.diagnose import Diagnosis
    from stepladder.evaluate.profile import Profile

LIMITS = (
    "The numbers are calibrated on reasoning trees with one large step a stage. On small transformers trained "
    "by GRPO the saving was far smaller than predicted: see docs/commands/experiment.md."
)


@dataclass(frozen=True)
class Command:
    """Predict from a profile whether a curriculum pays; "does not pay" is a normal answer.

    Try: stepladder diagnose parity --d 6 --secret 0,1,2 --form hidden --limit 256 --out runs/diagnosis

    Try: stepladder diagnose countdown --profile runs/qwen-countdown/profile.json
    """

    task: Annotated[TaskName, tyro.conf.Positional]
    """Which task."""
    profile: Path | None = None
    """A profile.json of `stepladder profile`; measured anew without it."""
    model: tyro.conf.OmitArgPrefixes[ModelOptions] = field(default_factory=ModelOptions)
    """The model, the task's options and the decoding."""
    level: int | None = None
    """The level to reach; the hardest by default."""
    limit: int = 1024
    """Most samples for one rate."""
    out: Path | None = None
    """Folder for the profile, the picture, diagnosis.json and recipe.yaml."""
    seed: int = 0
    """Seed of problems, sampling and intervals."""
    json: bool = False
    """Print one JSON object instead."""

    def run(self) -> None:
        """Measure or read, predict and print."""
        from stepladder.evaluate.diagnose import diagnose

        found = self._profile()
        diagnosis = diagnose(found, self.seed)
        written = [] if self.out is None else self._write(self.out, found, diagnosis)
        if self.json:
            print_json({**diagnosis.to_json(), "profile": found.to_json()})
            return
        print_table(profile_table(found))
        print_table(_table(diagnosis))
        stdout.print(f"[bold]{diagnosis.sentence}[/bold] {escape(diagnosis.reasons)}")
        stdout.print(LIMITS)
        for path in written:
            say(f"wrote {path}")

    def _profile(self) -> Profile:
        from stepladder.evaluate.profile import Profile

        if self.profile is None:
            return measure(self.task, self.model, self.level, self.limit, self.out, self.seed)
        if self.model != ModelOptions() or self.level is not None:
            raise InputError("has its own model, level and task options; leave out the others", "profile")
        try:
            data = json.loads(self.profile.read_text())
        except (OSError, ValueError) as error:
            raise InputError(f"{self.profile} cannot be read: {error}", option="profile") from error
        found = Profile.from_json(data)
        if found.task != self.task:
            raise InputError(f"{self.profile} is of {found.task}, not of {self.task}", option="profile")
        return found

    def _write(self, folder: Path, found: Profile, diagnosis: Diagnosis) -> list[Path]:
        from stepladder.evaluate.diagnose import recipe
        from stepladder.report.ladder_figure import ladder_figure

        write_profile(folder, found)
        figure = ladder_figure(found, diagnosis)
        plan = recipe(found, diagnosis)
        contents: dict[str, bytes | str] = {
            "diagnosis.json": json.dumps(diagnosis.to_json(), indent=1) + "\n",
            "recipe.yaml": yaml.safe_dump(plan, sort_keys=False),
            "ladder.png": render(figure, "png"),
            "ladder.svg": render(figure, "svg"),
        }
        for name, content in contents.items():
            write_whole(folder / name, content)
        return [folder / name for name in ("profile.json", *contents)]


def _table(diagnosis: Diagnosis) -> Table:
    table = Table(title="Predicted rollouts to 99%")
    for column in ("curriculum", "stages", "per stage", "in all", "direct", "saving [95%]", "verdict"):
        table.add_column(column, justify="right")
    for method, one in diagnosis.predictions.items():
        table.add_row(
            method,
            str(one.stages),
            f"{one.curriculum.value / one.stages:,.0f}",
            f"{one.curriculum.value:,.0f}",
            f"{one.direct.value:,.0f}",
            f"{one.ratio.value:,.3g} [{one.ratio.low:,.3g}, {one.ratio.high:,.3g}]",
            one.verdict,
        )
    return table
