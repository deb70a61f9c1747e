"""Who reasons: attention over positions (W), the feed-forward blocks, readouts and scores."""

from stepladder.transformer.attention import Readout
from stepladder.transformer.construct import base_weights, path_weights
from stepladder.transformer.feedforward import RatioFFN, TableFFN, XorFFN, feedforward
from stepladder.transformer.model import Generation, TreeTransformer

__all__ = [
    "Generation",
    "RatioFFN",
    "Readout",
    "TableFFN",
    "TreeTransformer",
    "XorFFN",
    "base_weights",
    "feedforward",
    "path_weights",
]
