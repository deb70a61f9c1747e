"""What the tests of the reproduction share: a scale that takes seconds, and drawing that takes none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepladder.report.chart import Chart
from stepladder.reproduce import run, scaling_figures
from stepladder.reproduce.published import published_table
from stepladder.reproduce.scale import Scale
from stepladder.scaling import Log

TINY = Scale(trials=4, sweeps=3, largest_d=16, optimizer_steps=16, optimizer_seeds=2)


@pytest.fixture(scope="session")
def tiny() -> Scale:
    """The same figures from a handful of trials."""
    return TINY


@pytest.fixture(scope="session")
def charts(tiny: Scale) -> dict[str, Chart]:
    """Every figure, at the tiny scale."""
    return {name: make(tiny, 0, Log(None)) for name, make in run.FIGURES.items()}


@pytest.fixture(scope="session")
def table(tiny: Scale) -> list[dict[str, Any]]:
    """The table published against measured, at the tiny scale."""
    return published_table(tiny, 0, Log(None))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tiny: Scale) -> None:
    """Let `reproduce` run at the tiny scale, with two secrets, and draw placeholders."""
    monkeypatch.setattr(run, "QUICK", tiny)
    monkeypatch.setattr(scaling_figures, "SECRETS", ((4, 5, 6), (5, 6, 7)))
    monkeypatch.setattr(run, "draw_chart", lambda chart: chart.name)
    monkeypatch.setattr(run, "render", lambda figure, suffix: f"{figure} as {suffix}".encode())


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the figures that were computed and not read back, in order."""
    names: list[str] = []

    def counting(name: str, make: Callable[..., Chart]) -> Callable[..., Chart]:
        def counted(*arguments: Any) -> Chart:
            names.append(name)
            return make(*arguments)

        return counted

    for name, make in run.FIGURES.items():
        monkeypatch.setitem(run.FIGURES, name, counting(name, make))
    return names


@pytest.fixture
def bytes_of(small: None) -> Callable[..., bytes]:
    """Run `reproduce` for some figures in a folder and return the bytes of results.json."""

    def results(out: Path, figures: tuple[str, ...], seed: int = 0, **more: Any) -> bytes:
        run.reproduce(run.Reproduction(out, figures, quick=True, seed=seed), **more)
        return (out / "results.json").read_bytes()

    return results
