"""A tiny model that is made on the spot: it knows the form of a task and nothing else.

A Llama of 3 layers and hidden size 96 with a tokenizer trained on the task's own texts, so that the fixed
wording costs a handful of tokens. It is taught by SFT on random legal completions, not goal-directed ones: its
success decays with depth, as that of the paper's base model PART. It is made once and then cached.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from stepladder.files import whole_folder
from stepladder.tasks.format import ASSISTANT_PREFIX
from stepladder.tasks.task import Problem, Task

CHAT_TEMPLATE = "{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% endif %}{% endfor %}\n"
END, PAD = "<|end|>", "<|pad|>"

ARCHITECTURE = LlamaConfig.model_type
"""Not Qwen2: AutoTokenizer takes any tokenizer beside a Qwen2 for Qwen2's own, and so reads other tokens."""


@dataclass(frozen=True)
class Teaching:
    """How the model is made."""

    layers: int = 3
    hidden: int = 96
    heads: int = 4
    vocabulary: int = 768
    problems_per_level: int = 64
    steps: int = 600
    batch: int = 64
    learning_rate: float = 2e-3
    seed: int = 0


def tiny_model(
    task: Task, teaching: Teaching | None = None, progress: Callable[[float], None] = lambda done: None
) -> Path:
    """Return the folder of the task's tiny model, making it first if there is none."""
    how = teaching or Teaching()
    folder = cache_folder() / f"tiny-{task.name}-{_key(task, how)}"
    if not folder.exists():
        _make(folder, task, how, progress)
    return folder


def cache_folder() -> Path:
    """Where models are kept."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "stepladder"


def _key(task: Task, how: Teaching) -> str:
    """Name what the model depends on: the teaching, and the task's own words."""
    problems = _problems(task, 8, how.seed)
    rng = np.random.default_rng(how.seed)
    texts = [task.prompt(one).user + task.random_completion(one, rng) for one in problems]
    return hashlib.sha256(json.dumps([ARCHITECTURE, asdict(how), texts]).encode()).hexdigest()[:12]


def _problems(task: Task, per_level: int, seed: int) -> list[Problem]:
    """Return problems of all levels but the hardest two, whose checks take long; the form is the same."""
    levels = task.levels[: max(1, len(task.levels) - 2)]
    return [task.generate(level, index, seed + 1_000_003) for index in range(per_level) for level in levels]


def _make(folder: Path, task: Task, how: Teaching, progress: Callable[[float], None]) -> None:
    problems = _problems(task, how.problems_per_level, how.seed)
    rng = np.random.default_rng([how.seed, 7])
    texts = [task.prompt(one).user + _turn(task, one, rng) for one in problems for _ in range(8)]
    tokenizer = _tokenizer(texts, how.vocabulary)
    model = untaught_model(tokenizer, how)
    prompts = [tokenizer(task.prompt(one).text(tokenizer))["input_ids"] for one in problems]
    teach(model, tokenizer, task, problems, prompts, how, progress)
    with whole_folder(folder) as unfinished:
        model.save_pretrained(unfinished)
        tokenizer.save_pretrained(unfinished)


def _turn(task: Task, problem: Problem, rng: np.random.Generator) -> str:
    return f"\n{ASSISTANT_PREFIX}{task.random_completion(problem, rng)}"


def _tokenizer(texts: list[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """Train byte pairs without word boundaries, numbers apart: common phrases become single tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"[0-9]+|</?think>|</?answer>|\n"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[END, PAD],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token=PAD, chat_template=CHAT_TEMPLATE
    )


def untaught_model(tokenizer: PreTrainedTokenizerFast, how: Teaching) -> LlamaForCausalLM:
    """Return the model as it is before teaching."""
    torch.manual_seed(how.seed)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=how.hidden,
            intermediate_size=4 * how.hidden,
            num_hidden_layers=how.layers,
            num_attention_heads=how.heads,
            num_key_value_heads=how.heads,
            max_position_embeddings=2048,
            initializer_range=0.05,
            tie_word_embeddings=True,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
        )
    )


def teach(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    task: Task,
    problems: list[Problem],
    prompts: list[list[int]],
    how: Teaching,
    progress: Callable[[float], None],
) -> None:
    """Imitate fresh random completions; only the completion's tokens count."""
    rng = np.random.default_rng([how.seed, 8])
    optimiser = torch.optim.AdamW(model.parameters(), lr=how.learning_rate)
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, how.steps)
    model.train()
    for step in range(how.steps):
        chosen = rng.integers(len(problems), size=how.batch)
        written = [tokenizer(task.random_completion(problems[i], rng) + END)["input_ids"] for i in chosen]
        rows = [(prompts[i], text) for i, text in zip(chosen, written, strict=True)]
        loss = model(**_batch(rows, tokenizer.pad_token_id)).loss
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        decay.step()
        progress((step + 1) / how.steps)
    model.eval()


def _batch(rows: list[tuple[list[int], list[int]]], pad: int) -> dict[str, torch.Tensor]:
    width = max(len(prompt) + len(text) for prompt, text in rows)
    ids = torch.full((len(rows), width), pad)
    labels = torch.full((len(rows), width), -100)
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    for row, (prompt, text) in enumerate(rows):
        end = len(prompt) + len(text)
        ids[row, :end] = torch.tensor(prompt + text)
        labels[row, len(prompt) : end] = torch.tensor(text)
        mask[row, :end] = 1
    return {"input_ids": ids, "labels": labels, "attention_mask": mask}
