"""Rollouts in bulk: index paths, reasoning states and answers of a policy on fresh random inputs.

A policy does not see the input, so the n index paths can be drawn before any input is. Where the tree
has few paths, their counts come from one multinomial draw over all paths and the rows are laid out
path by path: no random number is spent on a pick. Larger trees are sampled pick by pick.

Rows are a bag, not a sequence: they come sorted by length, and that is all the order means. Work goes
on in chunks of bounded size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stepladder.errors import InputError, check_seed
from stepladder.trees.policy import Policy
from stepladder.trees.target import Target
from stepladder.trees.tree import ROOT, Mask, Picks, Tokens, Tree

CHUNK = 1 << 17
"""Rollouts per chunk: a few dozen megabytes for the trees of the paper."""

TABLE_LIMIT = 1 << 14
"""The most paths to tabulate; beyond, picking one by one is cheaper."""


@dataclass(frozen=True)
class Rollouts:
    """A batch of rollouts, sorted by length."""

    tree: Tree
    inputs: Tokens
    """Letters, shape (n, slots)."""
    picks: npt.NDArray[np.int16]
    """Picked positions with the closing EOS and EOS ever after, shape (n, width)."""
    lengths: npt.NDArray[np.int16]
    """Picks before EOS, shape (n,)."""
    states: tuple[Tokens, ...]
    """z_1, z_2, ...: entry m-1 holds z_m of the rows whose length is at least m, in order."""

    def __len__(self) -> int:
        """Count the rollouts."""
        return len(self.lengths)

    @property
    def answers(self) -> Tokens:
        """The token before EOS of every rollout, what an outcome oracle sees."""
        answers = self.states[0].copy()
        for state in self.states[1:]:
            answers[len(answers) - len(state) :] = state
        return answers

    def follows(self, target: Target) -> Mask:
        """Mark the rollouts that took the target's exact path."""
        path = np.asarray(target.path)
        if len(path) > self.picks.shape[1]:
            return np.zeros(len(self), dtype=np.bool_)
        same: Mask = (self.picks[:, : len(path)] == path).all(axis=1)
        return same


@dataclass(frozen=True)
class PathTable:
    """Every path from a start, shortest first, with its probability under a policy."""

    picks: npt.NDArray[np.int16]
    """Shape (paths, width), each column contiguous in memory."""
    lengths: npt.NDArray[np.int16]
    probabilities: npt.NDArray[np.float64]


def path_table(
    policy: Policy,
    start: Sequence[int] = ROOT,
    truncate: int | None = None,
    limit: int = TABLE_LIMIT,
) -> PathTable | None:
    """Tabulate the paths from `start`, cut after `truncate` picks, or return None if over `limit`."""
    tree = policy.tree
    depth_limit = tree.max_depth if truncate is None else truncate
    level = np.asarray(start, dtype=np.int64).reshape(1, len(start))
    reach = np.ones(1)
    levels: list[Picks] = []
    ending: list[npt.NDArray[np.float64]] = []
    total = 0
    while len(level):
        total += len(level)
        if total > limit:
            return None
        if level.shape[1] == depth_limit and truncate is not None:
            levels.append(level)
            ending.append(reach)
            break
        step = policy.probabilities(level)
        if level.shape[1]:
            levels.append(level)
            ending.append(reach * step[:, tree.eos])
        parent, child = np.nonzero(step[:, : tree.d])
        reach = reach[parent] * step[parent, child]
        level = np.concatenate([level[parent], child[:, None]], axis=1)
    width = levels[-1].shape[1] + 1
    picks = np.full((width, sum(map(len, levels))), tree.eos, dtype=np.int16).T
    lengths = np.repeat([one.shape[1] for one in levels], [len(one) for one in levels])
    row = 0
    for one in levels:
        picks[row : row + len(one), : one.shape[1]] = one
        row += len(one)
    weights = np.concatenate(ending)
    return PathTable(picks, lengths.astype(np.int16), weights / weights.sum())


