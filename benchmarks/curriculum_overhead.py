"""A training step of the curriculum trainer, hints off, against a step of TRL's plain GRPOTrainer.

Both train a tiny model on the same parity problems, 8 groups of 8 completions of 16 tokens each, so that every
step does the same work. They take their steps in turn, so that a slow spell of the machine hits both; after a
few to warm up, the median step of each counts. The target 1/1.05 allows ours 1.05 times the baseline's time.

    python benchmarks/curriculum_overhead.py
"""

import os
import statistics
import sys
import tempfile
import threading
import time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from datasets import Dataset
from transformers import PrinterCallback, TrainerCallback
from transformers.utils import logging
from trl import GRPOConfig, GRPOTrainer

from stepladder.posttrain import Curriculum, CurriculumTrainer
from stepladder.posttrain.data import TaskReward, data_set
from stepladder.posttrain.models import load_model
from stepladder.posttrain.tiny import Teaching, tiny_model
from stepladder.tasks.chain import Chain
from stepladder.tasks.task import Problem
from timing import report

STEPS, WARM_UP = 30, 3
LENGTH = 16
TARGET = round(1 / 1.05, 3)

TASK = Chain("parity", d=6, secret=(0, 1, 2))


class Turns(TrainerCallback):
    """Lets two trainers take their steps in turn, and times each step from the turn's begin to its end."""

    def __init__(self) -> None:
        """Begin without a neighbour."""
        self.mine = threading.Semaphore(0)
        self.other: Turns = self
        self.began = 0.0
        self.steps: list[float] = []

    def on_train_begin(self, *args: Any, **kwargs: Any) -> None:
        """Wait for the first turn."""
        self.mine.acquire()
        self.began = time.perf_counter()

    def on_step_end(self, *args: Any, **kwargs: Any) -> None:
        """Hand over, and wait for the next turn."""
        self.steps.append(time.perf_counter() - self.began)
        self.other.mine.release()
        self.mine.acquire()
        self.began = time.perf_counter()

    def on_train_end(self, *args: Any, **kwargs: Any) -> None:
        """Let the other one finish."""
        self.other.mine.release()


def prepared(
    ours: bool, turns: Turns, model_path: str, folder: str, problems: list[Problem], rows: Dataset
) -> GRPOTrainer:
    """Return a trainer, ours or the plain one."""
    arguments = GRPOConfig(
        output_dir=folder,
        max_steps=STEPS + WARM_UP,
        per_device_train_batch_size=64,
        num_generations=8,
        max_completion_length=LENGTH,
        generation_kwargs={"min_new_tokens": LENGTH},
        use_cpu=True,
        bf16=False,
        report_to="none",
        disable_tqdm=True,
        logging_steps=1,
        save_strategy="no",
    )
    model, tokenizer = load_model(model_path, TASK)
    kind, more = (CurriculumTrainer, {"curriculum": Curriculum()}) if ours else (GRPOTrainer, {})
    trainer = kind(
        model=model,
        reward_funcs=[TaskReward(TASK, problems)],
        args=arguments,
        train_dataset=rows,
        processing_class=tokenizer,
        callbacks=[turns],
        **more,
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def main() -> int:
    logging.disable_progress_bar()
    problems = [TASK.generate(level, index) for level in TASK.levels for index in range(256)]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        path = str(tiny_model(TASK, Teaching(steps=1)))
        rows = data_set(TASK, problems, load_model(path, TASK)[1])
        ours, plain = Turns(), Turns()
        ours.other, plain.other = plain, ours
        threads = [
            threading.Thread(target=prepared(turns is ours, turns, path, folder, problems, rows).train)
            for turns in (ours, plain)
        ]
        for thread in threads:
            thread.start()
        ours.mine.release()
        for thread in threads:
            thread.join()
    step, baseline = (statistics.median(turns.steps[WARM_UP:]) for turns in (ours, plain))
    return report("curriculum_overhead", baseline / step, TARGET, seconds=step, baseline_seconds=baseline)


if __name__ == "__main__":
    sys.exit(main())
