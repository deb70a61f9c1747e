"""Learning for language models: GRPO on TRL with a curriculum of levels and hints.

>>> from stepladder.posttrain import Curriculum, CurriculumTrainer  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepladder.posttrain.curriculum import Curriculum
    from stepladder.posttrain.trainer import CurriculumTrainer

__all__ = ["Curriculum", "CurriculumTrainer"]


def __getattr__(name: str) -> Any:
    """Import TRL only when the trainer is asked for."""
    if name == "Curriculum":
        from stepladder.posttrain.curriculum import Curriculum

        return Curriculum
    if name == "CurriculumTrainer":
        from stepladder.posttrain.trainer import CurriculumTrainer

        return CurriculumTrainer
    raise AttributeError(name)
