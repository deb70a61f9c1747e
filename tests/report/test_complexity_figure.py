"""The complexity figure: accuracy against n for every d, and the fitted growth."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from stepladder.finetune.complexity import FinetuneQuestion
from stepladder.report.complexity_figure import complexity_figure
from stepladder.report.style import COLOURS, LABELS, render
from stepladder.scaling import Interval, Point, fit_exponent

METHODS = ["no_curriculum", "depth_increasing", "hint_decreasing"]


def point(d, method="depth_increasing", solved=True):
    question = FinetuneQuestion(method, "parity", d, (0, 1), 1e5)
    evaluations = tuple((n, 1 - 1 / n, 0.01) for n in (4, 16, 64))
    if not solved:
        return Point(question, None, None, None, None, None, evaluations, np.empty(0))
    crossing = 50.0 * d
    resampled = np.full(100, crossing)
    interval = Interval(crossing, 0.8 * crossing, 1.3 * crossing)
    return Point(question, 64, interval, 10, (5, 20), None, evaluations, resampled)


@pytest.mark.parametrize("method", METHODS)
def test_every_d_has_its_accuracy_curve_and_the_target_is_a_dashed_line(method):
    points = [point(d, method) for d in (8, 16, 32)]
    figure = complexity_figure(points, fit_exponent(points))
    left = figure.axes[0]
    assert figure.get_suptitle() == LABELS[method]
    assert [text.get_text() for text in left.get_legend().get_texts()] == [
        f"d = {d}, k = 2" for d in (8, 16, 32)
    ]
    curves = [line for line in left.lines if line.get_marker() == "o"]
    assert len(curves) == 3
    assert curves[0].get_xdata().tolist() == [4, 16, 64]
    assert curves[0].get_ydata() == pytest.approx([1 - 1 / n for n in (4, 16, 64)])
    (target,) = [line for line in left.lines if line.is_dashed()]
    assert set(target.get_ydata()) == {0.99}
    assert left.get_xscale() == "log"


@pytest.mark.parametrize("method", METHODS)
def test_the_growth_shows_totals_with_their_intervals_and_the_fit_in_the_methods_colour(method):
    points = [point(d, method) for d in (8, 16, 32)]
    right = complexity_figure(points, fit_exponent(points)).axes[1]
    measured = next(line for line in right.lines if line.get_marker() == "o")
    stages = 1 if method == "no_curriculum" else 3
    assert measured.get_xdata().tolist() == [8, 16, 32]
    assert measured.get_ydata() == pytest.approx([stages * 50 * d for d in (8, 16, 32)])
    fitted = next(line for line in right.lines if line.get_marker() == "None" and len(line.get_xdata()) == 3)
    assert fitted.get_ydata() == pytest.approx(measured.get_ydata())
    assert {to_rgb(line.get_color()) for line in (measured, fitted)} == {to_rgb(COLOURS[method])}
    texts = [text.get_text() for text in right.get_legend().get_texts()]
    assert any("d^1.00 [1.00, 1.00]" in text for text in texts)
    assert (right.get_xscale(), right.get_yscale()) == ("log", "log")


def test_one_d_has_no_growth_panel_and_an_unsolved_d_still_has_its_curve():
    assert len(complexity_figure([point(8)], None).axes) == 1
    (left,) = complexity_figure([point(8, solved=False)], None).axes
    assert len([line for line in left.lines if line.get_marker() == "o"]) == 1
    points = [point(8), point(16), point(32, solved=False)]
    left, right = complexity_figure(points, fit_exponent(points)).axes
    assert len([line for line in left.lines if line.get_marker() == "o"]) == 3
    assert next(line for line in right.lines if line.get_marker() == "o").get_xdata().tolist() == [8, 16]


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_figure_renders_to_the_same_bytes(suffix):
    points = [point(d) for d in (8, 16)]
    one, other = (render(complexity_figure(points, fit_exponent(points)), suffix) for _ in range(2))
    assert one == other
