"""A chart as plain data: panels of lines or of one heat map, ready for JSON and for any renderer."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Series:
    """One line with error bars. `method` sets the colour; None is a neutral line such as a bound."""

    name: str
    x: list[float]
    y: list[float]
    low: list[float] | None = None
    high: list[float] | None = None
    method: str | None = None
    style: Literal["line", "faint", "dashed", "points"] = "line"


@dataclass(frozen=True)
class Heat:
    """An attention map: rows are last picks (root first), columns next picks (EOS last)."""

    values: list[list[float]]
    path: list[tuple[int, int]]
    """(row, column) cells of the intended chain."""
    rows: list[str]
    columns: list[str]


@dataclass(frozen=True)
class Panel:
    """One pair of axes. Heat maps with the same `steps_of` are the steps of one slider."""

    title: str
    x_label: str = ""
    y_label: str = ""
    x_log: bool = False
    y_log: bool = False
    series: list[Series] = field(default_factory=list)
    heat: Heat | None = None
    steps_of: str | None = None


@dataclass(frozen=True)
class Chart:
    """A figure of the report."""

    name: str
    title: str
    caption: str
    paper: str
    """Which figure of the paper it reproduces, or what it adds."""
    panels: list[Panel]

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Chart:
        """Read plain data back."""
        panels = [
            Panel(
                **{
                    **panel,
                    "series": [Series(**series) for series in panel["series"]],
                    "heat": Heat(**panel["heat"]) if panel["heat"] else None,
                }
            )
            for panel in data["panels"]
        ]
        return cls(**{**data, "panels": panels})
