"""One look for every figure: the Okabe-Ito colours, which colour-blind readers can tell apart.

A method has the same colour everywhere.
"""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

BLACK, GREY, FAINT = "#1a1a1a", "#767676", "#c8c8c8"
GREEN, BLUE, ORANGE, VERMILION, PURPLE, SKY = (
    "#009e73",
    "#0072b2",
    "#e69f00",
    "#d55e00",
    "#cc79a7",
    "#56b4e9",
)

PALETTE = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION)
"""For series that are no method."""

COLOURS = {
    "no_curriculum": VERMILION,
    "depth_increasing": BLUE,
    "hint_decreasing": GREEN,
    "bai": ORANGE,
    "ltar": PURPLE,
}
"""Every method's colour."""

LABELS = {
    "no_curriculum": "A: no curriculum",
    "depth_increasing": "B: depth-increasing",
    "hint_decreasing": "C: hint-decreasing",
    "bai": "FXRS + BAI (no curriculum)",
    "ltar": "LTAR (curriculum)",
}
"""What figures call a method."""

SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "axes.axisbelow": True,
    "svg.hashsalt": "stepladder",
    "svg.fonttype": "path",
    "savefig.dpi": 160,
}


def new_figure(width: float, height: float, rows: int = 1, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """Return a figure in the house style, size in inches, and its panels row by row."""
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def render(figure: Figure, suffix: str) -> bytes:
    """Return the figure as the bytes of a PNG or SVG file, the same bytes every time."""
    buffer = io.BytesIO()
    metadata: dict[str, str | None] = {"Date": None} if suffix == "svg" else {"Software": "stepladder"}
    with mpl.rc_context(SETTINGS):
        figure.savefig(buffer, format=suffix, metadata=metadata)
    return buffer.getvalue()
