"""What commands need to sample from a model, in one import that brings the language-model libraries."""

from stepladder.evaluate.model import completer, run_config
from stepladder.evaluate.sampler import Decoding, SampleLog, Sampler

__all__ = ["Decoding", "SampleLog", "Sampler", "completer", "run_config"]