def rollout(
    policy: Policy,
    count: int,
    seed: int | np.random.SeedSequence,
    *,
    start: Sequence[int] = ROOT,
    truncate: int | None = None,
    chunk: int = CHUNK,
) -> Iterator[Rollouts]:
    """Yield `count` rollouts in chunks.

    `start` is a hint: picks given beforehand. `truncate` cuts every chain that is still going after
    that many picks and appends EOS, as the depth-increasing curriculum does.

    >>> from stepladder.trees import Parity, Part, Target, TerminalOracle
    >>> oracle = TerminalOracle(Target(Parity(d=8), (0, 1, 2)))
    >>> chunks = rollout(Part(oracle.target.tree), 1_000_000, seed=0)
    >>> accepted = sum(int(oracle.judge(part.inputs, part.answers).sum()) for part in chunks)
    >>> 0.498 < accepted / oracle.queries < 0.502
    True
    """
    if count < 1 or chunk < 1:
        raise InputError(f"{count} rollouts in chunks of {chunk}: both must be at least 1")
    check_seed(seed)
    tree = policy.tree
    if start:
        Target(tree, tuple(start))
    if truncate is not None and not max(1, len(start)) <= truncate <= tree.max_depth:
        raise InputError(
            f"truncation must leave between {max(1, len(start))} and {tree.max_depth} picks, got {truncate}"
        )
    table = path_table(policy, start, truncate)
    streams = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)

    for first in range(0, count, chunk):
        size = min(chunk, count - first)
        rng = np.random.Generator(np.random.SFC64(streams.spawn(1)[0]))
        if table is None:
            picks, lengths = _pick_by_pick(policy, size, rng, tuple(start), truncate)
            inputs = tree.draw_inputs(size, rng)
            states = _states(tree, inputs, picks, lengths)
        else:
            counts = rng.multinomial(size, table.probabilities)
            picks = np.repeat(table.picks.T, counts, axis=1).T
            lengths = np.repeat(table.lengths, counts)
            inputs = tree.draw_inputs(size, rng)
            states = _states(tree, inputs, picks, lengths, _runs(table, counts))
        yield Rollouts(tree, inputs, picks, lengths, states)


def _pick_by_pick(
    policy: Policy,
    count: int,
    rng: np.random.Generator,
    start: tuple[int, ...],
    truncate: int | None,
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]]:
    """Sample every chain one pick at a time, and sort the rows by length."""
    tree = policy.tree
    depth_limit = tree.max_depth if truncate is None else truncate
    going = np.tile(np.asarray(start, dtype=np.int64), (count, 1))
    finished: list[Picks] = []
    while len(going) and not (truncate is not None and going.shape[1] == depth_limit):
        cumulative = np.cumsum(policy.probabilities(going), axis=1)
        # Scaling by the last entry keeps a rounded-down total from ever selecting past the end.
        threshold = rng.random(len(going))[:, None] * cumulative[:, -1:]
        pick = (cumulative <= threshold).sum(axis=1)
        ended = pick == tree.eos
        finished.append(going[ended])
        going = np.concatenate([going[~ended], pick[~ended, None]], axis=1)
    finished.append(going)
    width = max(rows.shape[1] for rows in finished if len(rows)) + 1
    picks = np.full((count, width), tree.eos, dtype=np.int16)
    lengths = np.concatenate([np.full(len(rows), rows.shape[1]) for rows in finished])
    row = 0
    for rows in finished:
        picks[row : row + len(rows), : rows.shape[1]] = rows
        row += len(rows)
    return picks, lengths.astype(np.int16)


Runs = list[list[tuple[int, int, int]]]
"""For each depth, the stretches of rows (pick, first row, end) that take the same pick there."""


def _runs(table: PathTable, counts: npt.NDArray[np.int64]) -> Runs | None:
    """Find the stretches of rows with equal picks; None where they are too short to be worth it."""
    drawn = np.flatnonzero(counts)
    if len(drawn) * 256 > counts.sum():
        return None
    ends = np.cumsum(counts[drawn])
    starts = ends - counts[drawn]
    runs = []
    for depth in range(1, int(table.lengths[drawn[-1]]) + 1):
        going = int(np.searchsorted(table.lengths[drawn], depth))
        picks = table.picks[drawn[going:], depth - 1]
        fresh = np.flatnonzero(np.diff(picks, prepend=-1))
        stops = np.append(fresh[1:], len(picks)) - 1
        first, end = starts[going:][fresh], ends[going:][stops]
        runs.append(list(zip(picks[fresh].tolist(), first.tolist(), end.tolist(), strict=True)))
    return runs


def _states(
    tree: Tree,
    inputs: Tokens,
    picks: npt.NDArray[np.int16],
    lengths: npt.NDArray[np.int16],
    runs: Runs | None = None,
) -> tuple[Tokens, ...]:
    """Run the step map; the rows are sorted by length, so those still going are always the tail."""
    states: list[Tokens] = []
    for depth in range(1, int(lengths[-1]) + 1):
        if runs is None:
            going = int(np.searchsorted(lengths, depth))
            clue = tree.clue(inputs[going:], picks[going:, depth - 1])
        else:
            stretches = [tree.clue(inputs[first:end], pick) for pick, first, end in runs[depth - 1]]
            clue = np.concatenate(stretches)
        if depth == 1:
            states.append(tree.first(depth, clue))
        else:
            before = states[-1]
            states.append(tree.combine(depth, before[len(before) - len(clue) :], clue))
    return tuple(states)
