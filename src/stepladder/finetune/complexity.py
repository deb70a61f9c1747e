"""How many samples finetuning needs: a question for `stepladder.scaling`, n = samples per stage."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from stepladder.curriculum import MethodName, Scoring, no_curriculum, stages_of
from stepladder.errors import InputError
from stepladder.finetune.engines import CountsEngine, stage_accuracy
from stepladder.finetune.flow import check_countable
from stepladder.finetune.setup import Setup
from stepladder.finetune.train import Recipe, train
from stepladder.scaling import Floats, Question
from stepladder.trees import Target
from stepladder.trees.catalogue import TaskName, build_tree


@dataclass(frozen=True)
class FinetuneQuestion(Question):
    """How many samples per stage does a method need on one target?"""

    method: MethodName
    task: TaskName
    d: int
    secret: tuple[int, ...]
    learning_rate: float
    alphabet: int | None = None
    scoring: Scoring = "step"
    target: float = 0.99
    trials: int = 400
    seed: int = 0

    def __post_init__(self) -> None:
        """Check everything before the first evaluation."""
        self.check()
        Recipe(learning_rates=(self.learning_rate,))
        check_countable(self.setup.target)

    @property
    def name(self) -> str:
        """The method."""
        return self.method

    @property
    def k(self) -> int:  # type: ignore[override]
        """Picks of the secret."""
        return len(self.secret)

    @property
    def units(self) -> int:
        """The stages."""
        return len(stages_of(self.method, self.k))

    @property
    def setup(self) -> Setup:
        """The learning problem."""
        return Setup(Target(build_tree(self.task, self.d, self.alphabet), self.secret))

    def weights(self, size: int, trials: int, stream: int) -> Tensor:
        """Train fresh models with `size` rollouts per stage."""
        engine = CountsEngine(self.setup, [self.seed, stream, size])
        stages = stages_of(self.method, self.k, self.scoring)
        recipe = Recipe(learning_rates=(self.learning_rate,), samples=size)
        return train(engine, stages, recipe, trials).weights

    def accuracies(self, size: int, trials: int, stream: int) -> Floats:
        """Train fresh models and return their exact accuracies."""
        law = self.setup.law(self.weights(size, trials, stream))
        return stage_accuracy(self.setup, law, no_curriculum(self.k)[0])


def default_secret(k: int, d: int) -> tuple[int, ...]:
    """Return the paper's secret, the first k positions; it is also the hardest one."""
    if not 1 <= k < d:
        raise InputError(f"must be between 1 and d-1 = {d - 1}, got {k}", option="k")
    return tuple(range(k))
