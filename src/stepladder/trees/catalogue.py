"""The trees by the names the command line uses."""

from __future__ import annotations

from typing import Literal

from stepladder.errors import InputError
from stepladder.trees.causal_graph import CausalGraph
from stepladder.trees.countdown import Countdown
from stepladder.trees.markov_chain import MarkovChain
from stepladder.trees.modular_sum import ModularSum
from stepladder.trees.parity import Parity
from stepladder.trees.recall import Recall
from stepladder.trees.translation import Translation
from stepladder.trees.tree import Tree

TaskName = Literal["parity", "sum", "countdown", "markov", "recall", "causal", "translation"]


def build_tree(task: TaskName, d: int, alphabet: int | None = None) -> Tree:
    """Build the named tree over d inputs (d numbers for Countdown); None means its usual alphabet.

    >>> build_tree("sum", 4, 5)
    ModularSum(d=4, alphabet=5)
    """
    if task == "parity" and alphabet not in (None, 2):
        raise InputError(f"of parity is 2, got {alphabet}; use the task sum for others", "alphabet")

    def letters(usual: int) -> int:
        return usual if alphabet is None else alphabet

    match task:
        case "parity":
            return Parity(d)
        case "sum":
            return ModularSum(d, letters(3))
        case "countdown":
            return Countdown(d, letters(13))
        case "markov":
            return MarkovChain(d, letters(3))
        case "recall":
            return Recall(d, letters(4))
        case "causal":
            return CausalGraph(d, letters(3))
        case "translation":
            return Translation(d, letters(5))
