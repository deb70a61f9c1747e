"""pass@K against K, over all test problems and by level (Fig. 12 to 14)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stepladder.evaluate.passk import bootstrap
from stepladder.evaluate.table import Evaluated
from stepladder.report.style import BLACK, COLOURS, LABELS, PALETTE, new_figure


def passk_figure(found: Sequence[Evaluated], ks: Sequence[int]) -> Figure:
    """Draw one panel for all problems of a task and one for each level."""
    levels = sorted(set(found[0].levels))
    figure, axes = new_figure(3.2 * (len(levels) + 1), 3.4, columns=len(levels) + 1)
    figure.suptitle(f"{found[0].task}: pass@K, mean over problems with 95% intervals")
    for panel, level in zip(axes, [None, *levels], strict=True):
        for number, one in enumerate(found):
            _curve(panel, one, ks, level, COLOURS.get(one.method, _other(one.method, number)))
        panel.set(xscale="log", xlabel="K", title="all levels" if level is None else f"level {level}")
        panel.set_xticks(list(ks), [str(k) for k in ks])
        panel.minorticks_off()
    axes[0].set_ylabel("pass@K")
    axes[0].legend(frameon=False, fontsize=7)
    return figure


def _other(method: str, number: int) -> str:
    return BLACK if method == "base model" else PALETTE[number % len(PALETTE)]


def _curve(axes: Axes, one: Evaluated, ks: Sequence[int], level: int | None, colour: str) -> None:
    matrix = one.matrix(ks)
    if level is not None:
        matrix = matrix[np.asarray(one.levels) == level]
    points = [bootstrap(matrix[:, place]) for place in range(len(ks))]
    label = LABELS.get(one.method, one.method)
    axes.plot(ks, [p.value for p in points], marker="o", markersize=3, color=colour, label=label)
    axes.fill_between(ks, [p.low for p in points], [p.high for p in points], color=colour, alpha=0.15)
