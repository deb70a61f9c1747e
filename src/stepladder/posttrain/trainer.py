"""GRPO with a curriculum: a thin layer on TRL's GRPOTrainer.

    trainer = GRPOTrainer(model=..., reward_funcs=..., args=..., train_dataset=...)

becomes, with a data set that has the column `level` (and `solution`, a list of steps, for hints),

    from stepladder.posttrain import Curriculum, CurriculumTrainer
    trainer = CurriculumTrainer(model=..., reward_funcs=..., args=..., train_dataset=...,
                                curriculum=Curriculum(levels="e2h_window"))

Hooks of TRL that are held on to: the train sampler chooses levels, `_tokenize_prompts` adds the hint's tokens,
`_calculate_rewards` shows rewards the whole text, `_generate_and_score_completions` moves the hint to the
completion, `_compute_loss` adds the prefix loss

    loss = policy loss (suffix only) + weight(t) * mean over hint tokens of -log pi(token).

Evaluation has no hints.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate.utils import gather_object
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR
from trl import GRPOTrainer

from stepladder.errors import InputError
from stepladder.files import write_whole
from stepladder.posttrain.curriculum import Curriculum
from stepladder.posttrain.hint_tokens import move_hints
from stepladder.posttrain.sampler import CurriculumSampler
from stepladder.tasks.task import hint_text

STATE_FILE = "curriculum.json"
"""Written last into a checkpoint: one that has it is complete."""

_STREAM = 0x417


class CurriculumTrainer(GRPOTrainer):  # type: ignore[misc]
    """GRPOTrainer that follows a curriculum."""

    def __init__(self, *args: Any, curriculum: Curriculum, **kwargs: Any) -> None:
        """Take GRPOTrainer's arguments and the curriculum."""
        super().__init__(*args, **kwargs)
        self.curriculum = curriculum
        self.pacer = curriculum.pacer()
        self._level_names: list[int] = []
        self._hints: list[list[int]] | None = None
        self._hint_mask: torch.Tensor | None = None
        self._signal: torch.Tensor | None = None
        self._check()

    def _check(self) -> None:
        columns = self.train_dataset.column_names
        if self.args.max_steps < 1:
            raise InputError("must be set: a schedule needs to know where the run ends", option="max_steps")
        if "level" not in columns:
            raise InputError("has no column level", option="train_dataset")
        self._level_names = _level_names(self.train_dataset["level"])
        if self.args.accelerator_config.split_batches:
            raise InputError("must be False: half of every batch would be dropped", option="split_batches")
        if self.curriculum.hints.name == "none":
            return
        if "solution" not in columns:
            raise InputError("has no column solution, which hints are taken from", option="train_dataset")
        if self.args.temperature != 1.0:
            raise InputError(
                f"must be 1 with hints, got {self.args.temperature:g}: the prefix loss is one at temperature 1",
                option="temperature",
            )

    # ---- levels

    def _get_train_sampler(self, dataset: Any = None) -> CurriculumSampler:
        data = self.train_dataset if dataset is None else dataset
        every = self.num_iterations * self.args.steps_per_generation
        updates = self.args.max_steps * self.args.gradient_accumulation_steps
        return CurriculumSampler(
            data["level"],
            self.pacer,
            rows_per_batch=self.args.generation_batch_size // self.num_generations,
            generations=self.num_generations,
            repeats=every,
            batches=-(-updates // every),
            seed=self.args.seed,
        )

    # ---- hints

    @property
    def progress(self) -> float:
        """How much of the run is done, from 0 to 1."""
        return float(self.state.global_step / self.args.max_steps)

    def draw_hint(self, row: dict[str, Any]) -> list[int]:
        """Return the tokens of a row's hint: the same for every copy of the row in this step."""
        rule = self.curriculum.hints
        solution = list(row["solution"])
        key = [self.args.seed, self.state.global_step, _row_number(row), _STREAM]
        rng = np.random.default_rng(key)
        if rule.unit == "tokens":
            tokens = self._tokens(solution)
            return tokens[: rule.reveal(self.progress, len(tokens), rng)]
        return self._tokens(solution[: rule.reveal(self.progress, len(solution), rng)])

    def _tokens(self, steps: list[str]) -> list[int]:
        text = hint_text(steps)
        ids: list[int] = self.processing_class(text=text, add_special_tokens=False)["input_ids"] if text else []
        return ids[: self.curriculum.longest_hint]

    def _tokenize_prompts(self, prompts: list[Any]) -> tuple[list[list[int]], Any, Any]:
        prompt_ids, images, fields = super()._tokenize_prompts(prompts)
        if self._hints is not None:
            prompt_ids = [list(ids) + hint for ids, hint in zip(prompt_ids, self._hints, strict=True)]
        return prompt_ids, images, fields

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        training = self.model.training
        hinted = training and self.curriculum.hints.name != "none"
        self._hints = [self.draw_hint(row) for row in inputs] if hinted else None
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        if training:
            output = self._apply_gate(output, len(inputs))
        if self._hints is not None and any(self._hints):
            output = move_hints(output, self._hints)
        self._hints = None
        return output

    # ---- rewards

    def _calculate_rewards(
        self, inputs: list[dict[str, Any]], prompts: list[Any], completions: list[Any], completion_ids: Any
    ) -> torch.Tensor:
        if self._hints is not None:
            whole = [hint + list(ids) for hint, ids in zip(self._hints, completion_ids, strict=True)]
            texts = self.processing_class.batch_decode(whole, skip_special_tokens=True)
            completions = [_said(text, like) for text, like in zip(texts, completions, strict=True)]
        rewards: torch.Tensor = super()._calculate_rewards(inputs, prompts, completions, completion_ids)
        if self.model.training:
            self._take_note(inputs, (rewards * self.reward_weights.to(rewards.device)).nansum(dim=1))
        return rewards

    def _take_note(self, inputs: list[dict[str, Any]], rewards: torch.Tensor) -> None:
        """Tell the pacer and the metrics what came out, over all processes."""
        levels = gather_object([row["level"] for row in inputs])
        lengths = gather_object([len(hint) for hint in self._hints or [[]] * len(inputs)])
        passed = (rewards >= self.curriculum.pass_reward).tolist()
        groups = rewards.view(-1, self.num_generations)
        self._signal = (groups.amax(dim=1) > groups.amin(dim=1)).repeat_interleave(self.num_generations)
        metrics = self._metrics["train"]
        seen: dict[int, tuple[int, int]] = {}
        for place, name in enumerate(self._level_names):
            own = [outcome for outcome, level in zip(passed, levels, strict=True) if level == name]
            metrics[f"curriculum/share/level_{name}"].append(len(own) / len(levels))
            if own:
                seen[place] = (sum(own), len(own))
                metrics[f"curriculum/pass/level_{name}"].append(sum(own) / len(own))
        self.pacer.observe(seen)
        metrics["curriculum/pass"].append(sum(passed) / len(passed))
        metrics["curriculum/signal"].append(self._signal.float().mean().item())
        metrics["curriculum/hint_tokens"].append(sum(lengths) / len(lengths))
        metrics["curriculum/prefix_weight"].append(self.curriculum.hints.weight(self.progress))

    def _apply_gate(self, output: dict[str, Any], rows: int) -> dict[str, Any]:
        """Leave out groups without a signal, or give their weight to the others."""
        if self.curriculum.gate == "off" or self._signal is None:
            return output
        start = self.accelerator.process_index * rows
        signal = self._signal[start : start + rows].to(output["advantages"].device)
        if self.curriculum.gate == "reweight":
            share = self._signal.float().mean().clamp(min=1 / len(self._signal)).to(signal.device)
            return {**output, "advantages": output["advantages"] / share}
        mask = output.get("tool_mask", torch.ones_like(output["completion_mask"])) * signal[:, None]
        kept = self.accelerator.gather((mask * output["completion_mask"]).sum()).sum()
        return {**output, "tool_mask": mask, "num_items_in_batch": kept}

    # ---- loss

    def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> Any:
        logps, entropies, aux_loss = super()._get_per_token_logps_and_entropies(*args, **kwargs)
        if self._hint_mask is not None:
            # The policy loss sees a constant there: no gradient, and no overflow behind a mask of zeros.
            self._hint_logps = logps
            logps = torch.where(self._hint_mask.bool(), torch.zeros_like(logps), logps)
        return logps, entropies, aux_loss

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        self._hint_mask = inputs.get("hint_mask")
        loss: torch.Tensor = super()._compute_loss(model, inputs)
        weight = self.curriculum.hints.weight(self.progress)
        if self._hint_mask is not None and weight > 0:
            mask = self._hint_mask
            prefix = -(self._hint_logps * mask).sum() / mask.sum().clamp(min=1)
            loss = loss + weight * prefix / self.current_gradient_accumulation_steps
            self._metrics["train"]["curriculum/prefix_loss"].append(prefix.item())
        self._hint_mask = None
        return loss

    # ---- checkpoints

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        if self.args.should_save:
            folder = (
                Path(self._get_output_dir(trial=trial)) / f"{PREFIX_CHECKPOINT_DIR}-{self.state.global_step}"
            )
            write_whole(folder / STATE_FILE, json.dumps(self.pacer.state()))

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        super()._load_optimizer_and_scheduler(checkpoint)
        if checkpoint is not None:
            self.pacer.restore(json.loads((Path(checkpoint) / STATE_FILE).read_text()))


def _level_names(levels: Iterable[Any]) -> list[int]:
    """Return the levels of the data from the easiest to the hardest."""
    names = set(levels)
    for name in names:
        if not isinstance(name, int):
            raise InputError(f"must be a whole number in every row, got {name!r}", option="level")
    return sorted(names)


def _row_number(row: dict[str, Any]) -> int:
    """Return a number for a row by what it says, the same in every process."""
    said = str((row["prompt"], row["solution"])).encode(errors="replace")
    return int.from_bytes(hashlib.sha256(said).digest()[:8], "big")


def _said(text: str, like: Any) -> Any:
    """Return a text as a completion of the same kind: plain, or the assistant's last message."""
    return text if isinstance(like, str) else [*like[:-1], {**like[-1], "content": text}]
