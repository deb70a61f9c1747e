"""The page of a training run: what was trained on when, what came of it, and what it cost.

    metrics.jsonl      reward, pass rate, level shares and hints as they happened
    completions.jsonl  one completion of every step
    evaluation.json    pass@K of the trained and the base model, once `stepladder evaluate` has been there
    config.yaml        the config

Completions are a model's text and may hold anything; the page shows them as text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from stepladder.errors import InputError
from stepladder.evaluate.passk import PAPER_K, bootstrap
from stepladder.evaluate.table import Evaluated
from stepladder.files import read_json, write_whole
from stepladder.posttrain.step_log import StepLog
from stepladder.report import page
from stepladder.report.chart import Chart, Panel, Series
from stepladder.report.style import LABELS

Row = dict[str, Any]

SHARE, PASS = "curriculum/share/level_", "curriculum/pass/level_"
SHOWN = 18
"""Completions on the page, from all parts of the run."""


def is_training(folder: Path) -> bool:
    """Whether a folder holds a run of `stepladder train`."""
    return (folder / "metrics.jsonl").exists()


def write_report(folder: Path) -> Path:
    """Build report.html of a run, finished or not."""
    report = folder / "report.html"
    try:
        words = build_page(folder)
    except (OSError, LookupError, AttributeError, TypeError, ValueError, yaml.YAMLError) as error:
        why = " ".join(str(error).split())
        raise InputError(f"{folder} holds no whole run of `stepladder train`: {why}", "folder") from error
    write_whole(report, words)
    return report


def build_page(folder: Path) -> str:
    """Return the page from the files of a run."""
    words = (folder / "config.yaml").read_text()
    config = yaml.safe_load(words)
    rows = [row for row in StepLog(folder / "metrics.jsonl").rows() if "reward" in row]
    kept = list(StepLog(folder / "completions.jsonl").rows())
    if not rows:
        raise InputError(f"{folder} has no step in metrics.jsonl yet; train first", option="folder")
    sections = [page.chart(_progress(rows)), page.chart(_schedule(rows))]
    if (folder / "evaluation.json").exists():
        found = read_json(folder / "evaluation.json", "run `stepladder evaluate` again")
        sections.append(page.chart(_pass_at_k(found)))
        sections.append(page.samples("answers", "Answers to test problems", TESTED, _answers(found)))
    if kept:
        sections.append(page.samples("completions", "Completions while training", SEEN, _completions(kept)))
    results = _known(folder / "results.json")
    done = int(results.get("steps", rows[-1]["step"]))
    sections.append(page.facts("costs", "What it cost", _costs(folder, rows, done, config)))
    sections.append(page.text("config", "The config", words))
    task, model = config["data"]["task"], config["model"]
    order = config["curriculum"]
    lead = (
        f"{model} post-trained on {task} by GRPO: levels by {order['levels']}, "
        f"{'no hints' if order['hints'] == 'none' else 'hints by ' + order['hints']}, seed {config['seed']}."
    )
    return page.render_page(
        f"stepladder: {folder.name}", f"A run on {task}", lead, _summary(rows, done, config), sections
    )


TESTED = "Two problems of each level, first the base model's answers if it was evaluated. Open one to read it."
SEEN = "The first completion of a step, from all parts of the run. Given hints are part of the text."


def _summary(rows: list[Row], done: int, config: Any) -> str:
    steps = config["grpo"]["max_steps"]
    some = max(1, len(rows) // 10)
    first = np.mean([row["curriculum/pass"] for row in rows[:some]])
    last = np.mean([row["curriculum/pass"] for row in rows[-some:]])
    state = f"{done:,} steps, finished." if done >= steps else f"{done:,} of {steps:,} steps so far."
    return (
        f"{state} Of the rollouts, {first:.1%} passed in the first tenth of the run, {last:.1%} in the last. "
        "They were on other levels and had other hints, so compare pass@K with the base model."
    )


# ---- charts


def _progress(rows: list[Row]) -> Chart:
    levels = _levels(rows)
    panels = [
        Panel(
            "Reward and pass rate",
            "step",
            "mean over rollouts",
            series=[
                *_smoothed("reward", rows, "reward"),
                *_smoothed("passed", rows, "curriculum/pass"),
                *_smoothed("groups with a signal", rows, "curriculum/signal"),
            ],
        ),
        Panel(
            "Pass rate by level",
            "step",
            "passed",
            series=[one for level in levels for one in _smoothed(f"level {level}", rows, f"{PASS}{level}")],
        ),
    ]
    caption = (
        "Running means over a twentieth of the run. A group whose rollouts all pass or all fail has no signal: "
        "it teaches nothing. These are training rollouts, with whatever hints the curriculum gave."
    )
    return Chart("progress", "Reward and pass rate over time", caption, "", panels)


def _schedule(rows: list[Row]) -> Chart:
    steps = [float(row["step"]) for row in rows]
    shares = [
        Series(f"level {level}", steps, [row.get(f"{SHARE}{level}", 0.0) for row in rows])
        for level in _levels(rows)
    ]
    panels = [Panel("Levels", "step", "share of the rollouts", series=shares)]
    hints = [float(row["curriculum/hint_tokens"]) for row in rows]
    if any(hints):
        panels.append(
            Panel("Hints", "step", "given tokens, mean", series=[Series("hint", steps, hints)]),
        )
        weights = [float(row["curriculum/prefix_weight"]) for row in rows]
        panels.append(
            Panel("Imitation", "step", "weight of the prefix loss", series=[Series("weight", steps, weights)])
        )
    return Chart(
        "schedule", "The curriculum as it happened", "What the rollouts were made of, step by step.", "", panels
    )


def _pass_at_k(found: Any) -> Chart:
    evaluated = [Evaluated.from_json(found["task"], one) for one in found["models"]]
    ks = [k for k in PAPER_K if k <= found["samples"]]
    levels = sorted(set(evaluated[0].levels))
    panels = [
        Panel(
            "All levels" if level is None else f"Level {level}",
            "K",
            "pass@K",
            x_log=True,
            series=[_curve(one, ks, level) for one in evaluated],
        )
        for level in (None, *levels)
    ]
    caption = (
        f"Unbiased, from {found['samples']} samples of each of {len(evaluated[0].ids)} test problems; bars are "
        "95% bootstrap intervals over problems."
    )
    title = "pass@K against the base model" if len(evaluated) > 1 else "pass@K"
    return Chart("pass-at-k", title, caption, "Table 1", panels)


def _curve(one: Evaluated, ks: Sequence[int], level: int | None) -> Series:
    matrix = one.matrix(ks)
    if level is not None:
        matrix = matrix[np.asarray(one.levels) == level]
    points = [bootstrap(matrix[:, place]) for place in range(len(ks))]
    method = one.method if one.method in LABELS else None
    return Series(
        LABELS.get(one.method, one.method),
        [float(k) for k in ks],
        [point.value for point in points],
        [point.low for point in points],
        [point.high for point in points],
        method,
        "line" if method else "dashed",
    )


def _levels(rows: list[Row]) -> list[int]:
    return sorted({int(name.removeprefix(SHARE)) for row in rows for name in row if name.startswith(SHARE)})


def _smoothed(name: str, rows: list[Row], key: str) -> list[Series]:
    """Return a running mean over a twentieth of the run; of a short run, every value."""
    known = [(float(row["step"]), float(row[key])) for row in rows if key in row]
    steps, values = [step for step, _ in known], [value for _, value in known]
    width = len(rows) // 20
    if width < 2 or len(known) < width:
        return [Series(name, steps, values)]
    means = np.convolve(values, np.ones(width) / width, mode="valid")
    return [Series(name, steps[width - 1 :], [float(mean) for mean in means])]


# ---- texts and costs


def _completions(kept: list[Row]) -> list[Row]:
    places = np.unique(np.linspace(0, len(kept) - 1, min(SHOWN, len(kept))).round().astype(int))
    return [
        {
            "title": f"step {kept[place]['step']}, level {kept[place]['level']}, {kept[place]['id']}",
            "correct": kept[place]["correct"],
            "why": kept[place]["why"],
            "text": kept[place]["completion"],
        }
        for place in places
    ]


def _answers(found: Any) -> list[Row]:
    return [
        {
            "title": f"{one['method']}, level {sample['level']}, {sample['id']}",
            "correct": sample["correct"],
            "why": sample["why"],
            "text": sample["completion"],
        }
        for one in found["models"]
        for sample in one["shown"]
    ]


def _costs(folder: Path, rows: list[Row], done: int, config: Any) -> dict[str, str]:
    results, timed = _known(folder / "results.json"), _known(folder / "run.json")
    tokens = rows[-1].get("num_tokens")
    known = {
        "steps": f"{done:,} of {config['grpo']['max_steps']:,}",
        "rollouts": f"{results['rollouts']:,}" if results else None,
        "tokens, prompts and completions": f"{tokens:,.0f}" if tokens else None,
        "seconds": f"{timed['seconds']:,}" if timed else None,
    }
    return {name: value for name, value in known.items() if value is not None}


def _known(path: Path) -> dict[str, Any]:
    """Read a file that a run writes at its end; nothing before that."""
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found
