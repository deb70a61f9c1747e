"""A run directory: the resolved options, the results and the figures, each written whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from matplotlib.figure import Figure

from stepladder.files import write_whole
from stepladder.report.style import render


def write_run(
    folder: Path, config: Mapping[str, Any], results: Mapping[str, Any], figures: Mapping[str, Figure]
) -> list[Path]:
    """Write config.yaml, results.json and every figure as PNG and SVG; return what was written."""
    contents: dict[str, bytes | str] = {
        "config.yaml": yaml.safe_dump(dict(config), sort_keys=False),
        "results.json": json.dumps(results, indent=1, allow_nan=False) + "\n",
    }
    for name, figure in figures.items():
        for suffix in ("png", "svg"):
            contents[f"{name}.{suffix}"] = render(figure, suffix)
    for name, content in contents.items():
        write_whole(folder / name, content)
    return [folder / name for name in contents]
