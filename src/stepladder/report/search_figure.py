"""A search as a picture: accuracy against oracle queries, and what one search learned of every pick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from stepladder.report.style import COLOURS, FAINT, GREEN, GREY, LABELS, VERMILION, new_figure
from stepladder.search import Identification, SearchMethod


@dataclass(frozen=True)
class CurvePoint:
    """Mean over searches at one number of queries."""

    queries: float
    accuracy: float
    sem: float


def search_figure(
    method: SearchMethod, curve: Sequence[CurvePoint], used: CurvePoint, found: Identification
) -> Figure:
    """Draw the curve (left, where there is one) and the arms of the first search, depth by depth."""
    depths = len(found.searched)
    panels = depths + bool(curve)
    figure, axes = new_figure(3.2 * panels + 0.5, 3.6, columns=panels)
    figure.suptitle(LABELS[method])
    if curve:
        _curve(axes[0], curve, used, COLOURS[method])
    for depth, panel in enumerate(axes[bool(curve) :], start=1):
        _arms(panel, found, depth)
    return figure


def _curve(axes: Axes, curve: Sequence[CurvePoint], used: CurvePoint, colour: str) -> None:
    queries = [point.queries for point in curve]
    means = [point.accuracy for point in curve]
    errors = [point.sem for point in curve]
    axes.errorbar(queries, means, errors, marker="o", markersize=3, color=colour, label="fixed per arm")
    axes.plot(used.queries, used.accuracy, "*", color=VERMILION, markersize=12, label="this search")
    axes.axhline(0.99, color=GREY, linestyle="--", linewidth=1)
    axes.set(xscale="log", xlabel="oracle queries", ylabel="mean accuracy")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.legend(frameon=False, fontsize=8, loc="lower right")


def _arms(axes: Axes, found: Identification, depth: int) -> None:
    estimates = found.estimates(0, depth) if 0 in found.searched[depth - 1] else ()
    eos, chosen = found.target.tree.eos, int(found.picks[0, depth - 1])
    for place, arm in enumerate(estimates):
        low, high = float(arm.acceptance.low), float(arm.acceptance.high)
        value = float(arm.acceptance.value)
        colour = GREEN if arm.pick == found.target.path[depth - 1] else GREY
        axes.errorbar(place, value, [[value - low], [high - value]], fmt="o", color=colour, markersize=4)
        if arm.pick == chosen:
            axes.plot(place, value, "o", markersize=11, fillstyle="none", color=VERMILION)
    axes.axhline(1, color=FAINT, linewidth=0.8)
    names = ["E" if arm.pick == eos else str(arm.pick) for arm in estimates]
    every = max(1, len(names) // 12)
    axes.set_xticks(np.arange(len(names))[::every], names[::every], fontsize=7)
    axes.set(title=f"depth {depth}", xlabel="forced pick", ylim=(0, 1.05))
    axes.title.set_fontsize(10)
    if depth == 1:
        axes.set_ylabel("accepted, 95% interval")
