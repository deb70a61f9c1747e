"""`stepladder experiment`: small transformers trained by GRPO, with and without a curriculum."""

from __future__ import annotations

import importlib
import math
import statistics
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import tyro
import yaml

from stepladder.commands.console import print_json, print_table, say, stdout, whole_numbers
from stepladder.commands.progress import Bar
from stepladder.commands.sheet import Sheet
from stepladder.errors import InputError, check_between
from stepladder.files import make_folder, write_whole
from stepladder.report.experiment_figure import countdown_figure, parity_figure
from stepladder.report.run_folder import write_run
from stepladder.tasks.chain import Chain, Form

D = 10
"""Inputs of the parity experiments."""


@dataclass(frozen=True)
class Experiment(ABC):
    """What all experiments have in common."""

    out: Path
    """Folder for runs.jsonl, results.json and the figure; a killed experiment goes on there."""
    seeds: int = 5
    """Seeds that are reported."""
    jobs: int = 2
    """Runs at a time, each on one core."""
    seed: int = 0
    """Taken by every command; an experiment has fixed seeds, 0 to --seeds."""
    json: bool = False
    """Print one JSON object instead."""

    def run(self) -> None:
        """Run what is missing, and print."""
        check_between("seeds", self.seeds, 1, 1000)
        check_between("jobs", self.jobs, 1, 1000)
        self.check()
        self._keep_to_the_folder()
        with Bar("experiment") as bar:

            def report(done: float, what: str) -> None:
                bar.describe(what)
                bar.fraction(done)

            found = self.results(report)
        name, figure = self.figure(found)
        write_run(self.out, self.config(), found, {name: figure})
        sheets = self.sheets(found)
        write_whole(self.out / "tables.md", "\n".join(sheet.markdown() for sheet in sheets))
        if self.json:
            print_json(found)
            return
        for sheet in sheets:
            print_table(sheet.table())
        for sentence in self.sentences(found):
            stdout.print(sentence)
        say(f"wrote {self.out}")

    def _keep_to_the_folder(self) -> None:
        """Refuse a folder whose runs were made with other options; only the number of seeds may change."""
        make_folder(self.out)
        path = self.out / "config.yaml"
        own = yaml.safe_dump(self.config(), sort_keys=False)
        if path.exists():
            try:
                before = yaml.safe_load(path.read_text())
            except (OSError, ValueError, yaml.YAMLError) as error:
                raise InputError(f"{path} is broken; take another folder", option="out") from error
            for name, value in self.config().items():
                if name != "seeds" and (not isinstance(before, dict) or before.get(name) != value):
                    raise InputError(f"{self.out} holds runs with another {name}; take another folder", "out")
        write_whole(path, own)

    def config(self) -> dict[str, Any]:
        """Return the options that the results depend on."""
        left_out = ("out", "jobs", "seed", "json")
        mine = {name: value for name, value in vars(self).items() if name not in left_out}
        return {"experiment": type(self).__name__, **mine}

    @abstractmethod
    def check(self) -> None:
        """Refuse what cannot be run."""

    @abstractmethod
    def results(self, report: Any) -> dict[str, Any]:
        """Run what is missing and return the summary."""

    @abstractmethod
    def figure(self, found: dict[str, Any]) -> tuple[str, Any]:
        """Return the figure with its name."""

    @abstractmethod
    def sheets(self, found: dict[str, Any]) -> list[Sheet]:
        """Return what came out."""

    def sentences(self, found: dict[str, Any]) -> list[str]:
        """Return what can be said of it."""
        return []


