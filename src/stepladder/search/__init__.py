"""Test-time scaling: forced sampling, best-arm identification and layer-wise truncation."""

from stepladder.search.arms import Arms, CountsArms, Match, RolloutArms, SearchMethod
from stepladder.search.budget import Budget, Ledger
from stepladder.search.identify import Identification, identify
from stepladder.search.stopping import Adaptive, Fixed, adaptive_rule, paper_rule

__all__ = [
    "Adaptive",
    "Arms",
    "Budget",
    "CountsArms",
    "Fixed",
    "Identification",
    "Ledger",
    "Match",
    "RolloutArms",
    "SearchMethod",
    "adaptive_rule",
    "identify",
    "paper_rule",
]
