"""Charts as PNG and SVG: every mark of the data, one colour per method, the same bytes every time."""

import io
from xml.etree import ElementTree

import matplotlib.image
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.patches import Rectangle

from stepladder.report.chart import Chart, Heat, Panel, Series
from stepladder.report.static import colour_of, draw_chart
from stepladder.report.style import COLOURS, GREY, PALETTE, VERMILION, render

X = [1.0, 10.0, 100.0]


def line(method, style="line", name=None, errors=True):
    y = [0.5, 0.7, 0.9]
    low, high = ([v - 0.1 for v in y], [v + 0.05 for v in y]) if errors else (None, None)
    return Series(name or f"{method} {style}", X, y, low, high, method, style)


def heat_map(size=9):
    values = np.random.default_rng(0).dirichlet(np.ones(size), size).tolist()
    names = [*map(str, range(size - 1))]
    return Heat(values, [(0, 0), (1, size - 1)], ["root", *names], [*names, "EOS"])


def chart(*panels):
    return Chart("name", "The title", "A caption.", "Fig. 1", list(panels))


def lines_panel(title="panel", **more):
    series = [
        *(line(method) for method in COLOURS),
        line("bai", "faint"),
        line(None, "dashed", "bound", errors=False),
        line("ltar", "points"),
    ]
    return Panel(title, "samples", "accuracy", series=series, **more)


def first_colours(axes):
    """The colour of every series' line, in order."""
    return [to_hex(container.lines[0].get_color()) for container in axes.containers]


@pytest.mark.parametrize("method", COLOURS)
@pytest.mark.parametrize("style", ["line", "faint", "dashed", "points"])
@pytest.mark.parametrize("number", [0, 3])
def test_a_method_has_one_colour_whatever_the_style_and_place(method, style, number):
    assert colour_of(line(method, style), number) == COLOURS[method]


def test_no_two_methods_share_a_colour():
    assert len(set(COLOURS.values())) == len(COLOURS)
    assert GREY not in COLOURS.values()


def test_a_line_that_is_no_method_is_grey_as_a_bound_and_else_from_the_palette():
    assert colour_of(line(None, "dashed"), 2) == GREY
    assert [colour_of(line(None), number) for number in range(7)] == [*PALETTE, PALETTE[0]]


def test_every_series_is_drawn_in_its_colour_with_its_points_and_bars():
    panel = lines_panel()
    (axes,) = draw_chart(chart(panel)).axes
    assert first_colours(axes) == [colour_of(s, number) for number, s in enumerate(panel.series)]
    for container, series in zip(axes.containers, panel.series, strict=True):
        data, _, bars = container.lines
        assert data.get_xdata().tolist() == series.x
        assert data.get_ydata().tolist() == series.y
        assert bool(bars) == (series.low is not None)
        if bars:
            ends = [segment[:, 1].tolist() for segment in bars[0].get_segments()]
            np.testing.assert_allclose(ends, list(zip(series.low, series.high, strict=True)))


def test_a_dashed_line_is_dashed_points_are_unjoined_and_faint_lines_are_pale():
    panel = lines_panel()
    (axes,) = draw_chart(chart(panel)).axes
    data = {s.name: c.lines[0] for s, c in zip(panel.series, axes.containers, strict=True)}
    assert data["bound"].get_linestyle() == "--"
    assert data["ltar points"].get_linestyle() == "None"
    assert data["ltar points"].get_marker() == "o"
    assert data["bai faint"].get_alpha() < 0.5
    assert data["bai line"].get_alpha() == 1


def test_the_legend_names_every_line_but_the_faint_ones():
    panel = lines_panel()
    (axes,) = draw_chart(chart(panel)).axes
    named = [text.get_text() for text in axes.get_legend().get_texts()]
    assert named == [series.name for series in panel.series if series.style != "faint"]


@pytest.mark.parametrize("x_log", [True, False])
@pytest.mark.parametrize("y_log", [True, False])
def test_axes_are_labelled_and_scaled_as_the_panel_says(x_log, y_log):
    (axes,) = draw_chart(chart(lines_panel("d = 8", x_log=x_log, y_log=y_log))).axes
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("d = 8", "samples", "accuracy")
    assert axes.get_xscale() == ("log" if x_log else "linear")
    assert axes.get_yscale() == ("log" if y_log else "linear")


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("maps", [True, False])
def test_there_is_one_panel_for_each_and_empty_places_stay_empty(count, maps):
    panels = [
        Panel(f"map {i}", "next", "last", heat=heat_map()) if maps else lines_panel(f"lines {i}")
        for i in range(count)
    ]
    figure = draw_chart(chart(*panels))
    assert figure.get_suptitle() == "The title"
    shown = [axes.get_title() for axes in figure.axes if axes.axison]
    assert shown == [panel.title for panel in panels]


def test_a_map_is_drawn_from_0_to_1_with_the_root_on_top_and_the_chain_outlined():
    heat = heat_map()
    (axes,) = draw_chart(chart(Panel("map", "next pick", "last pick", heat=heat))).axes
    (image,) = axes.images
    assert image.get_clim() == (0, 1)
    np.testing.assert_allclose(image.get_array(), heat.values)
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    squares = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert [square.get_xy() for square in squares] == [(-0.5, -0.5), (7.5, 0.5)]
    assert {to_rgb(square.get_edgecolor()) for square in squares} == {to_rgb(VERMILION)}
    assert [tick.get_text() for tick in axes.get_xticklabels()] == heat.columns
    assert [tick.get_text() for tick in axes.get_yticklabels()] == heat.rows


def test_a_large_map_names_only_some_rows():
    (axes,) = draw_chart(chart(Panel("map", "next", "last", heat=heat_map(33)))).axes
    assert [tick.get_text() for tick in axes.get_yticklabels()][:3] == ["root", "3", "7"]


def test_a_figure_renders_to_the_same_bytes_every_time_and_both_kinds_can_be_read():
    panels = (lines_panel(), Panel("map", "next pick", "last pick", heat=heat_map()))
    for suffix in ("png", "svg"):
        one, other = (render(draw_chart(chart(*panels)), suffix) for _ in range(2))
        assert one == other
        if suffix == "svg":
            assert ElementTree.fromstring(one).tag.endswith("svg")
        else:
            pixels = matplotlib.image.imread(io.BytesIO(one))
            assert min(pixels.shape[:2]) > 300
            assert len(np.unique(pixels[..., 0])) > 50


def test_text_in_a_chart_is_text_and_not_markup():
    series = Series("<b>&amp;</b> $x", X, [0.1, 0.2, 0.3])
    panel = Panel("</svg> d^2_i", "<x>", "y & z", series=[series])
    svg = render(draw_chart(Chart("name", "<&>", "c", "p", [panel])), "svg")
    assert ElementTree.fromstring(svg).tag.endswith("svg")
