"""Predicted against measured gain of a curriculum, on the settings that calibrate `pays` and on others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from stepladder.report.style import BLUE, FAINT, GREY, ORANGE, new_figure
from stepladder.theory.calibration import Comparison
from stepladder.theory.pays import Calibration


def calibration_figure(
    calibrating: Sequence[Comparison], held_out: Sequence[Comparison], calibration: Calibration
) -> Figure:
    """Draw one point per setting, with the diagonal and the 95% band of the prediction."""
    figure, (axes,) = new_figure(5.6, 5)
    everything = [*calibrating, *held_out]
    values = [x for one in everything for x in (one.predicted, one.measured.low, one.measured.high)]
    ends = np.array([min(values) / 2, max(values) * 2])
    band = np.exp(calibration.bias + calibration.quantile * np.array([-1, 1]))
    axes.fill_between(ends, ends * band[0], ends * band[1], color=FAINT, alpha=0.5, label="95% band of pays")
    axes.plot(ends, ends, color=GREY, linewidth=1)
    axes.axhline(1, color=GREY, linestyle=":", linewidth=1)
    for name, group, colour in (
        ("calibrating", calibrating, BLUE),
        ("held out", held_out, ORANGE),
    ):
        x = [one.predicted for one in group]
        y = np.array([one.measured.value for one in group])
        below = y - [one.measured.low for one in group]
        above = np.array([one.measured.high for one in group]) - y
        axes.errorbar(x, y, [below, above], fmt="o", color=colour, markersize=4, label=name)
    axes.set(xscale="log", yscale="log", xlabel="predicted direct / curriculum", ylabel="measured")
    axes.legend(frameon=False, fontsize=9)
    return figure