@dataclass(frozen=True)
class ParityExperiment(Experiment):
    """What both forms of parity have in common."""

    budget: int = 51200
    """Rollouts of each run."""
    secrets: str = "0,1,2,3:1,4,6,8:0,2,5,7:0,1,2:0,1"
    """Secrets, with colons between them."""

    form: ClassVar[Form]
    module: ClassVar[str]

    def check(self) -> None:
        """Refuse budgets too small to see anything, and secrets that are none."""
        check_between("budget", self.budget, 5120, 10**9)
        _secrets(self.secrets)

    def results(self, report: Any) -> dict[str, Any]:
        """Run the form's module."""
        module = _module(self.module)
        plan = module.Plan(_secrets(self.secrets), self.seeds, self.budget)
        found: dict[str, Any] = module.experiment(plan, self.out, self.jobs, report)
        return found

    def figure(self, found: dict[str, Any]) -> tuple[str, Any]:
        """Draw every curve."""
        return f"{self.form}-parity", parity_figure(found, f"{self.form.capitalize()} parity")

    def ends(self, found: dict[str, Any], name: str) -> Sheet:
        """Return how the runs ended."""
        title = f"{self.form.capitalize()} parity, d = {found['d']}, {found['budget']:,} rollouts a run"
        return _ends(title, name, found["cells"])


@dataclass(frozen=True)
class HiddenParity(ParityExperiment):
    """The theorem: inputs are hidden, so only the secret's picks can be learned, as on a tree.

    Try: stepladder experiment hidden-parity --out runs/hidden-parity
    """

    form = "hidden"
    module = "parity_experiment"

    def sheets(self, found: dict[str, Any]) -> list[Sheet]:
        """Return how the runs ended, and the savings beside what was predicted."""
        return [self.ends(found, "method"), _savings(found["savings"])]


@dataclass(frozen=True)
class VisibleParity(ParityExperiment):
    """The trap: inputs are visible, so rewards can be earned without the secret's picks.

    Try: stepladder experiment visible-parity --out runs/visible-parity
    """

    budget: int = 25600
    """Rollouts of each run."""
    secrets: str = "0,1"
    """Secrets, with colons between them."""

    form = "visible"
    module = "visible_experiment"

    def sheets(self, found: dict[str, Any]) -> list[Sheet]:
        """Return how the runs ended, and how many took a shortcut."""
        return [self.ends(found, "arm")]


@dataclass(frozen=True)
class Countdown(Experiment):
    """A task whose answers depend on the problem: Countdown with numbers up to 9 on the tiny model.

    Try: stepladder experiment countdown --out runs/countdown-study
    """

    target: int = 1
    """The level to learn; curricula may use the ones below it."""
    tokens: int = 600_000
    """Tokens of each run, prompts and completions."""
    per_level: int = 200
    """Held-out problems of each level."""
    samples: int = 8
    """Completions of each problem."""
    learning_rate: float = 1e-4
    """Of every method."""

    def check(self) -> None:
        """Refuse what cannot be measured."""
        check_between("target", self.target, 1, 4)
        check_between("tokens", self.tokens, 10_000, 10**12)
        check_between("per_level", self.per_level, 2, 10**5)
        check_between("samples", self.samples, 1, 10**4)
        check_between("learning_rate", self.learning_rate, 1e-9, 1)

    def results(self, report: Any) -> dict[str, Any]:
        """Run the study."""
        module = _module("countdown_experiment")
        study = module.Study(
            self.target, self.seeds, self.tokens, self.per_level, self.samples, self.learning_rate
        )
        found: dict[str, Any] = module.experiment(study, self.out, self.jobs, report)
        return found

    def figure(self, found: dict[str, Any]) -> tuple[str, Any]:
        """Draw pass@K by level."""
        return "countdown", countdown_figure(found)

    def sheets(self, found: dict[str, Any]) -> list[Sheet]:
        """Return pass@K by level, and what it cost."""
        return [_passes(found)]

    def sentences(self, found: dict[str, Any]) -> list[str]:
        """Return the prediction, and what the differences allow to say."""
        reasons = found["diagnosis"]["reasons"]
        return [f"Predicted before training: {found['diagnosis']['verdict']}. {reasons}", *found["comparisons"]]


