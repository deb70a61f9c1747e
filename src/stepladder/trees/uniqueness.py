"""Assumption 1 (uniqueness), checked exhaustively: do paths of different length differ as functions?

Two paths collide if their values agree on every input. The paper asks only that paths of *different
length* never collide. Paths of equal length that do are the ones no outcome oracle can tell apart, so
the report names them too.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from stepladder.errors import InputError
from stepladder.trees.tree import Tree, chain_states


@dataclass(frozen=True)
class UniquenessReport:
    """Which paths compute the same function. Each group lists paths without their closing EOS."""

    paths: int
    inputs: int
    violations: tuple[tuple[tuple[int, ...], ...], ...]
    """Groups that hold paths of different length: these break Assumption 1."""
    twins: tuple[tuple[tuple[int, ...], ...], ...]
    """Groups of equal-length paths: allowed by Assumption 1, yet indistinguishable."""

    @property
    def holds(self) -> bool:
        """Whether Assumption 1 holds."""
        return not self.violations

    def __str__(self) -> str:
        """Say whether it holds, with an example of each kind of collision."""
        verdict = "holds" if self.holds else "fails"
        lines = [f"Assumption 1 {verdict}: {self.paths} paths compared on {self.inputs} inputs"]
        for name, groups in (("different", self.violations), ("equal", self.twins)):
            if groups:
                shown = " = ".join("[" + ",".join(map(str, path)) + "]" for path in groups[0][:3])
                lines.append(f"{len(groups)} groups of {name} length collide, such as {shown}")
        return "; ".join(lines)


def check_uniqueness(tree: Tree, limit: int = 1 << 26) -> UniquenessReport:
    """Compare all paths of a small tree on all its inputs.

    >>> from stepladder.trees import Parity, Recall
    >>> print(check_uniqueness(Parity(d=4)))
    Assumption 1 holds: 15 paths compared on 16 inputs
    >>> check_uniqueness(Recall(d=3, alphabet=2)).holds
    False
    """
    inputs = tree.all_inputs()
    by_values: dict[bytes, list[tuple[int, ...]]] = defaultdict(list)
    paths = 0
    for level in tree.chains(limit=max(1, limit // len(inputs))):
        if level.shape[1] == 0:
            continue
        paths += len(level)
        for row in level:
            picks = tuple(int(pick) for pick in row)
            by_values[chain_states(tree, inputs, picks)[-1].tobytes()].append(picks)
    if not paths:
        raise InputError(f"the {tree.name} tree with d={tree.d} has no path")
    groups = [tuple(group) for group in by_values.values() if len(group) > 1]
    mixed = [group for group in groups if len({len(path) for path in group}) > 1]
    return UniquenessReport(
        paths, len(inputs), tuple(mixed), tuple(group for group in groups if group not in mixed)
    )
