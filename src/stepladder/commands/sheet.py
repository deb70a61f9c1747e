"""A table as plain text cells, for the terminal and for Markdown alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.markup import escape
from rich.table import Table


@dataclass(frozen=True)
class Sheet:
    """Heads and rows; the first `names` columns hold names, the others numbers."""

    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    names: int = 2

    def table(self) -> Table:
        """Return the table for a terminal."""
        table = Table(title=escape(self.title))
        for place, head in enumerate(self.heads):
            table.add_column(escape(head), justify="left" if place < self.names else "right", no_wrap=True)
        for row in self.rows:
            table.add_row(*map(escape, row))
        return table

    def markdown(self) -> str:
        """Return the table with its title as Markdown.

        >>> print(Sheet("Costs", ("what", "unit", "cost"), [("run", "s", "3")]).markdown())
        **Costs**
        <BLANKLINE>
        | what | unit | cost |
        |---|---|---:|
        | run | s | 3 |
        <BLANKLINE>
        """
        rule = "|" + "---|" * self.names + "---:|" * (len(self.heads) - self.names)
        lines = [f"| {' | '.join(row)} |" for row in (self.heads, *self.rows)]
        return "\n".join([f"**{self.title}**", "", lines[0], rule, *lines[1:]]) + "\n"
