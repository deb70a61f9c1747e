"""Promises of the search figure: a panel for each depth, the chosen and the correct pick marked."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from stepladder.report.search_figure import CurvePoint, search_figure
from stepladder.report.style import COLOURS, GREEN, GREY, VERMILION, render
from stepladder.search import Budget, CountsArms, Fixed, identify
from stepladder.trees import Parity, Part, Target

CURVE = [CurvePoint(29, 0.55, 0.02), CurvePoint(290, 0.9, 0.01), CurvePoint(2900, 1.0, 0.0)]
USED = CurvePoint(643, 1.0, 0.0)


def search(pulls=40, secret=(0, 1, 2), d=8, budget=None, trials=5, seed=1):
    target = Target(Parity(d), secret)
    arms = CountsArms("ltar", target, Part(target.tree), [seed])
    return identify(arms, Fixed((pulls,)), trials, seed, budget)


def ringed(axes):
    """Where the chosen pick's ring is."""
    return [line.get_xdata()[0] for line in axes.lines if line.get_fillstyle() == "none"]


def test_the_curve_stands_left_of_one_panel_for_each_depth():
    figure = search_figure("ltar", CURVE, USED, search())
    curve, *depths = figure.axes
    assert curve.get_xscale() == "log"
    assert (curve.get_xlabel(), curve.get_ylabel()) == ("oracle queries", "mean accuracy")
    assert [axes.get_title() for axes in depths] == [f"depth {depth}" for depth in (1, 2, 3, 4)]
    assert figure.get_suptitle() == "LTAR (curriculum)"


def test_without_a_curve_only_the_depths_are_drawn():
    figure = search_figure("ltar", [], USED, search())
    assert [axes.get_title() for axes in figure.axes] == [f"depth {depth}" for depth in (1, 2, 3, 4)]


def test_the_curve_shows_every_point_in_the_methods_colour_and_the_search_as_a_star():
    for method in ("bai", "ltar"):
        axes = search_figure(method, CURVE, USED, search()).axes[0]
        drawn = next(line for line in axes.lines if len(line.get_xdata()) == len(CURVE))
        assert drawn.get_xdata().tolist() == [29, 290, 2900]
        assert drawn.get_ydata().tolist() == [0.55, 0.9, 1.0]
        assert to_hex(drawn.get_color()) == COLOURS[method]
        star = next(line for line in axes.lines if line.get_marker() == "*")
        assert (star.get_xdata()[0], star.get_ydata()[0]) == (643, 1.0)


def test_every_arm_is_drawn_with_its_estimate_the_correct_one_green_and_the_chosen_one_ringed():
    found = search(secret=(1, 4), d=6)
    for depth, axes in enumerate(search_figure("ltar", [], USED, found).axes, start=1):
        arms = found.estimates(0, depth)
        dots = [line for line in axes.lines if line.get_marker() == "o" and line.get_fillstyle() == "full"]
        assert [float(dot.get_ydata()[0]) for dot in dots] == [float(arm.acceptance.value) for arm in arms]
        correct = [arm.pick == found.target.path[depth - 1] for arm in arms]
        assert [to_hex(dot.get_color()) for dot in dots] == [GREEN if right else GREY for right in correct]
        assert ringed(axes) == [[arm.pick for arm in arms].index(found.picks[0, depth - 1])]
        ring = next(line for line in axes.lines if line.get_fillstyle() == "none")
        assert to_hex(ring.get_color()) == VERMILION
        names = ["E" if arm.pick == 6 else str(arm.pick) for arm in arms]
        assert [label.get_text() for label in axes.get_xticklabels()] == names


def test_the_error_bars_are_the_intervals_of_the_estimates():
    found = search(pulls=9, secret=(1,), d=4)
    axes = search_figure("ltar", [], USED, found).axes[0]
    bars = [segment for container in axes.containers for segment in container[2][0].get_segments()]
    for segment, arm in zip(bars, found.estimates(0, 1), strict=True):
        low, high = sorted(segment[:, 1])
        assert low == pytest.approx(float(arm.acceptance.low))
        assert high == pytest.approx(float(arm.acceptance.high))


def test_many_arms_get_at_most_two_dozen_labels():
    found = search(secret=(0, 1), d=64)
    for axes in search_figure("ltar", [], USED, found).axes:
        assert 2 <= len(axes.get_xticklabels()) <= 24


def test_a_search_that_stopped_early_is_drawn_as_far_as_it_got():
    found = search(pulls=30, budget=Budget(queries=480))
    figure = search_figure("ltar", CURVE, USED, found)
    assert [axes.get_title() for axes in figure.axes[1:]] == ["depth 1", "depth 2", "depth 3"]
    assert ringed(figure.axes[3]) == []
    assert render(figure, "png").startswith(b"\x89PNG")


def test_a_first_search_that_stopped_before_the_others_leaves_its_panels_empty():
    # Early EOS under one pull per arm: look for a seed where the first search ends before the others.
    found = next(
        found
        for found in (search(pulls=1, d=4, secret=(0, 1), seed=seed) for seed in range(100))
        if 0 not in found.searched[-1] and len(found.searched) == 3
    )
    figure = search_figure("ltar", [], USED, found)
    assert len(figure.axes) == 3
    assert not figure.axes[2].containers


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_same_search_renders_to_the_same_bytes(suffix):
    one, two = (render(search_figure("bai", CURVE, USED, search()), suffix) for _ in range(2))
    assert one == two
    assert len(one) > 5_000


def test_drawing_leaves_the_search_as_it_was():
    found = search()
    before = found.picks.copy()
    search_figure("ltar", CURVE, USED, found)
    assert np.array_equal(found.picks, before)
