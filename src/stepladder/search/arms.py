"""The arms of a depth: force a pick, let the base model go on, ask the oracle (Alg. fxrs).

At depth l, after the committed picks, the arms are the legal next picks. Pulling arm j once means

    FXRS   emit one pick of the base model at a time until it is j (each try is a token)
    bai    roll out to EOS with the base model, ask the terminal oracle
    ltar   append EOS at once and ask the family oracle at depth l; at depth k+1 roll out and judge depth k

on a fresh random input. Two engines give the number of accepted pulls and the tokens they cost:

    rollout  samples every try and every roll-out; any tree, any base policy
    counts   draws the numbers directly: tries are negative binomial, accepted pulls binomial, roll-out
             lengths multinomial. Exact in distribution, at a cost that does not depend on how many pulls;
             for trees whose wrong chains are all accepted equally often

The retry limit of Alg. fxrs grows until the forced pick comes, so it never changes what a pull returns;
the rollout engine counts how often it was hit.

Erratum: Alg. fxrs compares token *values*. Bits have two, so that half of all picks pass for any other and
no index is forced. Indices are compared by default; `match="value"` is the printed rule.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from stepladder.errors import InputError
from stepladder.finetune.flow import Draws, check_countable
from stepladder.search.budget import Numbers
from stepladder.trees import FamilyOracle, Policy, Target, TerminalOracle
from stepladder.trees.tree import Mask, Picks, Tokens

MOST_TOKENS = 4e18
"""What a search may be expected to emit: less than half of what a 64-bit count can hold."""

CHUNK = 1 << 20
"""Pulls that are rolled out at once; memory does not grow beyond that."""

SearchMethod = Literal["bai", "ltar"]
Match = Literal["index", "value"]
SearchEngineName = Literal["counts", "rollout"]
Floats = npt.NDArray[np.float64]


def check_delta(delta: float) -> None:
    """Refuse a confidence parameter outside (0, 1)."""
    if not 0 < delta < 1:
        raise InputError(f"must lie strictly between 0 and 1, got {delta:g}", option="delta")


class Arms(ABC):
    """Pulls the arms of a batch of searches, all at the same depth, each after its own picks."""

    def __init__(self, method: SearchMethod, target: Target, base: Policy) -> None:
        """Take who judges, what is looked for and who emits."""
        self.method = method
        self.target = target
        self.base = base

    def truncated(self, depth: int) -> bool:
        """Say whether EOS is appended right after the forced pick."""
        return self.method == "ltar" and depth <= self.target.k

    @abstractmethod
    def pull(self, histories: Picks, pulls: Numbers) -> tuple[Numbers, Numbers]:
        """Pull each arm as often as `pulls` says, shape (searches, d+1).

        Returns the accepted pulls of each arm and the tokens of each search.
        """

    @abstractmethod
    def commit(self, histories: Picks, chosen: npt.NDArray[np.int64]) -> Numbers:
        """Emit picks until the chosen one comes; returns the tokens of each search."""


class CountsArms(Arms):
    """Draws accepted pulls and tokens without sampling a single chain."""

    def __init__(
        self, method: SearchMethod, target: Target, base: Policy, seed: Sequence[int], tokens: bool = True
    ) -> None:
        """Tabulate the base model's law and its roll-out lengths; `tokens` False leaves T_comp at 0."""
        super().__init__(method, target, base)
        self.acceptance = check_countable(target)
        d = target.tree.d
        after_one = base.probabilities(np.arange(d).reshape(d, 1))
        root = base.probabilities(np.zeros((1, 0), dtype=np.int64))
        self.law = np.concatenate([after_one, root])
        self.lengths = _rollout_lengths(self.law)
        self.rng = np.random.default_rng(list(seed))
        self.draws = Draws(self.rng)
        self.tokens = tokens

    def pull(self, histories: Picks, pulls: Numbers) -> tuple[Numbers, Numbers]:
        """Draw from the exact joint law of accepted pulls and tokens."""
        depth = histories.shape[1] + 1
        path, eos = self.target.path, self.target.tree.eos
        on_path = (histories == np.asarray(path[: depth - 1])).all(axis=1)
        correct = path[depth - 1]
        true = np.zeros_like(pulls)
        finish = self._finish(depth)
        true[on_path, correct] = self.rng.binomial(pulls[on_path, correct], finish)
        accepted = true + self.rng.binomial(pulls - true, self.acceptance)
        if not self.tokens:
            return accepted, np.zeros(len(pulls), dtype=np.int64)
        tokens = self._tries(histories, pulls).sum(axis=1)
        if not self.truncated(depth):
            tokens = tokens + self._rollout_tokens(on_path, pulls[:, :eos], true[:, :eos], depth)
        return accepted, tokens

    def commit(self, histories: Picks, chosen: npt.NDArray[np.int64]) -> Numbers:
        """One forced pick each."""
        if not self.tokens:
            return np.zeros(len(chosen), dtype=np.int64)
        pulls = np.zeros((len(chosen), self.target.tree.d + 1), dtype=np.int64)
        pulls[np.arange(len(chosen)), chosen] = 1
        tokens: Numbers = self._tries(histories, pulls).sum(axis=1)
        return tokens

    def _finish(self, depth: int) -> float:
        """Return the probability that the rest of the judged path follows the correct pick."""
        if self.truncated(depth):
            return 1.0
        path = self.target.path
        return math.prod(float(self.law[path[step - 1], path[step]]) for step in range(depth, len(path)))

    def _tries(self, histories: Picks, pulls: Numbers) -> Numbers:
        """Draw the tokens that forcing takes: one per success and the failures in between."""
        last = histories[:, -1] if histories.shape[1] else np.full(len(histories), self.target.tree.eos)
        chance = self.law[last]
        pulled = pulls > 0
        if (chance[pulled] <= 0).any():
            raise InputError("the base model never picks one of the arms, so it cannot be forced")
        forced = np.divide(pulls, chance, out=np.zeros(pulls.shape), where=pulled)
        most = (forced + pulls * float(self.target.tree.d)).sum(axis=1).max(initial=0)
        if most > MOST_TOKENS:
            raise InputError(f"up to {most:.2g} tokens are too many to count; take fewer queries per arm")
        tries = pulls.copy()
        tries[pulled] += self.rng.negative_binomial(pulls[pulled], chance[pulled])
        return tries

    def _rollout_tokens(self, on_path: Mask, pulls: Numbers, true: Numbers, depth: int) -> Numbers:
        """Draw the tokens of the roll-outs after the forced pick: known for true ones, drawn for others."""
        rest = self.target.k + 1 - depth
        lengths = np.broadcast_to(self.lengths[:-1], (*pulls.shape, self.lengths.shape[1])).copy()
        if rest:
            # A chain that is not the true one is a little less likely to be as long as the true one.
            other = lengths[on_path, self.target.path[depth - 1]]
            other[:, rest - 1] = np.maximum(other[:, rest - 1] - self._finish(depth), 0)
            # Where the rest of the path is certain there are no others, and any law will do.
            total_other = other.sum(axis=-1, keepdims=True)
            share = np.divide(other, total_other, out=np.ones_like(other), where=total_other > 0)
            lengths[on_path, self.target.path[depth - 1]] = share / share.sum(axis=-1, keepdims=True)
        counts = self.draws.split(pulls - true, lengths)
        each = np.arange(1, self.lengths.shape[1] + 1)
        total: Numbers = (counts * each).sum(axis=(1, 2)) + true.sum(axis=1) * rest
        return total


