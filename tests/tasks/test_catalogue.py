"""The tasks by name: each takes its own options and refuses the others'."""

from typing import get_args

import pytest

from stepladder.errors import InputError
from stepladder.tasks.catalogue import TaskName, TaskOptions, build_task


@pytest.mark.parametrize("name", get_args(TaskName))
def test_every_task_is_built_by_its_name_and_makes_problems_it_can_read_and_judge(name):
    task = build_task(name)
    assert task.name == name
    for level in task.levels[:2]:
        problem = task.generate(level, 0)
        assert problem.level == level
        assert task.read(problem.row()) == problem
        assert task.verify(problem, task.teacher_completion(problem)).correct
        assert [message["role"] for message in task.prompt(problem).messages] == ["system", "user"]


OWN = {
    "countdown": set(),
    "blocksworld": set(),
    "math": {"source"},
    "parity": {"d", "secret", "alphabet", "form"},
    "sum": {"d", "secret", "alphabet", "form"},
}
VALUES = {"source": "rows.jsonl", "d": 5, "secret": (0, 1), "alphabet": 2, "form": "hidden"}


@pytest.mark.parametrize("name", get_args(TaskName))
@pytest.mark.parametrize("option", VALUES)
def test_an_option_of_another_task_is_refused(name, option):
    secret = {"secret": (0, 1)} if "secret" in OWN[name] else {}
    options = TaskOptions(**secret | {option: VALUES[option]})
    if option in OWN[name]:
        assert build_task(name, options).name == name
    else:
        with pytest.raises(InputError, match=f"{option} is not an option of {name}"):
            build_task(name, options)


def test_the_chain_tasks_have_the_papers_secret_by_default():
    task = build_task("sum")
    assert (task.tree.d, task.tree.alphabet, task.secret, task.form) == (10, 3, (0, 1, 2, 3), "visible")
    assert build_task("parity").tree.alphabet == 2


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (TaskOptions(d=0), "d must be between 1 and 4,096, got 0"),
        (TaskOptions(d=2), "secret .* is too deep"),
        (TaskOptions(secret=()), "secret is empty"),
        (TaskOptions(alphabet=3), "alphabet of parity is 2, got 3"),
    ],
)
def test_what_the_tree_refuses_is_refused(options, why):
    with pytest.raises(InputError, match=why):
        build_task("parity", options)
