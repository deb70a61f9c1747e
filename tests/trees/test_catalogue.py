"""The trees by the names the command line uses."""

from typing import get_args

import pytest

from stepladder.errors import InputError
from stepladder.trees.catalogue import TaskName, build_tree


@pytest.mark.parametrize("task", get_args(TaskName))
def test_every_task_name_builds_the_tree_of_that_name(task):
    assert build_tree(task, 3).name == task


def test_every_kind_of_tree_has_a_task_name(tree):
    assert tree.name in get_args(TaskName)


@pytest.mark.parametrize("task", [task for task in get_args(TaskName) if task != "parity"])
@pytest.mark.parametrize("alphabet", [2, 3, 7])
def test_the_alphabet_asked_for_is_the_trees(task, alphabet):
    assert build_tree(task, 3, alphabet).alphabet == alphabet


def test_another_alphabet_for_parity_is_refused_and_the_task_sum_named():
    assert build_tree("parity", 3, 2).alphabet == 2
    with pytest.raises(InputError, match=r"alphabet.*got 3.*sum"):
        build_tree("parity", 3, 3)
