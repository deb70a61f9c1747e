"""The page of a training run in a real browser: complete while it runs, and hostile text stays text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from stepladder.errors import InputError
from stepladder.report.training_page import build_page, is_training, write_report

HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'> /*JS*/ <!--"
STEPS = 60
CONFIG = {
    "data": {"task": "countdown", "levels": [0, 1]},
    "model": "tiny",
    "curriculum": {"levels": "e2h_window", "hints": "uft_staged"},
    "grpo": {"max_steps": STEPS},
    "seed": 3,
}


def metrics(step: int) -> dict[str, Any]:
    """A run that moves from level 0 to level 1 half way."""
    late = step > STEPS / 2
    own = {"curriculum/pass/level_0": step / STEPS} | ({"curriculum/pass/level_1": 0.1} if late else {})
    return {
        "step": step,
        "reward": step / STEPS,
        "num_tokens": 1000.0 * step,
        "curriculum/pass": step / STEPS,
        "curriculum/signal": 0.5,
        "curriculum/hint_tokens": float(STEPS - step),
        "curriculum/prefix_weight": 0.001,
        "curriculum/share/level_0": 0.5 if late else 1.0,
        "curriculum/share/level_1": 0.5 if late else 0.0,
        **own,
    }


def completion(step: int) -> dict[str, Any]:
    verdict = {"correct": step > 50, "why": "" if step > 50 else f"why {HOSTILE}"}
    return {"step": step, "id": f"p{step}", "level": 0, **verdict, "completion": f"text {step} {HOSTILE}"}


def model(method: str, hits: int) -> dict[str, Any]:
    shown = {"level": 0, "id": "q0", "correct": True, "why": "", "completion": f"answer of {method} {HOSTILE}"}
    return {
        "method": method,
        "ids": ["q0", "q1", "q2", "q3"],
        "levels": [0, 0, 1, 1],
        "counts": [[hits, 4], [0, 4], [1, 4], [0, 4]],
        "shown": [shown],
    }


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def unfinished(tmp_path: Path) -> Path:
    """A run's folder before its end: no results, and no evaluation."""
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    (tmp_path / "metrics.jsonl").write_text(
        lines([metrics(step) for step in range(1, 41)]) + '{"step": 41, "re'
    )
    (tmp_path / "completions.jsonl").write_text(lines([completion(step) for step in range(1, 41)]))
    return tmp_path


@pytest.fixture
def finished(unfinished: Path) -> Path:
    """A run's folder after `stepladder evaluate`."""
    (unfinished / "metrics.jsonl").write_text(lines([metrics(step) for step in range(1, STEPS + 1)]))
    (unfinished / "completions.jsonl").write_text(lines([completion(step) for step in range(1, STEPS + 1)]))
    (unfinished / "results.json").write_text(json.dumps({"rollouts": 7680}))
    (unfinished / "run.json").write_text(json.dumps({"seconds": 61.5}))
    known = {
        "task": "countdown",
        "samples": 4,
        "models": [model("base model", 1), model("depth_increasing", 4)],
    }
    (unfinished / "evaluation.json").write_text(json.dumps(known))
    return unfinished


def text_of(chromium: Any, selector: str) -> str:
    found: str = chromium.js("return document.querySelector(arguments[0]).textContent", selector)
    return found


@pytest.mark.browser
def test_a_finished_run_shows_curves_schedule_texts_costs_and_config(chromium: Any, finished: Path) -> None:
    chromium.open(write_report(finished))
    sections = [node.get_attribute("id") for node in chromium.all("main section")]
    assert sections == ["progress", "schedule", "pass-at-k", "answers", "completions", "costs", "config"]
    assert len(chromium.all(".plot .main-svg")) >= 2 * (2 + 3 + 3)
    assert "60 steps, finished" in text_of(chromium, "#summary")
    assert chromium.column("#costs", 1) == ["steps", "rollouts", "tokens, prompts and completions", "seconds"]
    assert chromium.column("#costs", 2) == ["60 of 60", "7,680", "60,000", "61.5"]
    assert yaml.safe_load(text_of(chromium, "#config pre")) == CONFIG
    assert chromium.messages() == []
    assert [url for url in chromium.requests() if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.mark.browser
@pytest.mark.parametrize("width", [1200, 400])
def test_text_of_a_model_is_shown_as_text_and_never_run(chromium: Any, finished: Path, width: int) -> None:
    chromium.open(write_report(finished), width)
    assert chromium.js("return window.hacked") is None
    assert chromium.all("main img") == []
    texts = chromium.js("return [...document.querySelectorAll('#completions pre')].map((n) => n.textContent)")
    assert len(texts) == 18
    assert texts[0] == f"text 1 {HOSTILE}"
    assert texts[-1] == f"text {STEPS} {HOSTILE}"
    answers = chromium.js("return [...document.querySelectorAll('#answers pre')].map((n) => n.textContent)")
    assert answers == [f"answer of base model {HOSTILE}", f"answer of depth_increasing {HOSTILE}"]
    verdicts = chromium.js(
        "return [...document.querySelectorAll('#completions summary span')].map((n) => n.className)"
    )
    assert {"right", "wrong"} <= set(verdicts)
    assert chromium.js("return document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.browser
def test_a_completion_opens_with_the_keyboard(chromium: Any, finished: Path) -> None:
    chromium.open(write_report(finished))
    first = chromium.one("#completions summary")
    chromium.reveal(first)
    first.send_keys("\ue007")
    assert chromium.js("return document.querySelector('#completions details').open")


def test_a_run_has_a_page_before_its_end(unfinished: Path) -> None:
    page = build_page(unfinished)
    assert "40 of 60 steps so far" in page
    assert "pass@K against the base model" not in page


def test_the_schedule_is_what_happened_and_not_what_was_planned(finished: Path) -> None:
    data = json.loads(build_page(finished).split('id="data">')[1].split("</script>")[0])
    levels = next(part for part in data["sections"] if part["name"] == "schedule")["panels"][0]["series"]
    assert levels[0]["y"] == [1.0] * 30 + [0.5] * 30
    assert levels[1]["y"] == [0.0] * 30 + [0.5] * 30


def test_a_folder_without_a_step_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    (tmp_path / "metrics.jsonl").write_text("")
    assert is_training(tmp_path)
    with pytest.raises(InputError, match="no step"):
        write_report(tmp_path)
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize("name", ["config.yaml", "metrics.jsonl", "evaluation.json"])
def test_a_broken_file_is_refused_and_the_old_page_stays(finished: Path, name: str) -> None:
    page = write_report(finished).read_bytes()
    (finished / name).write_text("{broken: [\n")
    with pytest.raises(InputError):
        write_report(finished)
    assert (finished / "report.html").read_bytes() == page
