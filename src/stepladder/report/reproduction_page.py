"""The page of `stepladder reproduce`: published against measured, then every figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stepladder.errors import InputError
from stepladder.files import read_json, write_whole
from stepladder.report import page
from stepladder.report.chart import Chart
from stepladder.report.style import LABELS

LEAD = (
    "The synthetic results of “Provable Sample Efficiency of Curriculum Post-Training for Transformer "
    "Reasoning”: measured at fixed sample sizes, corrected where the paper errs, and extended."
)
PUBLISHED = (
    "A published figure says at which n a method converged. Fixed n is the smallest n whose mean accuracy over "
    "the trials reaches 99% and still does at the next. First hit is where a rising sweep with one trial at "
    "each n first succeeds: what luck gives, not what is needed. The separation between the methods is real, "
    "and larger than published."
)
COLUMNS = (
    {"key": "setting", "title": "setting", "kind": "setting"},
    {"key": "method_label", "title": "method"},
    {"key": "unit", "title": "unit"},
    {"key": "published", "title": "published", "kind": "number"},
    {"key": "fixed_n", "title": "fixed n (99%)", "kind": "number"},
    {"key": "first_hit", "title": "first hit, median", "kind": "number"},
    {"key": "first_hit_5_95", "title": "5% to 95%", "kind": "number"},
    {"key": "verdict", "title": "verdict", "kind": "verdict"},
)


def write_report(folder: Path) -> Path:
    """Build report.html from results.json (and run.json, where there is one) in the folder."""
    hint = f"run `stepladder reproduce --out {folder}` first"
    results = read_json(folder / "results.json", hint)
    if not isinstance(results, dict) or not {"quick", "seed", "figures"} <= results.keys():
        raise InputError(f"{folder / 'results.json'} is not of `stepladder reproduce`", option="folder")
    about = read_json(folder / "run.json", hint) if (folder / "run.json").exists() else {}
    if not isinstance(about, dict):
        raise InputError(f"{folder / 'run.json'} is not of `stepladder reproduce`", option="folder")
    report = folder / "report.html"
    try:
        words = build_page(results, about)
    except (LookupError, AttributeError, TypeError) as error:
        raise InputError(f"{folder / 'results.json'} is not of `stepladder reproduce`", "folder") from error
    write_whole(report, words)
    return report


def build_page(results: dict[str, Any], about: dict[str, Any]) -> str:
    """Return the page."""
    kind = "A quick look: small samples, wide error bars." if results["quick"] else "The full run."
    summary = f"{kind} Seed {results['seed']}. {about.get('speed', '')}".strip()
    sections = []
    if results.get("published"):
        rows = [_shown(row) for row in results["published"]]
        title = "Published against measured"
        sections.append(page.table("published", title, COLUMNS, rows, PUBLISHED, _again("published", results)))
    for data in results["figures"].values():
        one = Chart.from_json(data)
        links = {"PNG": f"{one.name}.png", "SVG": f"{one.name}.svg", "data": f"data/{one.name}.json"}
        sections.append(page.chart(one, _again(one.name, results), links))
    if about.get("run"):
        sections.append(page.facts("run", "How this was made", about["run"]))
    heading = "Curriculum post-training, reproduced"
    return page.render_page("stepladder: the paper, reproduced", heading, LEAD, summary, sections)


def _again(name: str, results: dict[str, Any]) -> str:
    quick = " --quick" if results["quick"] else ""
    return f"stepladder reproduce {name}{quick} --seed {results['seed']}"


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the table with its label, and its range as text."""
    low, high = row["first_hit_range"]
    return {**row, "method_label": LABELS[row["method"]], "first_hit_5_95": f"{low:,} to {high:,}"}
