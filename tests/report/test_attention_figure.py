"""Attention maps: one panel per stage, the root on top, squares on the intended chain."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from stepladder.report.attention_figure import attention_figure
from stepladder.report.style import VERMILION, render
from stepladder.trees import Parity, Target

TARGET = Target(Parity(8), (0, 1, 2))


def drawn(count, target=TARGET):
    size = target.tree.d + 1
    maps = np.random.default_rng(0).random((count, size, size))
    titles = [f"stage {number}" for number in range(count)]
    figure = attention_figure(maps, target, titles, "heading")
    return maps, figure, [axes for axes in figure.axes if axes.images]


@pytest.mark.parametrize("count", [1, 2, 5, 6, 11])
def test_there_is_one_titled_map_per_stage_and_one_colour_bar(count):
    _, figure, panels = drawn(count)
    assert [axes.get_title() for axes in panels] == [f"stage {number}" for number in range(count)]
    assert figure.get_suptitle() == "heading"
    bars = [axes for axes in figure.axes if axes.get_ylabel() == "probability of the pick"]
    assert len(bars) == 1
    spare = [axes for axes in figure.axes if axes not in panels and axes not in bars]
    assert not any(axes.axison for axes in spare)


def test_the_row_of_the_root_is_on_top_and_every_map_has_the_scale_0_to_1():
    maps, _, panels = drawn(3)
    for own, axes in zip(maps, panels, strict=True):
        shown = axes.images[0].get_array()
        assert (shown[0] == own[8]).all()
        assert (shown[1:] == own[:8]).all()
        assert axes.images[0].get_clim() == (0, 1)
        assert [tick.get_text() for tick in axes.get_yticklabels()] == ["root", *map(str, range(8))]
        assert [tick.get_text() for tick in axes.get_xticklabels()] == [*map(str, range(8)), "E"]


@pytest.mark.parametrize("picks", [(0, 1, 2), (1, 4, 6), (7,)])
def test_squares_mark_the_intended_chain_in_every_map(picks):
    target = Target(Parity(8), picks)
    _, _, panels = drawn(2, target)
    for axes in panels:
        squares = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
        # Row 0 is the root and row i+1 the query at position i; EOS is column 8.
        rows = [0, *(pick + 1 for pick in picks)]
        expected = [(pick - 0.5, row - 0.5) for row, pick in zip(rows, (*picks, 8), strict=True)]
        assert [square.get_xy() for square in squares] == expected
        assert {to_rgb(square.get_edgecolor()) for square in squares} == {to_rgb(VERMILION)}


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_figure_renders_to_the_same_bytes_every_time(suffix):
    one, other = (render(drawn(2)[1], suffix) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("d", [1, 32])
def test_the_figure_renders_for_the_smallest_and_the_largest_d_of_the_paper(d):
    assert render(drawn(2, Target(Parity(d), (0,)))[1], "svg")
