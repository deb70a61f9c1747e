"""`stepladder evaluate`: pass@K of trained models, by level, compared with each other and the base model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from rich.table import Table

from stepladder.commands.console import print_json, print_table, stderr, stdout, whole_numbers
from stepladder.commands.model_options import import_kit
from stepladder.commands.progress import Bar
from stepladder.errors import InputError, check_between, check_seed
from stepladder.files import make_folder, write_whole
from stepladder.report.style import render
from stepladder.tasks.catalogue import build_task

if TYPE_CHECKING:
    from stepladder.evaluate.table import Evaluated, Row

BASE = "base model"
SHOWN = 2
"""Problems of each level whose first answer is shown on a run's page."""


@dataclass(frozen=True)
class Command:
    """Estimate pass@K without bias on problems that were not trained on, and print the paper's Table 1.

    Try: stepladder evaluate runs/none runs/depth runs/hint --base --per-level 50 --samples 64 --out runs/table
    """

    runs: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Run folders of `stepladder train`."""
    base: bool = False
    """Evaluate the base model of each task, too."""
    per_level: int = 20
    """Test problems of each level."""
    samples: int = 16
    """Samples of each problem."""
    k: str | None = None
    """Which K, such as 1,2,4; by default the powers of two up to the number of samples, 256 at most."""
    levels: str | None = None
    """Which levels; by default all of the task."""
    temperature: float = 0.7
    """Decoding temperature."""
    top_p: float = 0.9
    """Decoding: share of probability to draw from."""
    top_k: int = 50
    """Decoding: number of tokens to draw from; 0 for all."""
    max_tokens: int = 512
    """Longest completion."""
    batch: int = 64
    """Completions at a time."""
    out: Path | None = None
    """Folder for table.md, results.json and the curves; samples are kept in the run folders."""
    seed: int = 0
    """Seed of problems and sampling."""
    json: bool = False
    """Print one JSON object instead."""

    def run(self) -> None:
        """Sample, count and print."""
        from stepladder.evaluate.table import comparisons, rows

        check_seed(self.seed)
        check_between("per_level", self.per_level, 1, 10**6)
        check_between("samples", self.samples, 1, 10**6)
        ks = self._ks()
        found = self._evaluated()
        lines, said = rows(found, ks), comparisons(found, ks)
        if self.out is not None:
            self._write(self.out, found, ks, lines, said)
        if self.json:
            print_json(_to_json(ks, lines, said))
            return
        print_table(_table(ks, lines))
        for sentence in said:
            stdout.print(sentence)

    def _ks(self) -> tuple[int, ...]:
        from stepladder.evaluate.passk import PAPER_K

        if self.k is None:
            return tuple(k for k in PAPER_K if k <= self.samples)
        ks = whole_numbers(self.k, "k")
        for k in ks:
            if not 1 <= k <= self.samples:
                raise InputError(f"must be between 1 and the {self.samples} samples of a problem, got {k}", "k")
        return ks

    def _evaluated(self) -> list[Evaluated]:
        kit = import_kit()
        if not self.runs:
            raise InputError("needs at least one run folder", option="runs")
        configs = [kit.run_config(folder) for folder in self.runs]
        plan: list[tuple[str, str, Path, Any]] = []
        for folder, config in zip(self.runs, configs, strict=True):
            if self.base and config.data.task not in {one[3].data.task for one in plan}:
                plan.append((BASE, config.model, folder / "base-samples.jsonl", config))
            plan.append((_method(config), str(folder), folder / "samples.jsonl", config))
        found: list[Evaluated] = []
        bases: dict[str, Any] = {}
        with Bar("evaluating") as bar:
            for method, model, log, config in plan:
                one, shown = self._one(kit, method, model, log, config, bar)
                found.append(one)
                entry = {**one.to_json(), "shown": shown}
                if method == BASE:
                    bases[one.task] = entry
                else:
                    self._leave(log.parent, one.task, [bases[one.task]] if one.task in bases else [], entry)
        return found

    def _leave(self, folder: Path, task: str, base: list[Any], own: Any) -> None:
        """Write down what a run's page shows, and build the page again."""
        from stepladder.report.training_page import is_training, write_report

        known = {"task": task, "samples": self.samples, "models": [*base, own]}
        write_whole(folder / "evaluation.json", json.dumps(known) + "\n")
        if is_training(folder):
            write_report(folder)

    def _one(
        self, kit: Any, method: str, model: str, log: Path, config: Any, bar: Bar
    ) -> tuple[Evaluated, list[dict[str, Any]]]:
        """Return a model's counts, and the first answers to a few problems of each level."""
        from stepladder.evaluate.sampler import Request
        from stepladder.evaluate.table import Evaluated
        from stepladder.posttrain.data import held_out, training_problems

        task = build_task(config.data.task, config.data.task_options())
        levels = task.levels if self.levels is None else whole_numbers(self.levels, "levels")
        bar.describe(f"{method} on {task.name}")
        known = training_problems(task, config.data, config.seed, bar.fraction)
        trained = {task.identity(problem) for problem in known}
        problems = [
            problem
            for level in levels
            for problem in held_out(task, task.check_level(level), self.per_level, self.seed, trained)
        ]
        again = sum(task.identity(problem) in trained for problem in problems)
        if again:
            few = f"{again} of {len(problems)} test problems were trained on: {task.name} has too few others"
            stderr.print(few, markup=False)
        decoding = kit.Decoding(self.temperature, self.top_p, self.top_k, self.max_tokens)
        completer = kit.completer(model, task)
        sampler = kit.Sampler(
            task, completer, decoding, kit.SampleLog(log), self.seed, self.batch, identity=method
        )
        requests = [Request(problem, 0, copy) for problem in problems for copy in range(self.samples)]
        drawn = sampler.draw(requests, bar.fraction)
        first = [place * self.per_level + number for place in range(len(levels)) for number in range(SHOWN)]
        shown = [vars(drawn[number * self.samples]) for number in first if number < len(problems)]
        return Evaluated.of(task.name, method, drawn), shown

    def _write(
        self, out: Path, found: list[Evaluated], ks: tuple[int, ...], lines: list[Row], said: list[str]
    ) -> None:
        from stepladder.report.passk_figure import passk_figure

        make_folder(out)
        write_whole(out / "results.json", json.dumps(_to_json(ks, lines, said), indent=1) + "\n")
        write_whole(out / "table.md", _markdown(ks, lines))
        for task in dict.fromkeys(one.task for one in found):
            figure = passk_figure([one for one in found if one.task == task], ks)
            for suffix in ("png", "svg"):
                write_whole(out / f"passk-{task}.{suffix}", render(figure, suffix))


