"""Sample complexity as a picture: accuracy against n, and n99 against d with the fitted exponent."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from stepladder.report.style import COLOURS, GREY, LABELS, new_figure
from stepladder.scaling import Interval, Point

SIZES = {"bai": "queries per arm", "ltar": "queries per arm"}
"""What n is, where it is not samples per stage."""


def complexity_figure(points: Sequence[Point], exponent: Interval | None) -> Figure:
    """Draw accuracy curves on the left and, with several d, the scaling of the total on the right."""
    method = points[0].question.name
    figure, panels = new_figure(10 if exponent else 5.6, 4, columns=2 if exponent else 1)
    figure.suptitle(LABELS[method])
    shades = mpl.colormaps["viridis"](np.linspace(0, 0.85, len(points)))
    for point, shade in zip(points, shades, strict=True):
        sizes, means, errors = zip(*point.evaluations, strict=True)
        label = f"d = {point.question.d}, k = {point.question.k}"
        panels[0].errorbar(sizes, means, errors, marker="o", markersize=3, color=shade, label=label)
    panels[0].axhline(points[0].question.target, color=GREY, linestyle="--", linewidth=1)
    panels[0].set(xscale="log", xlabel=SIZES.get(method, "samples per stage"), ylabel="mean accuracy")
    panels[0].xaxis.set_minor_formatter(NullFormatter())
    panels[0].legend(frameon=False, fontsize=8)
    if exponent:
        _scaling(panels[1], points, exponent, COLOURS[method])
    return figure


def _scaling(axes: Axes, points: Sequence[Point], exponent: Interval, colour: str) -> None:
    solved = [(p.question.d, p.question.units, p.crossing) for p in points if p.crossing]
    sizes = np.array([d for d, _, _ in solved], dtype=float)
    values = np.array([units * crossing.value for _, units, crossing in solved])
    below = values - [units * crossing.low for _, units, crossing in solved]
    above = np.array([units * crossing.high for _, units, crossing in solved]) - values
    axes.errorbar(sizes, values, [below, above], fmt="o", color=colour, label="measured, 95% interval")
    middle = np.exp(np.log(values).mean() + exponent.value * (np.log(sizes) - np.log(sizes).mean()))
    text = f"d^{exponent.value:.2f} [{exponent.low:.2f}, {exponent.high:.2f}]"
    axes.plot(sizes, middle, color=colour, linewidth=1, label=f"fit: {text}")
    axes.set(xscale="log", yscale="log", xlabel="d", ylabel="total at the target")
    axes.set_xticks(sizes, [f"{size:g}" for size in sizes], minor=False)
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=8)
