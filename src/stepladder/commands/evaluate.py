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
    from stepladder.tasks.task import Problem

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
        check_between("batch", self.batch, 1, 10**6)
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
        candidates = _candidates([(folder, kit.run_config(folder)) for folder in self.runs], self.base)
        problems = self._problems([one for one in candidates if not one.is_base])
        found: list[Evaluated] = []
        bases: dict[tuple[str, str], Any] = {}
        with Bar("evaluating") as bar:
            for one in candidates:
                bar.describe(f"{one.name} on {one.task}")
                counted, shown = self._one(kit, one, problems[one.task], bar)
                found.append(counted)
                entry = {**counted.to_json(), "shown": shown}
                key = (one.task, one.config.model)
                if one.is_base:
                    bases[key] = entry
                else:
                    self._leave(one, [bases[key]] if key in bases else [], entry)
        return found

    def _problems(self, runs: list[Candidate]) -> dict[str, list[Problem]]:
        """Return every task's test problems: the same for all its models, and trained on by none of them."""
        from stepladder.posttrain.data import held_out, training_problems

        found = {}
        for name in dict.fromkeys(run.task for run in runs):
            data = [(run.config.data, run.config.seed) for run in runs if run.task == name]
            task = build_task(data[0][0].task, data[0][0].task_options())
            levels = task.levels if self.levels is None else whole_numbers(self.levels, "levels")
            checked = [task.check_level(level) for level in levels]
            trained = {task.identity(one) for own, seed in data for one in training_problems(task, own, seed)}
            made = [held_out(task, level, self.per_level, self.seed, trained) for level in checked]
            found[name] = [problem for level in made for problem in level]
            fresh = sum(len({task.identity(one) for one in level} - trained) for level in made)
            if fresh < len(found[name]):
                again = f"{len(found[name]) - fresh} of {len(found[name])} test problems"
                few = f"were trained on or come twice: {name} has too few others"
                stderr.print(f"{again} {few}", markup=False)
        return found

    def _one(
        self, kit: Any, one: Candidate, problems: list[Problem], bar: Bar
    ) -> tuple[Evaluated, list[dict[str, Any]]]:
        """Return a model's counts, and the first answers to a few problems of each level."""
        from stepladder.evaluate.sampler import Request
        from stepladder.evaluate.table import Evaluated

        data = one.config.data
        task = build_task(data.task, data.task_options())
        decoding = kit.Decoding(self.temperature, self.top_p, self.top_k, self.max_tokens)
        completer = kit.completer(one.model, task)
        identity = BASE if one.is_base else _method(one.config)
        log = kit.SampleLog(one.log)
        sampler = kit.Sampler(task, completer, decoding, log, self.seed, self.batch, identity=identity)
        requests = [Request(problem, 0, copy) for problem in problems for copy in range(self.samples)]
        drawn = sampler.draw(requests, bar.fraction)
        starts = range(0, len(problems), self.per_level)
        first = [start + number for start in starts for number in range(min(SHOWN, self.per_level))]
        shown = [vars(drawn[number * self.samples]) for number in first]
        return Evaluated.of(task.name, one.name, drawn), shown

    def _leave(self, one: Candidate, base: list[Any], own: Any) -> None:
        """Write down what a run's page shows, and build the page again."""
        from stepladder.report.training_page import is_training, write_report

        folder = one.log.parent
        known = {"task": one.task, "samples": self.samples, "models": [*base, own]}
        write_whole(folder / "evaluation.json", json.dumps(known) + "\n")
        if is_training(folder):
            write_report(folder)

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


@dataclass(frozen=True)
class Candidate:
    """A model to evaluate: a run's, or the one it started from."""

    name: str
    model: str
    log: Path
    config: Any
    is_base: bool = False

    @property
    def task(self) -> str:
        """The task it was trained on."""
        return str(self.config.data.task)


def _candidates(runs: list[tuple[Path, Any]], with_base: bool) -> list[Candidate]:
    """Name the models task by task; the runs of a task must be of the same problems."""
    found: list[Candidate] = []
    for task in dict.fromkeys(config.data.task for _, config in runs):
        own = [(folder, config) for folder, config in runs if config.data.task == task]
        for folder, config in own:
            if config.data.task_options() != own[0][1].data.task_options():
                raise InputError(f"{folder} has another kind of {task} problems than {own[0][0]}", "runs")
        models = list(dict.fromkeys(config.model for _, config in own)) if with_base else []
        for model in models:
            folder, config = next(one for one in own if one[1].model == model)
            name = BASE if len(models) == 1 else f"base {model}"
            found.append(Candidate(name, model, folder / "base-samples.jsonl", config, is_base=True))
        methods = [_method(config) for _, config in own]
        unique = len(set(methods)) == len(methods)
        for (folder, config), method in zip(own, methods, strict=True):
            name = method if unique else folder.resolve().name
            found.append(Candidate(name, str(folder), folder / "samples.jsonl", config))
    return found


def _method(config: Any) -> str:
    """Name a run by its curriculum, as the paper does."""
    if config.curriculum.hints != "none":
        return "hint_decreasing"
    return "no_curriculum" if config.curriculum.levels == "e2h_balanced" else "depth_increasing"


def _heads(ks: tuple[int, ...], lines: list[Row]) -> list[str]:
    """Name the columns; levels by their place, the easiest first, where tasks do not count them alike."""
    longest = max((line.by_level for line in lines), key=len)
    names = [level for level, _ in longest]
    alike = all([level for level, _ in line.by_level] == names[: len(line.by_level)] for line in lines)
    levels = [f"level {name}" for name in names] if alike else [f"{n}. level" for n in range(1, len(names) + 1)]
    return ["task", "method", *(f"K={k}" for k in ks), "average", *levels]


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
