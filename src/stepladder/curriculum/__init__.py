"""The order of learning: stages, schedules and when to advance, for trees and language models alike."""

from stepladder.curriculum.advance import Advance, AfterSteps, AtAccuracy
from stepladder.curriculum.schedules import Schedule, constant, cosine, linear, staircase
from stepladder.curriculum.stages import (
    METHODS,
    MethodName,
    Scoring,
    Stage,
    depth_increasing,
    hint_decreasing,
    no_curriculum,
    stages_of,
)

__all__ = [
    "METHODS",
    "Advance",
    "AfterSteps",
    "AtAccuracy",
    "MethodName",
    "Schedule",
    "Scoring",
    "Stage",
    "constant",
    "cosine",
    "depth_increasing",
    "hint_decreasing",
    "linear",
    "no_curriculum",
    "stages_of",
    "staircase",
]
