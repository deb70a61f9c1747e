"""What the tests of several rooms share: one small tree of every task, exact laws, goodness of fit."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from scipy.stats import chi2

from stepladder.tasks.chain import Chain
from stepladder.trees import (
    CausalGraph,
    Countdown,
    MarkovChain,
    ModularSum,
    Parity,
    Policy,
    Recall,
    Target,
    Translation,
    Tree,
)

settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")

Path = tuple[int, ...]

ONE_OF_EACH: tuple[Tree, ...] = (
    Parity(d=5),
    ModularSum(d=4, alphabet=3),
    Countdown(numbers=3, alphabet=4),
    MarkovChain(d=3, alphabet=4),
    Recall(d=4, alphabet=3),
    CausalGraph(d=5, alphabet=3, edges=((0, 1), (0, 3), (1, 2), (1, 4), (2, 4), (3, 4))),
    Translation(d=4, alphabet=3),
)


@pytest.fixture(scope="session", params=ONE_OF_EACH, ids=lambda tree: tree.name)
def tree(request: pytest.FixtureRequest) -> Tree:
    """One small tree of every task."""
    return request.param


@pytest.fixture(
    scope="session", params=[tree for tree in ONE_OF_EACH if tree.finite], ids=lambda tree: tree.name
)
def finite_tree(request: pytest.FixtureRequest) -> Tree:
    """One small tree of every task whose states are letters."""
    return request.param


# ---- hypothesis: `st.from_type(Tree)` and `st.from_type(Target)` draw small trees and legal targets


@st.composite
def causal_graphs(draw: st.DrawFn) -> CausalGraph:
    d = draw(st.integers(1, 6))
    possible = [(cause, effect) for effect in range(d) for cause in range(effect)]
    edges = st.lists(st.sampled_from(possible), unique=True) if possible else st.just([])
    return CausalGraph(d, draw(st.integers(2, 5)), draw(st.none() | edges.map(tuple)))


@st.composite
def markov_chains(draw: st.DrawFn) -> MarkovChain:
    alphabet = draw(st.integers(2, 6))
    return MarkovChain(draw(st.integers(1, 5)), alphabet)


@st.composite
def targets(draw: st.DrawFn) -> Target:
    tree = draw(st.from_type(Tree))
    picks: Path = ()
    for _ in range(draw(st.integers(1, tree.max_depth))):
        onward = [pick for pick in tree.legal(picks) if pick != tree.eos]
        if not onward:
            break
        picks = (*picks, draw(st.sampled_from(onward)))
    return Target(tree, picks)


st.register_type_strategy(
    Tree,
    st.one_of(
        st.builds(Parity, st.integers(1, 8)),
        st.builds(ModularSum, st.integers(1, 7), st.integers(2, 130)),
        st.builds(Countdown, st.integers(1, 5), st.integers(1, 100)),
        markov_chains(),
        st.builds(Recall, st.integers(1, 6), st.integers(2, 130)),
        causal_graphs(),
        st.builds(Translation, st.integers(1, 6), st.integers(2, 130)),
    ),
)
st.register_type_strategy(Target, targets())


# ---- exact laws, by the definition and nothing else


@pytest.fixture(scope="session")
def part_law() -> Callable[[Tree], dict[Path, Fraction]]:
    """PART's law over complete paths, by walking the tree with Fractions."""

    def law(tree: Tree, picks: Path = (), mass: Fraction = Fraction(1)) -> dict[Path, Fraction]:
        legal = tree.legal(picks)
        found: dict[Path, Fraction] = {}
        for pick in legal:
            if pick == tree.eos:
                found[picks] = mass / len(legal)
            else:
                found |= law(tree, (*picks, pick), mass / len(legal))
        return found

    return law


@pytest.fixture(scope="session")
def policy_law() -> Callable[..., dict[Path, float]]:
    """The law of a policy's paths that begin with `start` and are cut after `truncate` picks."""

    def law(policy: Policy, start: Path = (), truncate: int | None = None) -> dict[Path, float]:
        if len(start) == truncate:
            return {start: 1.0}
        step = policy.probabilities(np.asarray([start], dtype=np.int64).reshape(1, len(start)))[0]
        found: dict[Path, float] = {}
        for pick in policy.tree.legal(start):
            if pick == policy.tree.eos:
                found[start] = float(step[pick])
                continue
            for path, share in law(policy, (*start, pick), truncate).items():
                found[path] = float(step[pick]) * share
        return found

    return law


@pytest.fixture(scope="session")
def fit() -> Callable[..., float]:
    """Pearson's chi-square: the p-value of observed outcomes against their exact law.

    Outcomes expected fewer than five times are pooled into one cell, together with the next rarest if
    that is still too few. An outcome outside the law's support has p-value 0.
    """

    def p_value(observed: Iterable[object], law: dict[object, float | Fraction]) -> float:
        counts = Counter(observed)
        total = sum(counts.values())
        assert math.isclose(sum(law.values()), 1, rel_tol=1e-9)
        if any(law.get(outcome, 0) == 0 for outcome in counts):
            return 0.0
        cells: list[tuple[float, int]] = []
        rare, rare_seen = 0.0, 0
        for outcome in sorted(law, key=law.__getitem__):
            expected = float(law[outcome]) * total
            if expected < 5 or 0 < rare < 5:
                rare, rare_seen = rare + expected, rare_seen + counts[outcome]
            else:
                cells.append((expected, counts[outcome]))
        if rare > 0:
            cells.append((rare, rare_seen))
        assert len(cells) > 1, "a law with a single cell tests nothing"
        statistic = sum((seen - expected) ** 2 / expected for expected, seen in cells)
        return float(chi2.sf(statistic, len(cells) - 1))

    return p_value


# ---- a language model that is known


class PlainTokenizer:
    """The messages as they are."""

    chat_template = "plain"

    def apply_chat_template(self, conversation, *, tokenize, add_generation_prompt):
        return "\n".join(message["content"] for message in conversation) + "\n"


class Stepper:
    """Continues a visible chain: takes each step of the secret with probability `rate`, else ends there."""

    def __init__(self, task: Chain, rate: float) -> None:
        self.task, self.rate = task, rate
        self.tokenizer = PlainTokenizer()
        self.calls = 0

    def complete(self, prompts, decoding, seed):
        self.calls += 1
        rng = np.random.default_rng(seed)
        return [self._continue(prompt, rng) for prompt in prompts]

    def _continue(self, prompt, rng):
        inputs = [int(value) for value in re.findall(r"x\d+ = (\d+)", prompt)]
        given = [int(pick) for pick in re.findall(r"\nx(\d+) ->", prompt)]
        picks = list(given)
        for pick in self.task.secret[len(given) :]:
            if rng.random() >= self.rate:
                break
            picks.append(pick)
        lines = [
            f"\nx{pick} -> {self.task.running_value(inputs, picks[: place + 1])}"
            for place, pick in enumerate(picks)
        ]
        value = self.task.running_value(inputs, picks)
        return "".join(lines[len(given) :]) + f"\nend\n</think>\n<answer>{value}</answer>"


@pytest.fixture(scope="session")
def stepper_of() -> type[Stepper]:
    """Make a model of a chain task with known step rates: `stepper_of(task, rate)`."""
    return Stepper


# ---- collection

# With --doctest-modules pytest would import every conftest.py as a module named `conftest`, and the second
# one of that name is an error. They are loaded as plugins all the same.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]
