"""Experiments as figures: a line for every run, each method named once."""

from stepladder.report.experiment_figure import countdown_figure, parity_figure

METHODS = ("no_curriculum", "depth_increasing", "hint_decreasing")


def curve(secret, method, seed, arm=None):
    points = [{"rollouts": 1000 * n, "accuracy": 0.5, "exact_path": 0.1 * n, "stage": 0} for n in (1, 2)]
    return {"secret": secret, "method": method, "seed": seed, "points": points} | ({"arm": arm} if arm else {})


def names(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_every_run_is_a_line_in_both_rows_and_every_method_is_named_once():
    curves = [curve(secret, method, seed) for seed in (0, 1) for secret in ("0,1", "0,2") for method in METHODS]
    figure = parity_figure({"d": 10, "curves": curves}, "Hidden parity")
    assert names(figure) == ["A: no curriculum", "B: depth-increasing", "C: hint-decreasing"]
    upper, lower = figure.axes[:2], figure.axes[2:]
    assert all(len(panel.lines) == 6 + 1 for panel in upper)  # and the line of chance
    assert all(len(panel.lines) == 6 for panel in lower)


def test_an_anchored_arm_has_a_colour_and_a_name_of_its_own():
    curves = [curve("0,1", "no_curriculum", 0), curve("0,1", "no_curriculum", 0, "no_curriculum, KL")]
    figure = parity_figure({"d": 10, "curves": curves}, "Visible parity")
    assert names(figure) == ["A: no curriculum", "A: no curriculum, KL"]
    colours = {line.get_color() for line in figure.axes[1].lines}
    assert len(colours) == 2


def test_countdown_has_a_panel_for_every_level_and_a_thin_line_for_every_seed():
    rate = {"value": 0.2, "low": 0.1, "high": 0.3, "seeds": [0.1, 0.3]}
    cells = [
        {"method": method, "level": level, "pass_at_k": [rate, rate]}
        for level in (0, 1)
        for method in ("base model", *METHODS)
    ]
    figure = countdown_figure({"target": 1, "token_budget": 600_000, "k": [1, 2], "cells": cells})
    assert [panel.get_title() for panel in figure.axes] == ["level 0", "level 1"]
    assert all(len(panel.lines) == 4 * 3 for panel in figure.axes)
    assert names(figure)[0] == "base model"
