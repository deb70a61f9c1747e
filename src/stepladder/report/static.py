"""Charts as PNG and SVG: the same data as the page, drawn once in the house style."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullFormatter

from stepladder.report.chart import Chart, Heat, Panel, Series
from stepladder.report.style import COLOURS, GREY, PALETTE, VERMILION, new_figure

COLUMNS = 3


def draw_chart(chart: Chart) -> Figure:
    """Draw every panel of a chart."""
    maps = all(panel.heat for panel in chart.panels)
    columns = min(len(chart.panels), 5 if maps else COLUMNS)
    rows = -(-len(chart.panels) // columns)
    size = 2.9 if maps else 4.6
    figure, axes = new_figure(size * columns + 0.4, (2.9 if maps else 3.8) * rows + 0.5, rows, columns)
    figure.suptitle(chart.title)
    for panel, one in zip(chart.panels, axes, strict=False):
        _panel(one, panel)
    for empty in axes[len(chart.panels) :]:
        empty.set_axis_off()
    return figure


def _panel(axes: Axes, panel: Panel) -> None:
    axes.set_title(panel.title, fontsize=9)
    axes.set_xlabel(panel.x_label, fontsize=9)
    axes.set_ylabel(panel.y_label, fontsize=9)
    if panel.heat is not None:
        _heat(axes, panel.heat)
        return
    for number, series in enumerate(panel.series):
        _series(axes, series, number)
    if panel.x_log:
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
        places = sorted({x for series in panel.series for x in series.x})
        if len(places) <= 6:
            axes.set_xticks(places, [f"{x:g}" for x in places])
    if panel.y_log:
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(NullFormatter())
    handles, names = axes.get_legend_handles_labels()
    shown = [(h, n) for h, n, s in zip(handles, names, panel.series, strict=True) if s.style != "faint"]
    axes.legend([h for h, _ in shown], [n for _, n in shown], frameon=False, fontsize=7)


DASHES = ("--", ":", "-.")
"""Bounds in one panel are told apart by these."""
MARKERS = {"depth_increasing": "s", "hint_decreasing": "D"}
"""Curves that lie on each other are told apart by these."""


def colour_of(series: Series, number: int) -> str:
    """Return a method's colour, grey for a bound, or the next colour of the palette."""
    if series.method is not None:
        return COLOURS[series.method]
    return GREY if series.style == "dashed" else PALETTE[number % len(PALETTE)]


def _series(axes: Axes, series: Series, number: int) -> None:
    errors = None
    if series.low is not None and series.high is not None:
        below = [y - low for y, low in zip(series.y, series.low, strict=True)]
        above = [high - y for y, high in zip(series.y, series.high, strict=True)]
        errors = [below, above]
    faint, points = series.style == "faint", series.style == "points"
    axes.errorbar(
        series.x,
        series.y,
        errors,
        label=series.name,
        color=colour_of(series, number),
        alpha=0.35 if faint else 1,
        linewidth=1 if faint else 1.6,
        linestyle="none" if points else DASHES[number % len(DASHES)] if series.style == "dashed" else "-",
        marker="" if faint or series.style == "dashed" else MARKERS.get(series.method or "", "o"),
        markerfacecolor="none" if series.method == "depth_increasing" else None,
        markersize=6 if points else 3.5,
    )


def _heat(axes: Axes, heat: Heat) -> None:
    axes.grid(False)
    axes.imshow(heat.values, cmap="Blues", vmin=0, vmax=1, aspect="equal")
    for row, column in heat.path:
        square = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=VERMILION, linewidth=1.5)
        axes.add_patch(square)
    every = 1 if len(heat.columns) <= 12 else 4
    axes.set_xticks(range(0, len(heat.columns), every), heat.columns[::every], fontsize=6)
    axes.set_yticks(range(0, len(heat.rows), every), heat.rows[::every], fontsize=6)
