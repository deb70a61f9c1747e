"""Curriculum post-training for reasoning.

The names a user needs, imported when first asked for so that `import stepladder` is instant:

>>> import stepladder as sl
>>> target = sl.Target(sl.Parity(d=8), (0, 1, 2))
>>> sl.Part(target.tree).path_probability(target.picks)
Fraction(1, 2688)
>>> found = sl.identify(sl.CountsArms("ltar", target, sl.Part(target.tree), seed=[0]),
...                     sl.adaptive_rule("ltar", target, delta=0.1), searches=100, seed=0)
>>> bool(found.correct.mean() > 0.9)
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepladder.errors import InputError
    from stepladder.finetune.setup import Setup
    from stepladder.finetune.train import Recipe
    from stepladder.search import CountsArms, RolloutArms, adaptive_rule, identify
    from stepladder.theory.pays import pays
    from stepladder.transformer import Readout, TreeTransformer, path_weights
    from stepladder.trees import (
        Countdown,
        FamilyOracle,
        ModularSum,
        Parity,
        Part,
        Target,
        TerminalOracle,
        Tree,
        check_uniqueness,
        rollout,
    )

_HOMES = {
    "stepladder.errors": ["InputError"],
    "stepladder.finetune.setup": ["Setup"],
    "stepladder.finetune.train": ["Recipe"],
    "stepladder.search": ["CountsArms", "RolloutArms", "adaptive_rule", "identify"],
    "stepladder.theory.pays": ["pays"],
    "stepladder.transformer": ["Readout", "TreeTransformer", "path_weights"],
    "stepladder.trees": [
        "Countdown",
        "FamilyOracle",
        "ModularSum",
        "Parity",
        "Part",
        "Target",
        "TerminalOracle",
        "Tree",
        "check_uniqueness",
        "rollout",
    ],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Countdown",
    "CountsArms",
    "FamilyOracle",
    "InputError",
    "ModularSum",
    "Parity",
    "Part",
    "Readout",
    "Recipe",
    "RolloutArms",
    "Setup",
    "Target",
    "TerminalOracle",
    "Tree",
    "TreeTransformer",
    "adaptive_rule",
    "check_uniqueness",
    "identify",
    "path_weights",
    "pays",
    "rollout",
]


def __getattr__(name: str) -> object:
    """Import a public name from its room on first use."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'stepladder' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)
