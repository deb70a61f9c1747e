"""One training run: config in, run folder out.

    config.yaml        the resolved config
    metrics.jsonl      one line for every logged step
    completions.jsonl  the first completion of every step, with its verdict
    checkpoints/       as TRL writes them, with the curriculum's state
    model/             the trained adapter or model
    results.json       the same for the same config; run.json has the seconds

A killed run resumes from its newest complete checkpoint to the same results.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from accelerate import PartialState
from peft import LoraConfig
from transformers import PrinterCallback, TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.utils import logging as transformers_logging
from trl import GRPOConfig

from stepladder.errors import InputError
from stepladder.files import make_folder, write_whole
from stepladder.posttrain.config import RunConfig, changed_fields, resolved
from stepladder.posttrain.data import TaskReward, data_set, test_problems, training_problems
from stepladder.posttrain.models import check_model, load_model
from stepladder.posttrain.step_log import StepLog
from stepladder.posttrain.trainer import STATE_FILE, CurriculumTrainer
from stepladder.tasks.catalogue import build_task
from stepladder.tasks.task import Task

Report = Callable[[float, str], None]

PASS = "curriculum/pass/level_"
"""How the metrics of a level's pass rate begin."""


@dataclass
class Run:
    """A run about to start."""

    config: RunConfig
    out: Path
    resume: bool = False
    report: Report = lambda done, what: None

    def __post_init__(self) -> None:
        """Check everything that can be checked before any work is done."""
        self.task: Task = build_task(self.config.data.task, self.config.data.task_options())
        self.arguments = grpo_arguments(self.config, self.out)
        self._check_folder()
        check_model(self.config.model)
        # Otherwise the first process could have begun to write before the others have looked.
        PartialState().wait_for_everyone()

    @property
    def is_main(self) -> bool:
        """Whether this process, of several, speaks for the run."""
        return bool(PartialState().is_main_process)

    def _check_folder(self) -> None:
        saved = self.out / "config.yaml"
        if not saved.exists():
            if self.resume:
                raise InputError(f"{self.out} holds no run to resume", option="resume")
            return
        if not self.resume:
            raise InputError(f"{self.out} holds a run already; add --resume, or take another folder", "out")
        changed = changed_fields(yaml.safe_load(saved.read_text()), yaml.safe_load(resolved(self.config)))
        if changed:
            raise InputError(f"would change {', '.join(changed)} of the run in {self.out}", option="resume")

    def train(self) -> dict[str, Any]:
        """Train, write everything, and return the results."""
        trainer = self._prepared()
        began = time.monotonic()
        trainer.train(resume_from_checkpoint=newest_checkpoint(self.out) if self.resume else None)
        seconds = time.monotonic() - began
        trainer.save_model(str(self.out / "model"))
        results = self._results(trainer)
        if trainer.accelerator.is_main_process:
            write_whole(self.out / "results.json", json.dumps(results, indent=1) + "\n")
            write_whole(self.out / "run.json", json.dumps({"seconds": round(seconds, 1)}) + "\n")
        return results

    def _prepared(self) -> CurriculumTrainer:
        """Build everything, and only then write the config; a refusal leaves no new folder behind."""
        made = [folder for folder in (self.out, *self.out.parents) if not folder.exists()]
        check_writable(self.out)
        try:
            trainer = self.trainer()
        except BaseException:
            _remove(made)
            raise
        if trainer.accelerator.is_main_process:
            write_whole(self.out / "config.yaml", resolved(self.config))
        trainer.accelerator.wait_for_everyone()
        return trainer

    def trainer(self) -> CurriculumTrainer:
        """Build model, data and trainer."""
        config = self.config
        transformers_logging.disable_progress_bar()
        problems = training_problems(self.task, config.data, config.seed, self._about("making problems"))
        tests = test_problems(self.task, config.data, config.seed, self._about("making test problems"))
        # One process of a machine makes the tiny model; the others find it made.
        with PartialState().local_main_process_first():
            model, tokenizer = load_model(config.model, self.task, self._about("teaching the tiny model"))
        everything = [*problems, *tests]
        rows = data_set(self.task, everything, tokenizer)
        completions = StepLog(self.out / "completions.jsonl")
        keep = completions.append if self.is_main else None
        try:
            trainer = CurriculumTrainer(
                model=model,
                reward_funcs=[TaskReward(self.task, problems, tests, keep)],
                args=self.arguments,
                train_dataset=rows.select(range(len(problems))),
                eval_dataset=rows.select(range(len(problems), len(everything))) if tests else None,
                processing_class=tokenizer,
                peft_config=lora_config(config),
                callbacks=[Metrics(StepLog(self.out / "metrics.jsonl"), completions, self.report)],
                curriculum=config.curriculum.build(self.task.pass_reward),
            )
        except InputError:
            raise
        except (ValueError, ImportError) as error:
            raise InputError(f"TRL refuses the config: {' '.join(str(error).split())}") from error
        trainer.remove_callback(PrinterCallback)
        return trainer

    def _about(self, what: str) -> Callable[[float], None]:
        return lambda done: self.report(done, what)

    def _results(self, trainer: CurriculumTrainer) -> dict[str, Any]:
        steps = [entry for entry in trainer.state.log_history if "reward" in entry]
        rollouts = self.arguments.generation_batch_size * trainer.state.global_step
        rollouts *= self.arguments.gradient_accumulation_steps
        return {
            "task": self.task.name,
            "steps": trainer.state.global_step,
            "rollouts": rollouts // (self.arguments.steps_per_generation * self.arguments.num_iterations),
            "tokens": int(trainer.state.num_input_tokens_seen),
            "reward": {"first": steps[0]["reward"], "last": steps[-1]["reward"]} if steps else None,
            "pass": {"first": steps[0]["curriculum/pass"], "last": steps[-1]["curriculum/pass"]}
            if steps
            else None,
        }


