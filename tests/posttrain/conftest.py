"""What the tests of post-training share: a very small model that knows the form of parity, and its trainers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset
from transformers.utils import logging
from trl import GRPOConfig

from stepladder.posttrain.curriculum import Curriculum
from stepladder.posttrain.data import TaskReward, data_set
from stepladder.posttrain.models import load_model
from stepladder.posttrain.tiny import Teaching, tiny_model
from stepladder.posttrain.trainer import CurriculumTrainer
from stepladder.tasks.chain import Chain
from stepladder.tasks.task import Problem

SMALL = Teaching(
    layers=1, hidden=48, heads=2, vocabulary=600, problems_per_level=16, steps=120, batch=32, learning_rate=8e-3
)
"""Taught in seconds, and well-formed nine times in ten."""

GENERATIONS = 4


@pytest.fixture(autouse=True, scope="session")
def quiet() -> None:
    """No bars of transformers among the dots."""
    logging.disable_progress_bar()


@pytest.fixture(scope="session")
def task() -> Chain:
    """Parity of two of four bits: levels 1, 2 and 3, with 1, 2 and 2 teacher steps."""
    return Chain("parity", d=4, secret=(0, 1))


@pytest.fixture(scope="session")
def teaching() -> Teaching:
    """How the small model is made."""
    return SMALL


@pytest.fixture(scope="session")
def model_folder(task: Chain, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The small model, made once for all workers."""
    base = tmp_path_factory.getbasetemp()
    with pytest.MonkeyPatch.context() as patch:
        shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
        patch.setenv("XDG_CACHE_HOME", str(shared / "models"))
        yield tiny_model(task, SMALL)


@pytest.fixture(scope="session")
def problems(task: Chain) -> list[Problem]:
    """Twelve problems of every level."""
    return [task.generate(level, index) for level in task.levels for index in range(12)]


@pytest.fixture(scope="session")
def rows(task: Chain, problems: list[Problem], model_folder: Path) -> Dataset:
    """The problems as a data set."""
    return data_set(task, problems, load_model(str(model_folder), task)[1])


@pytest.fixture
def arguments(tmp_path: Path) -> Callable[..., GRPOConfig]:
    """TRL's arguments for a batch of four groups of four."""

    def build(**changes: Any) -> GRPOConfig:
        usual = {
            "output_dir": str(tmp_path / "checkpoints"),
            "max_steps": 3,
            "per_device_train_batch_size": 4 * GENERATIONS,
            "num_generations": GENERATIONS,
            "max_completion_length": 32,
            "learning_rate": 1e-3,
            "beta": 0.0,
            "use_cpu": True,
            "bf16": False,
            "report_to": "none",
            "disable_tqdm": True,
            "logging_steps": 1,
            "save_strategy": "no",
            "remove_unused_columns": False,
        }
        return GRPOConfig(**(usual | changes))

    return build


@pytest.fixture
def trainer(
    task: Chain,
    problems: list[Problem],
    rows: Dataset,
    model_folder: Path,
    arguments: Callable[..., GRPOConfig],
) -> Callable[..., CurriculumTrainer]:
    """Make a trainer; `data` replaces the rows, `kind` the class."""

    def build(
        curriculum: Curriculum | None = None, data: Dataset | None = None, rewards: Any = None, **changes: Any
    ) -> CurriculumTrainer:
        model, tokenizer = load_model(str(model_folder), task)
        return CurriculumTrainer(
            model=model,
            reward_funcs=rewards or [TaskReward(task, problems)],
            args=arguments(**changes),
            train_dataset=rows if data is None else data,
            eval_dataset=rows.select(range(0, 36, 6)),
            processing_class=tokenizer,
            curriculum=curriculum or Curriculum(),
        )

    return build
