"""Everything a run needs, in one typed config: a YAML file, overridden by flags, saved as resolved.

data        which task, levels and rows
model       tiny, smollm2, or any hub id or local folder
lora        adapter, or null to train all weights
curriculum  level schedule, hint rule, gate
grpo        arguments of TRL's GRPOConfig, passed through: learning rate, batch, vLLM, DeepSpeed, ...
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stepladder.curriculum.hints import HintRuleName, hint_rule
from stepladder.curriculum.levels import LevelScheduleName
from stepladder.errors import InputError
from stepladder.posttrain.curriculum import Curriculum, Gate
from stepladder.tasks.catalogue import TaskName, TaskOptions
from stepladder.tasks.chain import Form

_FLOAT = "tag:yaml.org,2002:float"


class Part(BaseModel):
    """A part of the config: nothing unknown, nothing changed afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Data(Part):
    """Which problems to train and test on."""

    task: TaskName
    levels: tuple[int, ...] | None = None
    """Training levels; None for all but the hardest, as in the paper."""
    source: str | None = None
    """A .jsonl or .parquet file or a data set; None to generate."""
    split: str = "train"
    per_level: int = Field(256, ge=1)
    """How many problems to generate for each level."""
    test_source: str | None = None
    test_split: str = "test"
    test_levels: tuple[int, ...] | None = None
    """Test levels; None for all."""
    test_per_level: int = Field(0, ge=0)
    """How many test problems to generate for each level; they have another seed than the training problems."""
    d: int | None = None
    secret: tuple[int, ...] | None = None
    alphabet: int | None = None
    form: Form | None = None
    largest: int | None = None

    def task_options(self) -> TaskOptions:
        """Return what only some tasks have."""
        source = self.source if self.task == "math" else None
        return TaskOptions(source, self.d, self.secret, self.alphabet, self.form, self.largest)


class Lora(Part):
    """The adapter; the defaults are the paper's."""

    r: int = Field(32, ge=1)
    alpha: int = Field(64, ge=1)
    dropout: float = Field(0.1, ge=0, lt=1)
    target_modules: tuple[str, ...] = ("q_proj", "v_proj")


class Order(Part):
    """The curriculum; None is the paper's number."""

    levels: LevelScheduleName | Literal["by_pass_rate"] = "e2h_balanced"
    threshold: float = Field(0.7, ge=0, le=1)
    window: int = Field(256, ge=1)
    hints: HintRuleName = "none"
    hint_start: float | None = None
    hint_end: float | None = None
    hint_until: float = Field(1.0, gt=0, le=1)
    longest_hint: int | None = Field(None, ge=1)
    prefix_start: float | None = None
    prefix_end: float | None = None
    gate: Gate = "off"

    def build(self, pass_reward: float) -> Curriculum:
        """Make the curriculum."""
        rule = hint_rule(
            self.hints, self.hint_start, self.hint_end, self.prefix_start, self.prefix_end, self.hint_until
        )
        return Curriculum(
            self.levels, rule, self.gate, pass_reward, self.threshold, self.window, self.longest_hint
        )


class RunConfig(Part):
    """One run."""

    data: Data
    model: str = "tiny"
    lora: Lora | None = Lora()
    curriculum: Order = Order()
    grpo: dict[str, Any] = {}
    seed: int = Field(0, ge=0)


class _Loader(yaml.SafeLoader):
    """YAML 1.2's numbers: to PyYAML, 1e-6 without a dot is a text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != _FLOAT]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    _FLOAT,
    re.compile(
        r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$|^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$"
    ),
    list("-+0123456789."),
)


def parse_yaml(text: str) -> Any:
    """Read YAML.

    >>> parse_yaml("[1e-6, 1.0e-6, 10, 1.5, 1e, one]")
    [1e-06, 1e-06, 10, 1.5, '1e', 'one']
    """
    return yaml.load(text, _Loader)


def read_config(path: Path, changes: dict[str, Any]) -> RunConfig:
    """Read a YAML file and put changes such as {"grpo.max_steps": 10} on top."""
    try:
        given = parse_yaml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}", option="config") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not YAML: {' '.join(str(error).split())}", option="config") from error
    if not isinstance(given, dict):
        raise InputError(f"{path} must hold data, model, curriculum and grpo", option="config")
    for name, value in changes.items():
        _put(given, name.split("."), value)
    try:
        return RunConfig.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"{path}: {place}: {first['msg']}, got {first['input']!r:.60}", "config") from error


def _put(given: dict[str, Any], names: list[str], value: Any) -> None:
    *parts, last = names
    for part in parts:
        inner = given.setdefault(part, {})
        if not isinstance(inner, dict):
            raise InputError(f"{'.'.join(names)} is not a setting", option="set")
        given = inner
    given[last] = value


def resolved(config: RunConfig) -> str:
    """Return the whole config as YAML."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)


def changed_fields(before: Any, now: Any, place: str = "") -> list[str]:
    """Name the settings in which two configs differ.

    >>> changed_fields({"grpo": {"beta": 0, "epsilon": 1}}, {"grpo": {"beta": 1, "epsilon": 1}})
    ['grpo.beta']
    """
    if isinstance(before, dict) and isinstance(now, dict):
        names = list(dict.fromkeys([*before, *now]))
        return [
            found
            for name in names
            for found in changed_fields(before.get(name), now.get(name), f"{place}.{name}".lstrip("."))
        ]
    return [] if before == now else [place]