def grpo_arguments(config: RunConfig, out: Path) -> GRPOConfig:
    """Return TRL's arguments: those of the config, and the few that a run decides."""
    allowed = {field.name for field in dataclasses.fields(GRPOConfig) if field.init}
    own = {"output_dir", "seed", "data_seed", "remove_unused_columns"}
    for name in config.grpo:
        if name in own:
            raise InputError("is set by the run itself; leave it out of the config's grpo", option=name)
        if name not in allowed:
            raise InputError("is not an argument of TRL's GRPOConfig", option=f"grpo.{name}")
    given = {"report_to": "none", "disable_tqdm": True, "logging_steps": 1, **config.grpo}
    try:
        arguments = GRPOConfig(
            output_dir=str(out / "checkpoints"), seed=config.seed, remove_unused_columns=False, **given
        )
    except (ValueError, TypeError, ImportError) as error:
        raise InputError(f"the grpo arguments do not go together: {' '.join(str(error).split())}") from error
    _check_checkpoints(arguments)
    return arguments


def _check_checkpoints(arguments: GRPOConfig) -> None:
    """Refuse checkpoints between two steps that share their rollouts, which a checkpoint does not keep."""
    shared = arguments.steps_per_generation * arguments.num_iterations
    every = shared // math.gcd(shared, arguments.gradient_accumulation_steps)
    if arguments.save_strategy == "steps" and arguments.save_steps % every:
        raise InputError(
            f"must be a multiple of {every}: so many steps share their rollouts; got {arguments.save_steps:g}",
            option="grpo.save_steps",
        )


def check_writable(folder: Path) -> None:
    """Make the folder, and refuse one that cannot be written to."""
    make_folder(folder)
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"{folder} cannot be written to: {error.strerror}", option="out") from error


def _remove(made: list[Path]) -> None:
    """Remove the run's folder if it was made just now, and those above it that were if nothing is in them."""
    for number, folder in enumerate(made):
        if number == 0:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                folder.rmdir()


def lora_config(config: RunConfig) -> LoraConfig | None:
    """Return PEFT's config of the adapter."""
    if config.lora is None:
        return None
    return LoraConfig(
        r=config.lora.r,
        lora_alpha=config.lora.alpha,
        lora_dropout=config.lora.dropout,
        target_modules=list(config.lora.target_modules),
        task_type="CAUSAL_LM",
    )


def newest_checkpoint(out: Path) -> str | None:
    """Return the newest checkpoint that was written to its end; None to start again."""
    found = [path.parent for path in (out / "checkpoints").glob(f"checkpoint-*/{STATE_FILE}")]
    newest = max(found, key=lambda path: int(path.name.split("-")[1]), default=None)
    return None if newest is None else str(newest)


class Metrics(TrainerCallback):  # type: ignore[misc]
    """Writes metrics and tells how far the run is."""

    def __init__(self, metrics: StepLog, completions: StepLog, report: Report) -> None:
        """Take the logs of the run."""
        self.metrics = metrics
        self.completions = completions
        self.report = report

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        """Forget what was logged after the checkpoint that the run goes on from."""
        if state.is_world_process_zero:
            for log in (self.metrics, self.completions):
                log.forget_after(state.global_step if state.global_step else -1)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Append a line."""
        if not state.is_world_process_zero or logs is None or "train_runtime" in logs:
            return
        self.metrics.append(state.global_step, logs)
        if "reward" in logs:
            self.report(state.global_step / state.max_steps, _in_words(state, logs, args.generation_batch_size))


def _in_words(state: TrainerState, logs: dict[str, Any], rollouts: int) -> str:
    """Say where the run is: levels with their share and pass rate, hints, reward, signal and speed."""
    levels = [f"{name.removeprefix(PASS)}: {logs[name]:.2f}" for name in sorted(logs) if name.startswith(PASS)]
    speed = logs["completions/mean_length"] * rollouts / logs.get("step_time", math.inf)
    return (
        f"step {state.global_step}/{state.max_steps}  passed at level {', '.join(levels)}  "
        f"reward {logs['reward']:.3f}  signal {logs['curriculum/signal']:.2f}  "
        f"hints {logs['curriculum/hint_tokens']:.1f} tokens  {speed:,.0f} tokens/s"
    )
