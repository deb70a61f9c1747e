"""Assumption 1 (uniqueness), task by task."""

import itertools

import pytest

from stepladder.errors import InputError
from stepladder.trees import (
    CausalGraph,
    Countdown,
    MarkovChain,
    ModularSum,
    Parity,
    Recall,
    Target,
    Translation,
    check_uniqueness,
)


def grouped(tree, key):
    """The tree's paths grouped by a key, as sets, leaving out groups of one."""
    paths = sorted((tuple(row.tolist()) for level in list(tree.chains())[1:] for row in level), key=key)
    groups = (frozenset(group) for _, group in itertools.groupby(paths, key=key))
    return {group for group in groups if len(group) > 1}


def as_sets(groups):
    return {frozenset(group) for group in groups}


@pytest.mark.parametrize("tree", [Parity(6), ModularSum(4, 3), ModularSum(3, 6)], ids=repr)
def test_no_two_paths_of_parity_or_a_sum_compute_the_same_function(tree):
    report = check_uniqueness(tree)
    assert report.holds
    assert report.twins == ()


def test_markov_chains_hold_but_the_picks_after_the_first_are_indistinguishable():
    tree = MarkovChain(d=3, alphabet=4)
    report = check_uniqueness(tree)
    assert report.holds
    assert as_sets(report.twins) == grouped(tree, lambda path: (path[0], len(path)))


def test_translation_holds_but_only_the_last_word_and_the_length_matter():
    tree = Translation(d=4, alphabet=3)
    report = check_uniqueness(tree)
    assert report.holds
    assert as_sets(report.twins) == grouped(tree, lambda path: (path[-1], len(path)))


def test_recall_fails_because_a_path_computes_the_same_as_its_last_fact_alone():
    tree = Recall(d=3, alphabet=3)
    report = check_uniqueness(tree)
    assert not report.holds
    assert as_sets(report.violations) == grouped(tree, lambda path: path[-1])
    assert report.twins == ()


def test_causal_graphs_fail_because_a_path_computes_the_same_as_its_last_node_alone():
    tree = CausalGraph(d=4, alphabet=2)
    report = check_uniqueness(tree)
    assert not report.holds
    assert as_sets(report.violations) == grouped(tree, lambda path: path[-1])


def test_a_causal_graph_without_edges_holds():
    assert check_uniqueness(CausalGraph(d=4, alphabet=2, edges=())).holds


def test_countdown_holds_but_cannot_tell_orders_of_commuting_steps_apart():
    report = check_uniqueness(Countdown(numbers=3, alphabet=4))
    assert report.holds
    # Positions: x0 + x1 is (0, 1) or (1, 0); x0 × x1 is (0, 7) or (1, 6).
    assert {frozenset({(0, 1), (1, 0)}), frozenset({(0, 7), (1, 6)})} <= as_sets(report.twins)


def test_countdown_over_the_number_one_alone_fails():
    assert not check_uniqueness(Countdown(numbers=2, alphabet=1)).holds


def test_every_reported_group_agrees_on_every_input_and_different_groups_do_not(tree):
    inputs = tree.all_inputs()
    report = check_uniqueness(tree)
    seen = set()
    for group in report.violations + report.twins:
        values = {Target(tree, path).value(inputs).tobytes() for path in group}
        assert len(values) == 1
        assert not values & seen
        seen |= values


def test_the_report_counts_the_paths_and_inputs_it_compared():
    report = check_uniqueness(Parity(5))
    assert (report.paths, report.inputs) == (2**5 - 1, 2**5)


def test_the_report_names_colliding_paths_for_people():
    shown = str(check_uniqueness(Recall(d=2, alphabet=2)))
    assert "fails" in shown
    assert "[0] = [1,0]" in shown
    assert "holds" in str(check_uniqueness(Parity(2)))


def test_a_tree_too_large_to_compare_is_refused():
    with pytest.raises(InputError, match="smaller d"):
        check_uniqueness(Parity(10), limit=1 << 12)
    with pytest.raises(InputError, match="inputs"):
        check_uniqueness(Parity(40))