def _rollout_lengths(law: Floats) -> Floats:
    """Return P(tokens until EOS, EOS included = 1, 2, ...) after each position, shape (d+1, d)."""
    d = len(law) - 1
    alive = np.eye(d + 1)
    ended = []
    for _ in range(d):
        alive = alive @ law
        ended.append(alive[:, d].copy())
        alive[:, d] = 0
    return np.stack(ended, axis=1)


class RolloutArms(Arms):
    """Samples every try and every roll-out."""

    def __init__(
        self,
        method: SearchMethod,
        target: Target,
        base: Policy,
        seed: Sequence[int],
        match: Match = "index",
        delta: float = 0.1,
        oracle: TerminalOracle | FamilyOracle | None = None,
    ) -> None:
        """Set the first retry limit, d log(d / delta), and the oracle (the method's own by default)."""
        super().__init__(method, target, base)
        if match not in ("index", "value"):
            raise InputError(f"must be index or value, got {match!r}", option="match")
        check_delta(delta)
        self.rng = np.random.default_rng(list(seed))
        self.match = match
        d = target.tree.d
        self.retries = max(1, math.ceil(d * math.log(d / delta)))
        self.limit_hits = 0
        usual = TerminalOracle(target) if method == "bai" else FamilyOracle(target)
        self.oracle = usual if oracle is None else oracle

    def pull(self, histories: Picks, pulls: Numbers) -> tuple[Numbers, Numbers]:
        """Run FXRS for every arm of every search."""
        accepted = np.zeros_like(pulls)
        tokens = np.zeros(len(pulls), dtype=np.int64)
        for search, history in enumerate(histories):
            for arm in np.flatnonzero(pulls[search]):
                for first in range(0, int(pulls[search, arm]), CHUNK):
                    times = min(CHUNK, int(pulls[search, arm]) - first)
                    good, spent = self._pull_one(history, int(arm), times)
                    accepted[search, arm] += good
                    tokens[search] += spent
        return accepted, tokens

    def commit(self, histories: Picks, chosen: npt.NDArray[np.int64]) -> Numbers:
        """Force each search's pick once more."""
        tokens = []
        for history, pick in zip(histories, chosen, strict=True):
            inputs = self.target.tree.draw_inputs(1, self.rng)
            tokens.append(self._force(history, int(pick), inputs)[1])
        return np.asarray(tokens)

    def _pull_one(self, history: npt.NDArray[np.int64], arm: int, times: int) -> tuple[int, int]:
        tree = self.target.tree
        depth = len(history) + 1
        inputs = tree.draw_inputs(times, self.rng)
        forced, tokens = self._force(history, arm, inputs)
        picks = np.concatenate([np.tile(history, (times, 1)), forced[:, None]], axis=1)
        if not self.truncated(depth):
            picks, spent = self._roll_out(picks)
            tokens += spent
        answers = self._answers(inputs, picks)
        if isinstance(self.oracle, TerminalOracle):
            verdict = self.oracle.judge(inputs, answers)
        else:
            verdict = self.oracle.judge(inputs, answers, min(depth, self.target.k))
        return int(verdict.sum()), tokens

    def _force(
        self, history: npt.NDArray[np.int64], arm: int, inputs: Tokens
    ) -> tuple[npt.NDArray[np.int64], int]:
        """Alg. fxrs: emit picks for every input until each matches; returns the picks and the tries."""
        law = self.base.probabilities(history.reshape(1, len(history)))[0]
        if law[arm] <= 0:
            raise InputError(f"the base model never picks position {arm} here, so it cannot be forced")
        picked = np.full(len(inputs), -1)
        waiting = np.arange(len(inputs))
        tokens, tries, limit = 0, 0, self.retries
        while len(waiting):
            emitted = self.rng.choice(len(law), size=len(waiting), p=law)
            tokens += len(waiting)
            tries += 1
            matched = self._matches(inputs[waiting], emitted, arm)
            picked[waiting[matched]] = emitted[matched]
            waiting = waiting[~matched]
            if tries == limit and len(waiting):
                self.limit_hits += len(waiting)
                limit *= 2
        return picked, tokens

    def _matches(self, inputs: Tokens, emitted: npt.NDArray[np.int64], arm: int) -> Mask:
        tree = self.target.tree
        if self.match == "index" or arm == tree.eos:
            return np.equal(emitted, arm)
        ended = np.equal(emitted, tree.eos)
        clue = tree.clue(inputs, np.where(ended, 0, emitted))
        return np.logical_and(tree.same(clue, tree.clue(inputs, arm)), ~ended)

    def _roll_out(self, picks: Picks) -> tuple[Picks, int]:
        """Let the base model go on to EOS; rows that ended stay at EOS."""
        tree, tokens = self.target.tree, 0
        going = np.flatnonzero(picks[:, -1] != tree.eos)
        while len(going):
            cumulative = np.cumsum(self.base.probabilities(picks[going]), axis=1)
            threshold = self.rng.random(len(going))[:, None] * cumulative[:, -1:]
            column = np.full((len(picks), 1), tree.eos)
            column[going, 0] = (cumulative <= threshold).sum(axis=1)
            tokens += len(going)
            picks = np.concatenate([picks, column], axis=1)
            going = going[column[going, 0] != tree.eos]
        return picks, tokens

    def _answers(self, inputs: Tokens, picks: Picks) -> Tokens:
        """Return the token before EOS of every row."""
        tree = self.target.tree
        state = np.broadcast_to(tree.eos_token, (len(inputs), *tree.eos_token.shape)).copy()
        for depth in range(1, picks.shape[1] + 1):
            going = np.flatnonzero(picks[:, depth - 1] != tree.eos)
            clue = tree.clue(inputs[going], picks[going, depth - 1])
            state[going] = tree.step(depth, state[going], clue)
        return state
