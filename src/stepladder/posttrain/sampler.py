"""Which rows a batch is made of: levels by the pacer's shares, rows within a level at random.

Batch b depends on the seed, b and the pacer's answer for b alone, so a run that resumes draws the same rows.
Rows of a batch are different ones as long as their level has enough. The order within a batch is TRL's: every
row stands `generations` times in a row, and the whole batch `repeats` times, once for each step that trains on
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from torch.utils.data import Sampler

from stepladder.curriculum.pacing import Pacer

_STREAM = 0x5A


class CurriculumSampler(Sampler[int]):
    """Rows for every batch of a whole run."""

    def __init__(
        self,
        levels: Sequence[int],
        pacer: Pacer,
        *,
        rows_per_batch: int,
        generations: int,
        repeats: int,
        batches: int,
        seed: int,
    ) -> None:
        """Take every row's level; `batches` is the length of the run."""
        self.pacer = pacer
        self.rows_per_batch = rows_per_batch
        self.generations = generations
        self.repeats = repeats
        self.batches = batches
        self.seed = seed
        self.names = sorted(set(levels))
        given = np.asarray(levels)
        self.rows = [np.flatnonzero(given == level) for level in self.names]

    def batch(self, number: int) -> list[int]:
        """Return the rows of one batch, without their repetitions."""
        rng = np.random.default_rng([self.seed, number, _STREAM])
        weights = self.pacer.weights(number, self.batches, len(self.names))
        counts = rng.multinomial(self.rows_per_batch, weights)
        chosen: list[int] = []
        for count, rows in zip(counts, self.rows, strict=True):
            again, rest = divmod(int(count), len(rows))
            chosen += [*np.tile(rows, again).tolist(), *rng.choice(rows, rest, replace=False).tolist()]
        return [chosen[place] for place in rng.permutation(len(chosen))]

    def __iter__(self) -> Iterator[int]:
        """Yield the rows of all batches in turn."""
        for number in range(self.batches):
            rows = [row for row in self.batch(number) for _ in range(self.generations)]
            for _ in range(self.repeats):
                yield from rows

    def __len__(self) -> int:
        """Count all rows of the run with their repetitions."""
        return self.batches * self.rows_per_batch * self.generations * self.repeats
