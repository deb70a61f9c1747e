"""The reasoning tree as a picture and as text, after the paper's Fig. "Reasoning tree for parity".

Round nodes are picks, boxes are EOS, PART's probability stands on each legal edge, illegal children
hang on dashed lines, and the target path is drawn thick.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.text import Text
from rich.tree import Tree as TextTree

from stepladder.errors import InputError
from stepladder.report.style import BLACK, FAINT, GREEN, GREY, new_figure
from stepladder.trees import Target, Tree

MOST_NODES = 400
"""More nodes than this cannot be read."""


@dataclass(frozen=True)
class Node:
    """One node of the drawn tree."""

    label: str
    edge: Fraction | None
    """PART's probability of the edge to here; None for the root and for illegal children."""
    legal: bool
    on_target: bool
    ends: bool
    children: tuple[Node, ...] = ()
    hidden: int = 0
    """Legal children left out because the drawing stops here."""

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def grow(tree: Tree, depth: int, target: Target | None = None) -> Node:
    """Unfold the tree down to `depth` picks, illegal children included."""
    path = target.path if target else None

    def unfold(picks: tuple[int, ...], label: str, edge: Fraction | None) -> Node:
        on_target = path is not None and picks == path[: len(picks)]
        legal = tree.legal(picks)
        if len(picks) >= depth:
            return Node(label, edge, True, on_target, False, hidden=len(legal))
        children = []
        for position in (*range(tree.d), tree.eos):
            share = Fraction(1, len(legal)) if position in legal else None
            here = (*picks, position)
            name = "EOS" if position == tree.eos else tree.label(position)
            if share is not None and position != tree.eos:
                children.append(unfold(here, name, share))
            else:
                highlighted = share is not None and here == path
                children.append(Node(name, share, share is not None, highlighted, position == tree.eos))
        return Node(label, edge, True, on_target, False, tuple(children))

    return unfold((), "root", None)


def readable_depth(tree: Tree, wanted: int | None) -> int:
    """Return how deep to draw: as asked, or as deep as stays readable."""
    if wanted is not None and not 1 <= wanted <= tree.max_depth + 1:
        raise InputError(f"must be between 1 and {tree.max_depth + 1}, got {wanted}", option="depth")
    nodes = 1
    for depth, level in enumerate(tree.chains(limit=1 << 22)):
        nodes += len(level) * (tree.d + 1)
        if nodes > MOST_NODES and depth == 0:
            raise InputError(f"of {tree.d} cannot be drawn readably; use a smaller one", option="d")
        if nodes > MOST_NODES and wanted is not None:
            raise InputError(
                f"{wanted} would draw more than {MOST_NODES} nodes; use at most {depth}", option="depth"
            )
        if nodes > MOST_NODES:
            return depth
        if depth + 1 == wanted:
            return wanted
    return tree.max_depth + 1


def draw_tree(root: Node, title: str) -> Figure:
    """Draw the unfolded tree, root on top."""
    leaves = sum(not node.children for node in root.walk())
    levels = _height(root)
    figure, (axes,) = new_figure(max(6.0, 0.34 * leaves + 1), 1.25 * levels + 1)
    axes.set_axis_off()
    axes.set_title(title)
    _place(axes, root, 0, 0)
    axes.set_xlim(-0.8, leaves - 0.2)
    axes.set_ylim(-levels + 0.4, 0.4)
    return figure


def _height(node: Node) -> int:
    return 1 + max((_height(child) for child in node.children), default=0)


def _place(axes: Axes, node: Node, left: float, depth: int) -> tuple[float, float]:
    """Draw the node and what is below it from column `left` on; return its column and the next free."""
    free = left
    places = []
    for child in node.children:
        place, free = _place(axes, child, free, depth + 1)
        places.append(place)
    if not places:
        column, free = left, left + 1
    else:
        column = (places[0] + places[-1]) / 2
    for child, place in zip(node.children, places, strict=True):
        _edge(axes, (column, -depth), (place, -depth - 1), child)
    face = "#dff3ec" if node.on_target else "#eeeeee" if node.ends else "white"
    colour = GREEN if node.on_target else BLACK if node.legal else FAINT
    axes.text(
        column,
        -depth,
        node.label,
        ha="center",
        va="center",
        fontsize=8,
        color=colour if not node.on_target else BLACK,
        zorder=3,
        bbox={
            "boxstyle": "square,pad=0.25" if node.ends else "round,pad=0.3",
            "facecolor": face,
            "edgecolor": colour,
            "linewidth": 1.8 if node.on_target else 0.9,
        },
    )
    if node.hidden:
        axes.text(column, -depth - 0.33, "⋮", ha="center", va="center", color=GREY)
    return column, free


def _edge(axes: Axes, above: tuple[float, float], below: tuple[float, float], child: Node) -> None:
    colour = GREEN if child.on_target else GREY if child.legal else FAINT
    axes.plot(
        (above[0], below[0]),
        (above[1], below[1]),
        color=colour,
        linewidth=3 if child.on_target else 1,
        linestyle="-" if child.legal else (0, (2, 2)),
        zorder=1,
    )
    if child.edge is not None:
        axes.text(
            above[0] + 0.68 * (below[0] - above[0]),
            above[1] + 0.68 * (below[1] - above[1]),
            str(child.edge),
            ha="center",
            va="center",
            fontsize=7,
            color=BLACK,
            zorder=2,
            bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"},
        )


def text_tree(root: Node) -> TextTree:
    """Return the unfolded tree for a terminal; illegal children share one line."""
    drawn = TextTree(_text(root))
    _hang(drawn, root)
    return drawn


def _hang(branch: TextTree, node: Node) -> None:
    for child in node.children:
        if child.legal:
            _hang(branch.add(_text(child)), child)
    illegal = " ".join(child.label for child in node.children if not child.legal)
    if illegal:
        branch.add(Text(f"illegal: {illegal}", style="dim"))
    if node.hidden:
        branch.add(Text(f"… {node.hidden} legal picks", style="dim"))


def _text(node: Node) -> Text:
    edge = "" if node.edge is None else f"  {node.edge}"
    mark = "  ← target" if node.on_target and node.edge is not None else ""
    return Text(f"{node.label}{edge}{mark}", style="bold green" if node.on_target else "")
