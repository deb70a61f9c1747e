"""`stepladder report`: build a run's page again from its data alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from stepladder.commands.console import print_json, say
from stepladder.report import reproduction_page, training_page


@dataclass(frozen=True)
class Command:
    """Build report.html from the data of `stepladder reproduce`, or of a `stepladder train`, finished or not.

    Try: stepladder report runs/reproduce

    Try: stepladder report runs/countdown
    """

    folder: tyro.conf.Positional[Path]
    """The run's folder."""
    seed: int = 0
    """Taken by every command; a report is not random."""
    json: bool = False
    """Print one JSON object instead."""

    def run(self) -> None:
        """Write the page."""
        kind = training_page if training_page.is_training(self.folder) else reproduction_page
        page = kind.write_report(self.folder)
        if self.json:
            print_json({"report": str(page)})
        else:
            say(f"wrote {page}")
