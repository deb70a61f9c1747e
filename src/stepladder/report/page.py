"""One self-contained report.html from a run's data: no network, works from disk.

The plotting library (plotly.js) is embedded compressed and unpacked by the browser, which keeps the page
well under its uncompressed size.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

from plotly.offline import get_plotlyjs

from stepladder.errors import InputError
from stepladder.files import write_whole
from stepladder.report.style import COLOURS, GREY, LABELS, PALETTE, VERMILION


def write_report(folder: Path) -> Path:
    """Build report.html from results.json (and run.json, where there is one) in the folder."""
    results = _read(folder / "results.json")
    if not isinstance(results, dict) or not {"quick", "seed", "figures"} <= results.keys():
        raise InputError(f"{folder / 'results.json'} is not of `stepladder reproduce`", option="folder")
    about = _read(folder / "run.json") if (folder / "run.json").exists() else {}
    if not isinstance(about, dict):
        raise InputError(f"{folder / 'run.json'} is not of `stepladder reproduce`", option="folder")
    page = folder / "report.html"
    write_whole(page, build_page(results, about))
    return page


def build_page(results: dict[str, Any], about: dict[str, Any]) -> str:
    """Return the page."""
    kind = "A quick look: small samples, wide error bars." if results["quick"] else "The full run."
    data = {
        "quick": results["quick"],
        "seed": results["seed"],
        "summary": f"{kind} Seed {results['seed']}. {about.get('speed', '')}".strip(),
        "colours": {"methods": COLOURS, "palette": PALETTE, "bound": GREY, "chain": VERMILION},
        "published": [_shown(row) for row in results.get("published", [])],
        "charts": list(results["figures"].values()),
        "run": [{"name": name, "value": value} for name, value in about.get("run", {}).items()],
    }
    packed = base64.b64encode(gzip.compress(get_plotlyjs().encode(), mtime=0)).decode()
    parts = {
        "CSS": _asset("page.css"),
        # No tag and no comment may begin inside the script element that holds the data.
        "DATA": json.dumps(data, allow_nan=False).replace("<", "\\u003c"),
        "PLOTLY": packed,
        "JS": _asset("page.js"),
    }
    # In one pass: data that happens to spell a placeholder stays as it is.
    return re.sub(r"/\*(CSS|DATA|PLOTLY|JS)\*/", lambda found: parts[found[1]], _asset("page.html"))


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the table with its label, and its range as text."""
    low, high = row["first_hit_range"]
    return {**row, "method_label": LABELS[row["method"]], "first_hit_5_95": f"{low:,} to {high:,}"}


def _asset(name: str) -> str:
    return files("stepladder.report").joinpath(name).read_text(encoding="utf-8")


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except OSError as error:
        raise InputError(
            f"{path.parent} holds no {path.name}; run `stepladder reproduce --out {path.parent}` first",
            option="folder",
        ) from error
    except json.JSONDecodeError as error:
        raise InputError(f"{path} is not JSON (line {error.lineno}); make it again", "folder") from error
