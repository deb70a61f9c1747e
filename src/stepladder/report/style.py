"""One look for every figure: the Okabe-Ito colours, which colour-blind readers can tell apart.

A method has the same colour everywhere.
"""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
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


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure in the house style, size in inches."""
    with mpl.rc_context(SETTINGS):
        return Figure(figsize=(width, height), layout="constrained")


def render(figure: Figure, suffix: str) -> bytes:
    """Return the figure as the bytes of a PNG or SVG file, the same bytes every time."""
    buffer = io.BytesIO()
    metadata: dict[str, str | None] = {"Date": None} if suffix == "svg" else {"Software": "stepladder"}
    with mpl.rc_context(SETTINGS):
        figure.savefig(buffer, format=suffix, metadata=metadata)
    return buffer.getvalue()
