"""Samplers over a model that is known."""

from __future__ import annotations

import pytest

from stepladder.evaluate.sampler import Decoding, SampleLog, Sampler
from stepladder.tasks.chain import Chain


@pytest.fixture
def stepper(stepper_of):
    """Build a sampler over a known model: `sampler(rate, path)`."""

    def build(rate, path=None, alphabet=97, secret=(0, 1, 2), batch=64):
        # A large modulus: hardly any wrong chain is right by luck.
        task = Chain("sum", d=6, secret=secret, alphabet=alphabet)
        return Sampler(task, stepper_of(task, rate), Decoding(), SampleLog(path), seed=3, batch=batch)

    return build
