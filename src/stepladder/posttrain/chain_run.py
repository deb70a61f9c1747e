"""One run of the parity experiment: GRPO by TRL with environment turns, evaluated as it goes.

The trainer is the project's own, with TRL's rollout function: it writes chains with the `environment`, and
masks the environment's words. Every run has the same budget of rollouts and none stops early.
"""

from __future__ import annotations

import copy
import itertools
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from transformers import PreTrainedModel, PrinterCallback, TrainerCallback
from transformers.utils import logging
from trl import GRPOConfig

from stepladder.curriculum.stages import MethodName, no_curriculum
from stepladder.posttrain.curriculum import Curriculum
from stepladder.posttrain.environment import (
    Environment,
    Stages,
    Words,
    Written,
    chain_tokenizer,
    drawn,
    roll_out,
)
from stepladder.posttrain.tiny import Teaching, teach, untaught_model
from stepladder.posttrain.trainer import CurriculumTrainer
from stepladder.tasks.chain import Chain, Form
from stepladder.tasks.task import Problem

BASE = Teaching(layers=2, hidden=128, heads=4, steps=500, batch=128, learning_rate=1e-3)
"""How the base model is taught: random legal chains, so that it is close to PART."""

GROUPS, GENERATIONS = 16, 16
EVALUATIONS = 20
EVALUATED = 1024
_TEST = 3_000_000_019


@dataclass(frozen=True)
class ChainRun:
    """Everything a run depends on."""

    method: MethodName
    d: int
    secret: tuple[int, ...]
    learning_rate: float
    seed: int
    budget: int
    """Rollouts in all."""
    form: Form = "hidden"
    beta: float = 0.0
    """Weight of the KL divergence from the base model."""

    @property
    def steps(self) -> int:
        """Updates."""
        return self.budget // (GROUPS * GENERATIONS)

    @property
    def task(self) -> Chain:
        """The task; its last level is the whole chain."""
        return Chain("parity", self.d, self.secret, form=self.form)


@dataclass(frozen=True)
class Point:
    """An evaluation on fresh inputs, nothing given and nothing cut."""

    rollouts: int
    accuracy: float
    exact_path: float
    stage: int


def base_model(d: int, form: Form, seed: int = 0) -> PreTrainedModel:
    """Teach a base model; it does not depend on the secret."""
    task = Chain("parity", d, (0,), form=form)
    tokenizer = chain_tokenizer(task)
    model = untaught_model(tokenizer, BASE)
    problems = [task.generate(task.levels[-1], index, seed) for index in range(256)]
    prompts = [Words.of(task, tokenizer).prompt(problem) for problem in problems]
    teach(model, tokenizer, task, problems, prompts, BASE, lambda done: None)
    return model


def path_rates(model: PreTrainedModel, task: Chain) -> dict[str, list[float]]:
    """Return the exact probability of a hidden secret's picks: by picks given beforehand, and by depth.

    The running values are inputs to the model, so a rate is the mean over all values they can have. `hints` has
    the rest of the path and its end after 0, 1, .. given picks; `levels` the first 1, 2, .. picks, and last the
    whole path with its end.
    """
    tokenizer = chain_tokenizer(task)
    words = Words.of(task, tokenizer)
    prompt = words.prompt(task.generate(1, 0))
    right = [words.picks[pick] for pick in task.secret] + [words.end]
    values = itertools.product(words.values, repeat=len(task.secret))
    rows = [
        prompt + [word for pair in zip(right, answers, strict=False) for word in pair] + [words.end]
        for answers in values
    ]
    with torch.inference_mode():
        logs = model(torch.tensor(rows)).logits.float().log_softmax(dim=-1)
    places = torch.arange(len(right)) * 2 + len(prompt) - 1
    wanted = torch.tensor(right)[None, :, None].expand(len(rows), -1, 1)
    taken = logs[:, places].gather(2, wanted)[..., 0]
    rest = taken.flip(1).cumsum(dim=1).flip(1).exp().mean(dim=0)
    first = taken.cumsum(dim=1).exp().mean(dim=0)
    return {"hints": rest.tolist(), "levels": first.tolist()}


