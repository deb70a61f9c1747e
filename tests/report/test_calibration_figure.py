"""Promises of the calibration figure: every setting a point with its interval, the diagonal, the 95% band."""

import math

import numpy as np
import pytest
from matplotlib.colors import to_hex

from stepladder.report.calibration_figure import calibration_figure
from stepladder.report.style import BLUE, FAINT, ORANGE, render
from stepladder.scaling import Interval
from stepladder.theory.calibration import Comparison, Setting
from stepladder.theory.pays import Calibration


def comparison(predicted, measured):
    interval = Interval(measured, measured * 0.8, measured * 1.3)
    return Comparison(Setting("parity", 8, (0,)), predicted, interval)


USED = [comparison(0.5, 0.6), comparison(1e4, 1.2e4), comparison(30.0, 25.0)]
OTHER = [comparison(2.0, 2.5), comparison(1e6, 9e5)]
CALIBRATION = Calibration(0.1, 0.2, 3)


@pytest.fixture
def axes():
    (axes,) = calibration_figure(USED, OTHER, CALIBRATION).axes
    return axes


def points(axes, colour):
    """The points drawn in a colour."""
    drawn = [line for line in axes.lines if line.get_marker() == "o" and to_hex(line.get_color()) == colour]
    (line,) = drawn
    return list(zip(line.get_xdata().tolist(), line.get_ydata().tolist(), strict=True))


@pytest.mark.parametrize(("group", "colour"), [(USED, BLUE), (OTHER, ORANGE)], ids=["calibrating", "held out"])
def test_every_setting_is_a_point_in_the_colour_of_its_group(axes, group, colour):
    assert points(axes, colour) == [(one.predicted, one.measured.value) for one in group]


def test_every_point_has_the_measured_interval(axes):
    ends = sorted(
        (round(segment[0, 1], 9), round(segment[1, 1], 9))
        for bars in axes.collections
        if hasattr(bars, "get_segments")
        for segment in bars.get_segments()
    )
    expected = sorted((one.measured.low, one.measured.high) for one in (*USED, *OTHER))
    assert np.array(ends) == pytest.approx(np.array(expected))


def test_the_band_is_the_interval_of_the_calibration_round_every_prediction(axes):
    (band,) = [one for one in axes.collections if not hasattr(one, "get_segments")]
    assert to_hex(band.get_facecolor()[0]) == FAINT
    outline = band.get_paths()[0].vertices
    factors = sorted({round(math.log(y / x), 9) for x, y in outline})
    expected = [0.1 - CALIBRATION.quantile, 0.1 + CALIBRATION.quantile]
    assert factors == pytest.approx(expected)
    low, high = USED[1].predicted_interval(CALIBRATION)
    assert [math.exp(factor) * 1e4 for factor in factors] == pytest.approx([low, high])


def test_the_diagonal_and_the_line_where_nothing_is_gained_are_drawn(axes):
    lines = [line for line in axes.lines if line.get_marker() == "None"]
    diagonal = next(line for line in lines if list(line.get_xdata()) == list(line.get_ydata()))
    level = next(line for line in lines if list(line.get_ydata()) == [1, 1])
    assert min(diagonal.get_xdata()) < 0.5
    assert max(diagonal.get_xdata()) > 1e6
    assert level.get_linestyle() == ":"


def test_both_axes_are_logarithmic_and_named(axes):
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("predicted direct / curriculum", "measured")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "95% band of pays",
        "calibrating",
        "held out",
    ]


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_figure_renders_to_the_same_bytes_every_time(suffix):
    once, again = (render(calibration_figure(USED, OTHER, CALIBRATION), suffix) for _ in range(2))
    assert once == again
    assert len(once) > 5_000
