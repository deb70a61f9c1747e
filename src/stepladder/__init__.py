"""Curriculum post-training for reasoning.

The names a user needs, imported when first asked for so that `import stepladder` is instant:

>>> import stepladder as sl
>>> target = sl.Target(sl.Parity(d=8), (0, 1, 2))
>>> sl.Part(target.tree).path_probability(target.picks)
Fraction(1, 2688)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepladder.errors import InputError
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

__all__ = [  # noqa: RUF022 (in the order of _HOMES)
    "InputError",
    "Readout",
    "TreeTransformer",
    "path_weights",
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
]


def __getattr__(name: str) -> object:
    """Import a public name from its room on first use."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'stepladder' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)