def train(run: ChainRun, base: PreTrainedModel) -> list[Point]:
    """Train a copy of the base model and return its evaluations."""
    logging.set_verbosity_error()
    os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"  # the rollout function may change; our trl is pinned
    task, tokenizer = run.task, chain_tokenizer(run.task)
    chains = Environment(task, tokenizer)
    stages = Stages.of(run.method, len(run.secret))
    model = copy.deepcopy(base)
    points: list[Point] = []

    def rollout(prompts: list[str], trainer: Any) -> dict[str, Any]:
        first = trainer.state.global_step * GROUPS
        groups = [task.generate(task.levels[-1], first + place, run.seed) for place in range(GROUPS)]
        problems = [problem for problem in groups for _ in range(GENERATIONS)]
        written = roll_out(model, chains, problems, stages.now, drawn)
        depth = stages.now.truncate or len(run.secret) + 1
        verdicts = judged(task, tokenizer, written, depth)
        stages.observe(float(np.mean([correct for correct, _ in verdicts])))
        return {
            "prompt_ids": [one.prompt for one in written],
            "completion_ids": [one.ids for one in written],
            "logprobs": None,
            "env_mask": [one.own for one in written],
            "correct": [float(correct) for correct, _ in verdicts],
        }

    class Evaluate(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            last = state.global_step == run.steps
            if last or state.global_step % max(1, run.steps // EVALUATIONS) == 0:
                accuracy, exact = evaluate(model, task, run.seed)
                points.append(Point(state.global_step * GROUPS * GENERATIONS, accuracy, exact, stages.place))

    with tempfile.TemporaryDirectory() as folder:
        trainer = CurriculumTrainer(
            model=model,
            reward_funcs=[_was_correct],
            args=_arguments(run, Path(folder)),
            train_dataset=Dataset.from_list([{"prompt": "", "level": 0}] * GROUPS),
            processing_class=tokenizer,
            rollout_func=rollout,
            callbacks=[Evaluate()],
            curriculum=Curriculum(),
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    return points


def _arguments(run: ChainRun, folder: Path) -> GRPOConfig:
    return GRPOConfig(
        output_dir=str(folder),
        max_steps=run.steps,
        learning_rate=run.learning_rate,
        lr_scheduler_type="constant",
        weight_decay=0.0,
        beta=run.beta,
        gradient_checkpointing=False,
        per_device_train_batch_size=GROUPS * GENERATIONS,
        num_generations=GENERATIONS,
        seed=run.seed,
        use_cpu=True,
        bf16=False,
        report_to="none",
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
        remove_unused_columns=False,
    )


def _was_correct(completions: list[Any], correct: list[float], **columns: Any) -> list[float]:
    return correct


def judged(task: Chain, tokenizer: Any, written: Sequence[Written], depth: int) -> list[tuple[bool, bool]]:
    """Return (correct, exact path) of every chain at a depth, by the task's own judgement of the text."""
    texts = tokenizer.batch_decode([one.ids for one in written], skip_special_tokens=True)
    found = []
    for one, text in zip(written, texts, strict=True):
        asked = _at_level(task, one.problem, depth)
        verdict = task.verify(asked, text)
        found.append((verdict.correct, bool(verdict.exact_path)))
    return found


def _at_level(task: Chain, problem: Problem, level: int) -> Problem:
    answer = task.running_value(problem.question, task.secret[:level])
    return Problem(problem.id, problem.question, answer, level, problem.solution)


def evaluate(model: Any, task: Chain, seed: int, count: int = EVALUATED) -> tuple[float, float]:
    """Return accuracy and exact-path rate on fresh inputs; the state of the random numbers is left alone."""
    tokenizer = chain_tokenizer(task)
    chains = Environment(task, tokenizer)
    problems = [task.generate(task.levels[-1], index, seed + _TEST) for index in range(count)]
    was_training = model.training
    model.eval()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed + _TEST)
        written = roll_out(model, chains, problems, no_curriculum(len(task.secret))[0], drawn)
    model.train(was_training)
    verdicts = judged(task, tokenizer, written, len(task.secret) + 1)
    correct, exact = np.mean(verdicts, axis=0)
    return float(correct), float(exact)
