"""`stepladder tree`: show a reasoning tree, its base probabilities and the target's difficulty."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from stepladder.commands.console import print_json, say, stdout, whole_numbers
from stepladder.errors import check_seed
from stepladder.files import write_whole
from stepladder.report.style import render
from stepladder.report.tree_figure import draw_tree, grow, readable_depth, text_tree
from stepladder.trees import Part, Target, family_spurious_rate
from stepladder.trees.catalogue import TaskName, build_tree


@dataclass(frozen=True)
class Command:
    """Draw the reasoning tree of a task: legal and illegal picks, base probabilities, the target path.

    Try: stepladder tree --task parity --d 3 --secret 0,2 --out runs/tree
    """

    task: TaskName = "parity"
    """Which task."""
    d: int = 3
    """Number of inputs (for countdown: of numbers)."""
    secret: str | None = None
    """Target path as positions, such as 0,2; none is highlighted without it."""
    alphabet: int | None = None
    """Letters of the input (for countdown: the largest number); the task's usual one by default."""
    depth: int | None = None
    """How many picks deep to draw; by default as deep as stays readable."""
    out: Path | None = None
    """Folder for tree.png and tree.svg; nothing is written without it."""
    seed: int = 0
    """Taken by every command; a tree is not random."""
    json: bool = False
    """Print one JSON object instead."""

    def run(self) -> None:
        """Draw, write and print."""
        check_seed(self.seed)
        tree = build_tree(self.task, self.d, self.alphabet)
        given = None if self.secret is None else whole_numbers(self.secret, "secret")
        target = None if given is None else Target(tree, given)
        root = grow(tree, readable_depth(tree, self.depth), target)
        written = []
        if self.out is not None:
            title = f"{self.task}, d = {self.d}" + (f", secret [{self.secret}]" if target else "")
            figure = draw_tree(root, title)
            for suffix in ("png", "svg"):
                write_whole(self.out / f"tree.{suffix}", render(figure, suffix))
                written.append(str(self.out / f"tree.{suffix}"))
        if self.json:
            print_json(
                {
                    "task": self.task,
                    "d": self.d,
                    "positions": tree.d,
                    "alphabet": tree.alphabet,
                    "max_depth": tree.max_depth,
                    "legal_at_root": tree.legal(),
                    "target": _difficulty(target) if target else None,
                    "files": written,
                }
            )
            return
        stdout.print(text_tree(root))
        if target:
            stdout.print(_table(target))
        for path in written:
            say(f"wrote {path}")


def _difficulty(target: Target) -> dict[str, object]:
    """How rare the target is under PART, stage by stage."""
    part = Part(target.tree)
    return {
        "secret": target.picks,
        "branching": part.branching(target),
        "success_probability": [float(p) for p in part.success_probabilities(target)],
        "coverage": [part.coverage(target, depth, ends=True) for depth in range(1, target.k + 1)],
        "spurious_rate": [float(family_spurious_rate(target, depth).value) for depth in range(1, target.k + 1)],
    }


def _table(target: Target) -> Table:
    part = Part(target.tree)
    table = Table(title="How rare each subtask is under the base model (PART)")
    for column in ("subtask", "branching", "probability", "coverage", "spurious rate"):
        table.add_column(column, justify="right")
    for subtask, probability in zip(target.family, part.success_probabilities(target), strict=True):
        table.add_row(
            "[" + ",".join(map(str, subtask.path)) + "]",
            "·".join(map(str, part.branching(subtask))),
            str(probability),
            str(part.coverage(subtask, subtask.k, ends=True)),
            str(family_spurious_rate(target, subtask.k)),
        )
    return table
