"""`stepladder train`: post-train a language model with a curriculum."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from stepladder.commands.console import print_json, say, stdout
from stepladder.commands.progress import Bar
from stepladder.errors import InputError


@dataclass(frozen=True)
class Command:
    """Train by GRPO on TRL, with the config's curriculum of levels and hints.

    Try: stepladder train --config recipes/cpu/countdown-depth.yaml --out runs/countdown-depth

    Try: stepladder train --config recipes/cpu/countdown-depth.yaml --out runs/countdown-depth --resume

    Try: stepladder train --config recipes/cpu/parity-hint.yaml --set grpo.learning_rate=1e-4 --out runs/parity
    """

    config: Path
    """A YAML file with data, model, lora, curriculum and grpo; see recipes/."""
    out: Path
    """Folder of the run."""
    model: str | None = None
    """tiny, smollm2, or a hub id or local folder; the config's by default."""
    max_steps: int | None = None
    """Number of steps; the config's by default."""
    resume: bool = False
    """Go on from the newest complete checkpoint of the folder."""
    set: tuple[str, ...] = ()
    """Settings to change, such as grpo.learning_rate=1e-5 curriculum.levels=e2h_cosine."""
    seed: int | None = None
    """Seed of data, curriculum and sampling; the config's by default."""
    json: bool = False
    """Print one JSON object instead."""

    def run(self) -> None:
        """Read, train and print."""
        config = _module("config")
        settings = config.read_config(self.config, self._changes(config.parse_yaml))
        with Bar("starting") as bar:

            def report(done: float, what: str) -> None:
                bar.describe(what)
                bar.fraction(done)

            run = _module("run").Run(settings, self.out, self.resume, report)
            results = run.train()
        if not run.is_main:
            return
        page = self._page()
        if self.json:
            print_json({**results, "out": str(self.out)})
            return
        stdout.print(
            f"{results['steps']} steps, {results['rollouts']:,} rollouts, {results['tokens']:,} tokens"
        )
        for name in ("reward", "pass"):
            if results[name]:
                stdout.print(
                    f"{name}: {results[name]['first']:.3f} at first, {results[name]['last']:.3f} at last"
                )
        say(f"wrote {self.out}{page}")

    def _page(self) -> str:
        """Build the run's page; a run that logged nothing has none, which is no reason to fail at its end."""
        from stepladder.report.training_page import write_report

        try:
            return f"; the run at a glance: {write_report(self.out)}"
        except InputError as error:
            return f", without a page: {error.message}"

    def _changes(self, parse: Callable[[str], Any]) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        for one in self.set:
            name, equals, value = one.partition("=")
            if not equals:
                raise InputError(f"must be name=value, got {one!r}", option="set")
            try:
                changes[name] = parse(value)
            except yaml.YAMLError as error:
                raise InputError(f"{one!r} is not YAML behind the =", option="set") from error
        given = {"model": self.model, "grpo.max_steps": self.max_steps, "seed": self.seed}
        return changes | {name: value for name, value in given.items() if value is not None}


def _module(name: str) -> Any:
    """Import what needs TRL and all it brings, which takes seconds and is only there with the extra."""
    try:
        return importlib.import_module(f"stepladder.posttrain.{name}")
    except ImportError as error:
        raise InputError(f"training needs {error.name}: pip install 'stepladder[llm]'") from error
