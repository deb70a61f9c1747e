"""A diagnosis as a picture: success rates along both ladders, and rollouts direct against step by step."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stepladder.curriculum.stages import MethodName
from stepladder.evaluate.diagnose import LADDERS, Diagnosis
from stepladder.evaluate.profile import Cell, Profile
from stepladder.report.style import COLOURS, GREY, LABELS, new_figure


def ladder_figure(profile: Profile, found: Diagnosis) -> Figure:
    """Draw a panel for each ladder and one for the predicted costs."""
    methods = list(found.predictions)
    figure, axes = new_figure(4.2 * (len(methods) + 1), 3.8, columns=len(methods) + 1)
    figure.suptitle(f"{profile.model} on {profile.task}, level {profile.target}. {found.sentence}")
    for panel, method in zip(axes, methods, strict=False):
        _rungs(panel, profile.ladder(LADDERS[method]), method)
    _costs(axes[-1], found)
    return figure


def _rungs(axes: Axes, cells: list[Cell], method: MethodName) -> None:
    for place, cell in enumerate(cells):
        rate = cell.rate
        low, high, value = float(rate.low), float(rate.high), float(rate.value)
        if cell.successes:
            axes.errorbar(place, value, [[value - low], [high - value]], fmt="o", color=COLOURS[method])
        else:  # an upper bound, not a zero
            axes.errorbar(place, high, [[high / 2], [0.0]], fmt="_", color=COLOURS[method], uplims=True)
    by_hint = method == "hint_decreasing"
    axes.set_xticks(range(len(cells)), [f"{c.slices}/{c.of}" if by_hint else str(c.level) for c in cells])
    axes.set(yscale="log", ylabel="success rate of the base model")
    axes.set_xlabel("share of the solution given" if by_hint else "level")
    axes.set_title(LABELS[method], fontsize=10)


def _costs(axes: Axes, found: Diagnosis) -> None:
    names, values, errors, colours = [], [], [], []
    for method, one in found.predictions.items():
        for name, cost, colour in (("direct", one.direct, GREY), ("steps", one.curriculum, COLOURS[method])):
            names.append(f"{name}\n{'levels' if method == 'depth_increasing' else 'hints'}")
            values.append(cost.value)
            errors.append((max(0.0, cost.value - cost.low), max(0.0, cost.high - cost.value)))
            colours.append(colour)
    axes.bar(range(len(names)), values, color=colours, yerr=list(zip(*errors, strict=True)), capsize=3)
    axes.set_xticks(range(len(names)), names, fontsize=8)
    axes.set(yscale="log", ylabel="predicted rollouts to 99%")
    axes.set_title("direct against step by step", fontsize=10)