@dataclass(frozen=True)
class Command:
    """Train small transformers with and without a curriculum, at equal budgets, over several seeds.

    Try: stepladder experiment hidden-parity --out runs/hidden-parity
    """

    which: tyro.conf.OmitSubcommandPrefixes[
        Annotated[HiddenParity, tyro.conf.subcommand("hidden-parity", prefix_name=False)]
        | Annotated[VisibleParity, tyro.conf.subcommand("visible-parity", prefix_name=False)]
        | Annotated[Countdown, tyro.conf.subcommand("countdown", prefix_name=False)]
    ]
    """Which experiment."""

    def run(self) -> None:
        """Run it."""
        self.which.run()


def _module(name: str) -> Any:
    try:
        return importlib.import_module(f"stepladder.posttrain.{name}")
    except ImportError as error:
        raise InputError(f"the experiment needs {error.name}: pip install 'stepladder[llm]'") from error


def _secrets(given: str) -> tuple[tuple[int, ...], ...]:
    found = tuple(whole_numbers(one, "secrets") for one in given.split(":"))
    for secret in found:
        try:
            Chain("parity", D, secret)
        except InputError as error:
            raise InputError(error.message, option="secrets") from error
    return found


# ---- tables


def _ends(title: str, name: str, cells: list[dict[str, Any]]) -> Sheet:
    heads = ["secret", name, "accuracy at the end", "exact path", "rollouts to .9", "to .99"]
    shortcuts = [(str(cell["shortcuts"]),) if "shortcuts" in cell else () for cell in cells]
    rows = [
        (
            cell["secret"],
            cell[name],
            *(_range(cell[key], "{:.3f}") for key in ("accuracy", "exact_path")),
            *(_range(cell[key], "{:,.0f}") for key in ("rollouts_to_0.9", "rollouts_to_0.99")),
            *more,
        )
        for cell, more in zip(cells, shortcuts, strict=True)
    ]
    heads += ["shortcuts"] if any(shortcuts) else []
    return Sheet(f"{title}: median [range over seeds]", tuple(heads), rows)


def _range(values: list[float | None], form: str) -> str:
    """Show median and range over seeds; a run that never got there counts as the largest."""
    reached = [math.inf if value is None else value for value in values]

    def shown(value: float) -> str:
        return "never" if math.isinf(value) else form.format(value)

    if math.isinf(min(reached)):
        return "never"
    return f"{shown(statistics.median(reached))} [{shown(min(reached))}, {shown(max(reached))}]"


def _savings(savings: list[dict[str, Any]]) -> Sheet:
    title = "Saving of rollouts to .9: predicted before training, and measured"
    heads = ("secret", "curriculum", "predicted [95%]", "verdict", "measured [95%]")
    rows = [
        (
            one["secret"],
            one["method"],
            "{value:,.3g} [{low:,.3g}, {high:,.3g}]".format(**one["predicted"]),
            one["verdict"],
            _measured(one["measured"]),
        )
        for one in savings
    ]
    return Sheet(title, heads, rows)


def _measured(found: dict[str, Any] | None) -> str:
    if found is None:
        return "neither got there"
    return "{bound} {value:,.3g} [{low:,.3g}, {high:,.3g}]".format(**found).strip()


def _passes(found: dict[str, Any]) -> Sheet:
    ks = found["k"]
    title = f"pass@K in % on {found['held_out_per_level']} held-out problems a level, mean over seeds [95%]"
    rows = []
    for cell in found["cells"]:
        cost = found["costs"].get(cell["method"])
        tokens = "" if cost is None else f"{sum(cost['tokens']) / len(cost['tokens']):,.0f}"
        shown = [
            f"{100 * one['value']:.1f} [{100 * one['low']:.1f}, {100 * one['high']:.1f}]"
            for one in (cell["pass_at_k"][0], cell["pass_at_k"][-1])
        ]
        rows.append((str(cell["level"]), cell["method"], *shown, tokens))
    return Sheet(title, ("level", "method", f"K={ks[0]}", f"K={ks[-1]}", "tokens a run"), rows)
