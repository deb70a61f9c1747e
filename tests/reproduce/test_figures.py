"""Every figure: valid data, honest captions, and the facts of the paper that it is there to show."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex

from stepladder.curriculum import METHODS
from stepladder.report.chart import Chart
from stepladder.report.static import draw_chart
from stepladder.report.style import COLOURS, LABELS
from stepladder.reproduce import run
from stepladder.reproduce.finetuning import sizes_of
from stepladder.reproduce.scale import FULL, QUICK, SETTINGS
from stepladder.reproduce.scaling_figures import SECRETS
from stepladder.reproduce.speed import rollouts_of_accuracy, rollouts_per_second
from stepladder.trees import Parity, Part, Target

figure = pytest.mark.parametrize("name", run.FIGURES)
CHAIN = [(0, 0), (1, 1), (2, 2), (3, 8)]
"""Cells of the secret 0, 1, 2 and EOS: the root on top, then the queries at 0, 1 and 2."""


def in_panel(chart, title):
    return next(panel for panel in chart.panels if panel.title == title)


# ---- all of them


@figure
def test_a_figure_survives_json_and_carries_its_own_name(charts, name):
    chart = charts[name]
    text = json.dumps(chart.to_json(), allow_nan=False)
    assert Chart.from_json(json.loads(text)).to_json() == json.loads(text)
    assert chart.name == name


@figure
def test_a_figure_says_what_it_shows_and_which_figure_of_the_paper_it_is(charts, name):
    chart = charts[name]
    assert len(chart.caption.split()) > 15
    assert chart.caption.endswith(".")
    assert chart.title
    assert chart.paper.startswith(("Fig. ", "beyond the paper"))
    assert len({panel.title for panel in chart.panels}) == len(chart.panels)


@figure
def test_every_panel_has_marks_labels_and_lists_of_one_length(charts, name):
    for panel in charts[name].panels:
        assert panel.x_label
        assert panel.y_label
        assert bool(panel.series) != (panel.heat is not None)
        for series in panel.series:
            lists = [series.x, series.y, series.low or series.y, series.high or series.y]
            assert len({len(values) for values in lists}) == 1
            assert len(series.x) >= 2
            assert all(math.isfinite(value) for values in lists for value in values)
            assert (series.low is None) == (series.high is None)
        assert len({series.name for series in panel.series}) == len(panel.series)


@figure
def test_error_bars_hold_their_point_and_logarithms_exist(charts, name):
    for panel in charts[name].panels:
        for series in panel.series:
            for low, y, high in zip(series.low or series.y, series.y, series.high or series.y, strict=True):
                assert low <= y <= high
            assert not panel.x_log or min(series.x) > 0
            assert not panel.y_log or min([*series.y, *(series.low or [])]) > 0


@figure
def test_a_series_is_named_after_the_method_that_gives_it_its_colour(charts, name):
    named = [series for panel in charts[name].panels for series in panel.series if series.method]
    for series in named:
        assert series.method in COLOURS
        if series.style != "dashed":
            assert series.name.startswith(LABELS[series.method])
    for panel in charts[name].panels:
        shown = [s.method for s in panel.series if s.method and s.style not in ("faint", "dashed")]
        assert len(shown) == len(set(shown))


def test_a_method_has_the_same_colour_in_every_drawn_figure(charts):
    seen = {method: set() for method in COLOURS}
    for chart in charts.values():
        drawn = [axes for axes in draw_chart(chart).axes if axes.axison]
        for panel, axes in zip(chart.panels, drawn, strict=True):
            for series, container in zip(panel.series, axes.containers, strict=True):
                if series.method:
                    seen[series.method].add(to_hex(container.lines[0].get_color()))
    assert seen == {method: {colour} for method, colour in COLOURS.items()}


def test_quick_and_full_show_the_same_figures_at_other_precision():
    assert vars(QUICK).keys() == vars(FULL).keys()
    assert all(quick < full for quick, full in zip(vars(QUICK).values(), vars(FULL).values(), strict=True))
    assert FULL.trials == 400


# ---- accuracy against samples and queries


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_accuracy_is_shown_from_chance_to_certainty_for_every_method(charts, setting):
    panel = in_panel(charts["accuracy"], setting.name)
    assert [(s.method, s.style) for s in panel.series] == [
        (method, style) for method in METHODS for style in ("line", "faint")
    ]
    for series in panel.series:
        assert series.y[0] < 0.75
        assert min(series.y[-2:]) >= 0.99


def test_the_samples_of_a_curve_reach_beyond_the_fixed_n_that_suffices(table):
    for row in table:
        if row["method"] in ("bai", "ltar"):
            continue
        setting = next(setting for setting in SETTINGS if setting.name == row["setting"])
        sizes = sizes_of(setting.d, row["method"])
        assert sizes[0] < row["published"] < sizes[-1]
        assert sizes[-1] >= 2 * row["fixed_n"]
        assert all(after == 2 * before for before, after in pairwise(sizes))


def test_the_papers_ten_trials_stand_beside_the_precise_mean(charts, tiny):
    for panel in charts["accuracy"].panels:
        for precise, paper in zip(panel.series[::2], panel.series[1::2], strict=True):
            assert precise.name == f"{LABELS[precise.method]}, {tiny.trials} trials"
            assert paper.name == f"{LABELS[paper.method]}, 10 trials"
            assert precise.x == paper.x


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_test_time_accuracy_is_shown_from_chance_to_certainty(charts, setting):
    panel = in_panel(charts["queries"], setting.name)
    assert [series.method for series in panel.series] == ["bai", "ltar"]
    for series in panel.series:
        assert series.y[0] < 0.8
        assert min(series.y[-2:]) >= 0.99
        assert series.x == sorted(series.x)
    bai, ltar = panel.series
    assert ltar.x[-1] < bai.x[-1] / 1000


@pytest.mark.parametrize("method", METHODS)
def test_index_selection_shows_every_pick_and_eos_learned_in_the_end(charts, method):
    panel = in_panel(charts["index"], LABELS[method])
    assert [series.name for series in panel.series] == ["pick 1", "pick 2", "pick 3", "EOS"]
    for series in panel.series:
        assert all(0 <= y <= 1 for y in series.y)
        assert min(series.y[-2:]) > 0.99


def test_without_a_curriculum_the_first_pick_is_learned_last(charts):
    panel = in_panel(charts["index"], LABELS["no_curriculum"])
    areas = [sum(series.y) for series in panel.series]
    assert min(areas) == areas[0]


def test_at_test_time_each_depth_stands_for_itself(charts):
    for panel in charts["query-index"].panels:
        depths = [series.y for series in panel.series]
        assert len(depths) == 4
        assert all(values[-1] == 1 for values in depths)
        # EOS is often right by chance after wrong picks: a caption must not say that it counts as wrong.
        assert depths[3][0] > depths[2][0]
    assert "count as wrong" not in charts["query-index"].caption


# ---- attention maps


def test_maps_are_laws_with_the_root_on_top_and_the_chain_marked(charts):
    for name in ("attention-stages", "attention-direct"):
        for panel in charts[name].panels:
            values = np.asarray(panel.heat.values)
            assert values.shape == (9, 9)
            assert values.min() >= 0
            np.testing.assert_allclose(values.sum(axis=1), 1, atol=1e-5)
            assert panel.heat.rows == ["root", *map(str, range(8))]
            assert panel.heat.columns == [*map(str, range(8)), "EOS"]
            assert [tuple(cell) for cell in panel.heat.path] == CHAIN


@pytest.mark.parametrize("method", ["depth_increasing", "hint_decreasing"])
def test_each_stage_teaches_one_step_of_the_chain_and_nothing_else(charts, method):
    steps = [panel for panel in charts["attention-stages"].panels if panel.steps_of == LABELS[method]]
    endings = ["base model", *(f"after stage {stage}" for stage in range(1, 5))]
    assert [panel.title for panel in steps] == [f"{LABELS[method]}: {ending}" for ending in endings]
    maps = [np.asarray(panel.heat.values) for panel in steps]
    base = maps[0]
    for picks in ((), (0,), (0, 1), (0, 1, 2)):
        legal = Parity(8).legal(picks)
        row = base[len(picks)]
        np.testing.assert_allclose(row[list(legal)], 1 / len(legal), atol=1e-6)
    for stage, law in enumerate(maps):
        learned = CHAIN[:stage] if method == "depth_increasing" else CHAIN[len(CHAIN) - stage :]
        for cell in CHAIN:
            assert law[cell] == (pytest.approx(1, abs=1e-3) if cell in learned else base[cell])
        untouched = [row for row in range(9) if row not in [row for row, _ in learned]]
        np.testing.assert_array_equal(law[untouched], base[untouched])


def test_no_curriculum_maps_go_from_spurious_to_right_at_the_papers_sample_sizes(charts):
    panels = charts["attention-direct"].panels
    assert [panel.title for panel in panels] == [
        "A: no curriculum, n = 250,000",
        "A: no curriculum, n = 11,000,000",
        "A: no curriculum, n = 50,000,000",
        "B: depth-increasing, n = 512",
        "C: hint-decreasing, n = 512",
    ]
    chance = [math.prod(panel.heat.values[row][column] for row, column in CHAIN) for panel in panels]
    assert chance[0] < 0.2
    assert chance[0] < chance[1] < 0.99
    assert all(value > 0.99 for value in chance[2:])


# ---- beyond the paper


def test_exact_margins_are_those_of_the_population_gradient(charts):
    for (d, k), panel in zip(((8, 3), (16, 2), (32, 2)), charts["margins"].panels, strict=True):
        path = float(Part(Parity(d)).path_probability(tuple(range(k))))
        direct, depth, hint, *bounds = panel.series
        # Without a curriculum P(path) (1-q) at every step; at a stage (1-q) / |legal|; q = 1/2 for parity.
        np.testing.assert_allclose(direct.y, path / 2, rtol=1e-9)
        legal = [len(Parity(d).legal(tuple(range(step)))) for step in range(k + 1)]
        for staged in (depth, hint):
            np.testing.assert_allclose(staged.y, [1 / (2 * size) for size in legal], rtol=1e-6)
        np.testing.assert_allclose(bounds[0].y, [d ** -(k + 2 - step) / 2 for step in range(1, k + 2)])
        np.testing.assert_allclose(bounds[1].y, d**-2 / 2)


def test_growth_is_drawn_with_the_papers_bounds_at_constant_one(charts):
    for panel, k in zip(charts["growth"].panels, (2, 3, 2), strict=True):
        measured = [series for series in panel.series if series.style == "line"]
        bounds = [series for series in panel.series if series.style == "dashed"]
        assert all(series.x == [8, 16] for series in panel.series)
        assert all("d^" in series.name for series in panel.series)
        assert bounds[1].y == [(k + 1) * d**2 for d in (8, 16)]
        if panel.title.startswith("finetuning"):
            assert [series.method for series in measured] == list(METHODS)
            assert bounds[0].y == [d ** (2 * k + 2) for d in (8, 16)]
        else:
            assert [series.method for series in measured] == ["bai", "ltar"]
            assert bounds[0].y == [d**5 for d in (8, 16)]


def test_the_growth_is_totals_over_all_stages_and_steeper_without_a_curriculum(charts):
    for panel in charts["growth"].panels:
        direct, *staged = [series for series in panel.series if series.style == "line"]
        for series in staged:
            assert direct.y[1] / direct.y[0] > 4 * series.y[1] / series.y[0]


def test_every_secret_is_named_in_the_caption_and_the_papers_is_the_hardest(charts):
    chart = charts["secrets"]
    for place, secret in enumerate(SECRETS, start=1):
        assert f"{place} = {list(secret)}" in chart.caption
    (panel,) = chart.panels
    assert [series.method for series in panel.series] == list(METHODS)
    direct = panel.series[0]
    assert max(direct.y) == direct.y[SECRETS.index((0, 1, 2))]
    rarity = [Part(Parity(8)).path_probability(secret) for secret in SECRETS]
    assert min(rarity) == rarity[SECRETS.index((0, 1, 2))]


def test_four_optimisers_are_compared_on_three_methods(charts, tiny):
    assert [panel.title for panel in charts["small-steps"].panels] == [
        "SGD, momentum 0.9",
        "Adam",
        "AdamW",
        "Muon",
    ]
    for panel in charts["small-steps"].panels:
        assert [series.method for series in panel.series] == list(METHODS)
        for series in panel.series:
            assert max(series.x) <= tiny.optimizer_steps
            assert f"/{tiny.optimizer_seeds} reached .99)" in series.name


# ---- what exact counting saves


def test_the_rollouts_a_figure_stands_for_are_counted_over_stages_sizes_and_trials(tiny):
    curriculum = sum(2**power for power in range(3, 14))
    stages = {8: 4, 16: 3, 32: 3}
    direct = {8: (12, 28), 16: (12, 28), 32: (16, 34)}
    per_trial = sum(
        2 * stages[d] * curriculum + sum(2**power for power in range(first, last + 1))
        for d, (first, last) in direct.items()
    )
    assert rollouts_of_accuracy(tiny) == per_trial * (tiny.trials + 10)


def test_the_speed_of_real_rollouts_is_measured_here():
    assert rollouts_per_second(20_000) > 1_000


def test_the_target_of_every_setting_is_one_path(charts):
    for setting in SETTINGS:
        assert Target(Parity(setting.d), setting.secret).k == setting.k
