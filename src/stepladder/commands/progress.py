"""A progress bar on stderr for anything that takes more than two seconds."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from stepladder.commands.console import stderr

PATIENCE = 2.0
"""Seconds before a bar appears."""
PLAIN_EVERY = 60.0
"""Seconds between lines where there is no terminal to draw a bar on."""


class Bar:
    """A bar that stays away from quick work; in pipes and log files it is a line a minute.

    >>> with Bar("training") as bar:
    ...     bar.fraction(0.5)
    ...     bar.describe("still training")
    """

    def __init__(self, what: str) -> None:
        """Name the work."""
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        self.progress = Progress(*columns, console=stderr, transient=True)
        self.task = self.progress.add_task(what, total=None)
        self.started = self.told = time.monotonic()
        self.shown = False

    def __enter__(self) -> Self:
        """Start the clock."""
        self.started = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar away."""
        if self.shown:
            self.progress.stop()

    def fraction(self, done: float) -> None:
        """Say how much is done, from 0 to 1."""
        self._show()
        self.progress.update(self.task, total=1.0, completed=done)
        if not stderr.is_terminal and time.monotonic() - self.told > PLAIN_EVERY:
            self.told = time.monotonic()
            stderr.print(f"{self.progress.tasks[0].description}: {done:.0%}", markup=False, soft_wrap=True)

    def describe(self, what: str) -> None:
        """Say what is going on."""
        self._show()
        self.progress.update(self.task, description=what)

    def _show(self) -> None:
        if not self.shown and stderr.is_terminal and time.monotonic() - self.started > PATIENCE:
            self.progress.start()
            self.shown = True
