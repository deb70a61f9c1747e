"""What is reasoned about: 2S-ART trees, their tasks, the PART base sampler and the two oracles."""

from stepladder.trees.causal_graph import CausalGraph
from stepladder.trees.countdown import Countdown
from stepladder.trees.markov_chain import MarkovChain
from stepladder.trees.modular_sum import ModularSum
from stepladder.trees.oracles import FamilyOracle, TerminalOracle
from stepladder.trees.parity import Parity
from stepladder.trees.part import Part, expected_reciprocal_product
from stepladder.trees.policy import Policy
from stepladder.trees.recall import Recall
from stepladder.trees.rollout import Rollouts, rollout
from stepladder.trees.spurious import acceptance, family_spurious_rate, terminal_spurious_rate
from stepladder.trees.target import Target
from stepladder.trees.translation import Translation
from stepladder.trees.tree import Tree
from stepladder.trees.uniqueness import UniquenessReport, check_uniqueness

__all__ = [
    "CausalGraph",
    "Countdown",
    "FamilyOracle",
    "MarkovChain",
    "ModularSum",
    "Parity",
    "Part",
    "Policy",
    "Recall",
    "Rollouts",
    "Target",
    "TerminalOracle",
    "Translation",
    "Tree",
    "UniquenessReport",
    "acceptance",
    "check_uniqueness",
    "expected_reciprocal_product",
    "family_spurious_rate",
    "rollout",
    "terminal_spurious_rate",
]
