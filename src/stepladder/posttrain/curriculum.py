"""A curriculum for language models: level schedule times hint rule, and a gate for groups without a signal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from stepladder.curriculum.hints import HintRule, hint_rule
from stepladder.curriculum.levels import LevelScheduleName, level_schedule
from stepladder.curriculum.pacing import ByPassRate, Pacer, Planned

Gate = Literal["off", "drop", "reweight"]


@dataclass(frozen=True)
class Curriculum:
    """Level schedule times hint rule, and what happens to groups without a signal."""

    levels: LevelScheduleName | Literal["by_pass_rate"] = "e2h_balanced"
    """How often each level is trained on; by_pass_rate opens the next level when the current one is passed."""
    hints: HintRule = field(default_factory=lambda: hint_rule("none"))
    """How much of the teacher's solution is given."""
    gate: Gate = "off"
    """Groups that are all right or all wrong: `drop` leaves them out of the loss; `reweight` gives the others
    their weight. Metrics count every rollout."""
    pass_reward: float = 1.0
    """The reward from which on a rollout has passed."""
    threshold: float = 0.7
    """by_pass_rate: the pass rate that opens the next level."""
    window: int = 256
    """by_pass_rate: over how many rollouts of the current level."""
    longest_hint: int | None = None
    """Tokens of the teacher's solution that a hint may take from; None for all."""

    def pacer(self) -> Pacer:
        """Make the pacer of a run."""
        if self.levels == "by_pass_rate":
            return ByPassRate(self.threshold, self.window)
        return Planned(level_schedule(self.levels))
