"""Attention maps: which position is picked after which, after every stage of finetuning.

One row per query (root first), one column per pick (EOS last); squares mark the intended chain.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from stepladder.report.style import VERMILION, new_figure
from stepladder.trees import Target


def attention_figure(
    maps: npt.NDArray[np.float64], target: Target, titles: Sequence[str], heading: str
) -> Figure:
    """Draw one map per stage, shape (stages, query, pick)."""
    columns = min(len(maps), 5)
    rows = -(-len(maps) // columns)
    figure, panels = new_figure(2.7 * columns + 0.6, 2.8 * rows + 0.6, rows, columns)
    figure.suptitle(heading)
    for axes in panels[len(maps) :]:
        axes.set_axis_off()
    for axes, one, title in zip(panels, maps, titles, strict=False):
        picture = _draw(axes, one, target)
        axes.set_title(title, fontsize=10)
    bar = figure.colorbar(picture, ax=panels, shrink=0.8, pad=0.01)
    bar.set_label("probability of the pick")
    return figure


def _draw(axes: Axes, law: npt.NDArray[np.float64], target: Target) -> AxesImage:
    d = target.tree.d
    # The root's query shares the position of EOS, the last row; people look for it on top.
    rows = np.concatenate([law[d:], law[:d]])
    axes.grid(False)
    picture = axes.imshow(rows, cmap="Blues", vmin=0, vmax=1, aspect="equal")
    for query, pick in zip((-1, *target.picks), target.path, strict=True):
        square = (pick - 0.5, query + 0.5)
        axes.add_patch(Rectangle(square, 1, 1, fill=False, edgecolor=VERMILION, linewidth=1.6))
    ticks = range(0, d, 1 if d <= 12 else 4)
    axes.set_xticks([*ticks, d], [*map(str, ticks), "E"], fontsize=7)
    axes.set_yticks([0, *(tick + 1 for tick in ticks)], ["root", *map(str, ticks)], fontsize=7)
    axes.set_xlabel("next pick", fontsize=8)
    axes.set_ylabel("last pick", fontsize=8)
    return picture
