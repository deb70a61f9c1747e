"""How many oracle queries a search needs: a question for `stepladder.scaling`, n = pulls per arm."""

from __future__ import annotations

from dataclasses import dataclass

from stepladder.scaling import Floats, Question
from stepladder.search.arms import CountsArms, SearchMethod
from stepladder.search.identify import identify
from stepladder.search.stopping import Fixed
from stepladder.trees import Part, Target
from stepladder.trees.catalogue import TaskName, build_tree


@dataclass(frozen=True)
class SearchQuestion(Question):
    """How many pulls per arm does a search need on one target?"""

    method: SearchMethod
    task: TaskName
    d: int
    secret: tuple[int, ...]
    alphabet: int | None = None
    target: float = 0.99
    trials: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        """Check everything before the first evaluation."""
        self.check()
        self._arms(0, 0, tokens=False)

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
        """The arms along the target's path."""
        return sum(Part(self._target.tree).branching(self._target))

    @property
    def _target(self) -> Target:
        return Target(build_tree(self.task, self.d, self.alphabet), self.secret)

    def _arms(self, size: int, stream: int, tokens: bool) -> CountsArms:
        target = self._target
        return CountsArms(self.method, target, Part(target.tree), self._seed(size, stream), tokens)

    def _seed(self, size: int, stream: int) -> list[int]:
        """Every size is a fresh experiment, also where a lot decides."""
        return [self.seed, stream, size]

    def accuracies(self, size: int, trials: int, stream: int) -> Floats:
        """Run fresh searches with `size` pulls per arm; return the accuracies of their paths."""
        arms = self._arms(size, stream, tokens=False)
        return identify(arms, Fixed((size,)), trials, self._seed(size, stream)).accuracy()

    def tokens(self, size: int) -> float:
        """Return the mean T_comp of `trials` searches."""
        arms = self._arms(size, 2, tokens=True)
        found = identify(arms, Fixed((size,)), self.trials, self._seed(size, 2))
        return float(found.t_comp.mean())
