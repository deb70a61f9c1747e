"""Rows on disk by training step, appended as they come; a resumed run forgets those after its checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stepladder.files import write_whole


class StepLog:
    """A JSONL file whose rows have a `step`."""

    def __init__(self, path: Path) -> None:
        """Take the file; it need not exist."""
        self.path = path

    def append(self, step: int, row: dict[str, Any]) -> None:
        """Write one row."""
        with self.path.open("a") as file:
            file.write(json.dumps({"step": step, **row}) + "\n")

    def rows(self) -> Iterator[dict[str, Any]]:
        """Read the rows that were written to their end."""
        text = self.path.read_text() if self.path.exists() else ""
        for line in text.splitlines(keepends=True):
            if line.endswith("\n"):
                yield json.loads(line)

    def forget_after(self, step: int) -> None:
        """Keep the rows up to a step only."""
        kept = [row for row in self.rows() if row["step"] <= step]
        write_whole(self.path, "".join(json.dumps(row) + "\n" for row in kept))
