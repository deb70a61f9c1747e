"""The model to measure: a name or folder, or what a training run left behind, adapter included."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import yaml
from peft import PeftModel
from transformers.utils import logging

from stepladder.errors import InputError
from stepladder.evaluate.sampler import Transformers
from stepladder.posttrain.config import RunConfig
from stepladder.posttrain.models import load_model
from stepladder.tasks.task import Task


def completer(name: str, task: Task, progress: Callable[[float], None] = lambda done: None) -> Transformers:
    """Load a model by its name, or the trained one of a run folder."""
    logging.disable_progress_bar()
    folder = Path(name)
    if (folder / "config.yaml").exists() and (folder / "model").exists():
        return _trained(folder, run_config(folder), task, progress)
    return Transformers(*load_model(name, task, progress))


def run_config(folder: Path) -> RunConfig:
    """Read the config of a run folder."""
    try:
        return RunConfig.model_validate(yaml.safe_load((folder / "config.yaml").read_text()))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise InputError(f"{folder} is no run of `stepladder train`", option="runs") from error


def _trained(folder: Path, config: RunConfig, task: Task, progress: Callable[[float], None]) -> Transformers:
    if config.lora is None:
        return Transformers(*load_model(str(folder / "model"), task, progress))
    model, tokenizer = load_model(config.model, task, progress)
    return Transformers(PeftModel.from_pretrained(model, folder / "model"), tokenizer)