def _method(config: Any) -> str:
    """Name a run by its curriculum, as the paper does."""
    if config.curriculum.hints != "none":
        return "hint_decreasing"
    return "no_curriculum" if config.curriculum.levels == "e2h_balanced" else "depth_increasing"


def _heads(ks: tuple[int, ...], lines: list[Row]) -> list[str]:
    levels = max((line.by_level for line in lines), key=len)
    return ["task", "method", *(f"K={k}" for k in ks), "average", *(f"level {level}" for level, _ in levels)]


def _cells(lines: list[Row], line: Row) -> list[tuple[str, bool]]:
    from stepladder.evaluate.table import best

    return [(f"{100 * cell.value:.1f}", best(lines, line, place)) for place, cell in enumerate(line.cells)]


def _table(ks: tuple[int, ...], lines: list[Row]) -> Table:
    table = Table(title="pass@K in %, best of a task in bold")
    for head in _heads(ks, lines):
        table.add_column(head, justify="left" if head in ("task", "method") else "right", no_wrap=True)
    for line in lines:
        cells = [f"[bold]{text}[/bold]" if is_best else text for text, is_best in _cells(lines, line)]
        table.add_row(line.task, line.method, *cells)
    return table


def _markdown(ks: tuple[int, ...], lines: list[Row]) -> str:
    heads = _heads(ks, lines)
    text = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for line in lines:
        cells = [f"**{value}**" if is_best else value for value, is_best in _cells(lines, line)]
        text.append(f"| {line.task} | {line.method} | {' | '.join(cells)} |")
    return "\n".join(text) + "\n"


def _to_json(ks: tuple[int, ...], lines: list[Row], said: list[str]) -> dict[str, Any]:
    return {
        "k": list(ks),
        "rows": [
            {
                "task": line.task,
                "method": line.method,
                "pass_at_k": [vars(cell) for cell in line.by_k],
                "average": vars(line.average),
                "levels": [{"level": level, **vars(cell)} for level, cell in line.by_level],
            }
            for line in lines
        ],
        "comparisons": said,
    }
