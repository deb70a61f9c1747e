"""The drawn tree: every child, legal or not, PART's probabilities, the target path, and a readable size."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from rich.console import Console

from stepladder.errors import InputError
from stepladder.report.style import FAINT, GREEN, render
from stepladder.report.tree_figure import MOST_NODES, draw_tree, grow, readable_depth, text_tree
from stepladder.trees import MarkovChain, Parity, Recall, Target, Tree

PAPER = Target(Parity(3), (0, 2))


def whole(tree, target=None):
    return grow(tree, tree.max_depth + 1, target)


def spelled(drawn):
    console = Console(width=200, color_system=None)
    with console.capture() as captured:
        console.print(drawn)
    return captured.get()


# ---- what is drawn


def test_every_node_of_a_whole_tree_has_all_positions_and_eos_as_children_or_is_a_leaf(tree):
    for node in whole(tree).walk():
        if node.children:
            assert [child.label for child in node.children] == [*map(tree.label, range(tree.d)), "EOS"]
        else:
            assert node.ends or not node.legal
        assert node.hidden == 0


def test_the_legal_children_share_the_probability_evenly_as_part_does(tree):
    for node in whole(tree).walk():
        legal = [child.edge for child in node.children if child.legal]
        if node.children:
            assert sum(legal) == 1
            assert set(legal) == {Fraction(1, len(legal))}
        assert all(child.edge is None and not child.children for child in node.children if not child.legal)


def test_every_complete_path_of_the_tree_is_drawn_once(tree):
    ends = sum(node.ends and node.legal for node in whole(tree).walk())
    assert ends == sum(len(level) for level in tree.chains()) - 1


def test_the_papers_tree_for_three_bits_has_the_root_rule_and_its_illegal_children():
    root = whole(PAPER.tree, PAPER)
    assert [(child.label, child.edge) for child in root.children] == [
        ("x0", Fraction(1, 3)),
        ("x1", Fraction(1, 3)),
        ("x2", Fraction(1, 3)),
        ("EOS", None),
    ]
    after_x1 = root.children[1]
    assert [(child.label, child.legal) for child in after_x1.children] == [
        ("x0", False),
        ("x1", False),
        ("x2", True),
        ("EOS", True),
    ]


@given(st.from_type(Target))
def test_exactly_the_target_path_is_highlighted(target):
    depth = readable_depth(target.tree, None)
    node, highlighted = grow(target.tree, depth, target), 0
    assert sum(one.on_target for one in node.walk()) == 1 + min(depth, target.k + 1)
    for pick in target.path[:depth]:
        node = node.children[pick]
        assert node.on_target
        highlighted += 1
    assert highlighted == min(depth, target.k + 1)


def test_without_a_target_nothing_is_highlighted_but_the_marks_of_the_root_are_absent_too():
    assert not any(node.on_target for node in whole(Parity(3)).walk())


def test_a_tree_cut_for_readability_says_how_many_legal_picks_it_hides():
    root = grow(Parity(5), 1)
    assert [child.hidden for child in root.children] == [5, 4, 3, 2, 1, 0]


# ---- how deep


@given(st.from_type(Tree))
def test_by_default_a_tree_is_drawn_as_deep_as_stays_readable(tree):
    depth = readable_depth(tree, None)
    assert sum(1 for _ in grow(tree, depth).walk()) <= MOST_NODES
    if depth <= tree.max_depth:
        assert sum(1 for _ in grow(tree, depth + 1).walk()) > MOST_NODES


@given(st.from_type(Tree), st.integers(1, 9))
def test_a_depth_that_is_asked_for_is_drawn_or_refused_with_the_deepest_that_is_readable(tree, wanted):
    possible = readable_depth(tree, None)
    if wanted <= possible:
        assert grow(tree, readable_depth(tree, wanted)) == grow(tree, wanted)
        return
    with pytest.raises(InputError) as refusal:
        readable_depth(tree, wanted)
    assert refusal.value.option == "depth"
    if wanted <= tree.max_depth + 1:
        assert str(refusal.value).endswith(f"use at most {possible}")
    else:
        assert f"between 1 and {tree.max_depth + 1}, got {wanted}" in str(refusal.value)


@pytest.mark.parametrize("wanted", [0, -1, 5])
def test_a_depth_outside_the_tree_is_refused(wanted):
    with pytest.raises(InputError, match=f"depth must be between 1 and 4, got {wanted}"):
        readable_depth(Parity(3), wanted)


def test_a_tree_with_more_children_at_the_root_than_can_be_read_is_refused():
    with pytest.raises(InputError, match="d of 500 cannot be drawn readably; use a smaller one"):
        readable_depth(Parity(500), None)


# ---- the picture


@pytest.mark.parametrize(
    "target",
    [PAPER, Target(Recall(3), (2, 0)), Target(MarkovChain(3, 4), (1, 1)), Target(Parity(1), (0,))],
    ids=lambda target: f"{target.tree.name}{target.tree.d}",
)
def test_the_picture_has_a_box_per_node_a_line_per_edge_and_a_number_per_legal_edge(target):
    root = grow(target.tree, readable_depth(target.tree, None), target)
    nodes = list(root.walk())
    (axes,) = draw_tree(root, "a tree").axes
    assert axes.get_title() == "a tree"
    labels = [text.get_text() for text in axes.texts]
    for label in {node.label for node in nodes}:
        assert labels.count(label) == sum(node.label == label for node in nodes)
    edges = [str(node.edge) for node in nodes if node.edge is not None]
    assert sorted(label for label in labels if label.replace("/", "").isdigit()) == sorted(edges)
    assert len(axes.lines) == len(nodes) - 1


def test_illegal_children_hang_on_dashed_faint_lines_and_the_target_path_is_thick_and_green():
    root = whole(PAPER.tree, PAPER)
    (axes,) = draw_tree(root, "").axes
    illegal = [line for line in axes.lines if line.is_dashed()]
    assert len(illegal) == sum(not node.legal for node in root.walk())
    assert {to_rgb(line.get_color()) for line in illegal} == {to_rgb(FAINT)}
    thick = [line for line in axes.lines if line.get_linewidth() > 1]
    assert len(thick) == PAPER.k + 1
    assert {to_rgb(line.get_color()) for line in thick} == {to_rgb(GREEN)}
    # One connected way down: each thick line begins where the one above ends.
    for depth, line in enumerate(sorted(thick, key=lambda line: -line.get_ydata()[0])):
        assert tuple(line.get_ydata()) == (-depth, -depth - 1)


def test_no_two_boxes_of_one_level_share_a_column():
    (axes,) = draw_tree(whole(Parity(4)), "").axes
    boxes = [text.get_position() for text in axes.texts if not text.get_text().replace("/", "").isdigit()]
    assert len(set(boxes)) == len(boxes)


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_picture_has_the_same_bytes_every_time(suffix):
    one, other = (render(draw_tree(whole(PAPER.tree, PAPER), "t"), suffix) for _ in range(2))
    assert one == other
    assert one.startswith(b"\x89PNG" if suffix == "png" else b"<?xml")


# ---- the text


def test_the_text_shows_each_probability_the_target_and_the_illegal_picks_on_one_line():
    lines = spelled(text_tree(whole(PAPER.tree, PAPER))).splitlines()
    assert lines[0].strip() == "root"
    assert sum("← target" in line for line in lines) == PAPER.k + 1
    assert sum("illegal: EOS" in line for line in lines) == 1
    assert sum("illegal: x0 x1 x2" in line for line in lines) == 4
    assert any("x2  1/3  ← target" in line for line in lines)


def test_the_text_says_how_much_it_leaves_out():
    assert "… 5 legal picks" in spelled(text_tree(grow(Parity(5), 1)))
