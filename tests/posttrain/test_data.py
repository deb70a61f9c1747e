"""Problems for a run: tests are different ones, none of them trained on, and rewards keep what a page shows."""

from types import SimpleNamespace

import pytest

pytest.importorskip("datasets")

from stepladder.posttrain.data import TaskReward, held_out
from stepladder.tasks.chain import Chain
from stepladder.tasks.countdown import Countdown
from stepladder.tasks.task import Problem


def test_held_out_problems_are_different_and_none_was_trained_on():
    task = Countdown(largest=9)
    train = {task.identity(task.generate(0, index)) for index in range(300)}
    # Most plain draws have been trained on, or come twice.
    plain = [task.identity(task.generate(0, index, 10**9 + 7)) for index in range(200)]
    assert train & set(plain)
    found = {task.identity(problem) for problem in held_out(task, 0, 200, 0, train)}
    assert len(found) == 200
    assert not found & train


def test_where_there_are_too_few_problems_some_come_again():
    task = Chain("parity", d=3, secret=(0, 1))
    everything = {task.identity(task.generate(3, index)) for index in range(200)}
    assert len(everything) == 8
    assert len(held_out(task, 3, 20, 0, everything)) == 20
    some = set(sorted(everything)[:5])
    found = [task.identity(problem) for problem in held_out(task, 3, 20, 0, some)]
    assert set(found[:3]) == everything - some


def test_the_order_of_countdown_numbers_makes_no_other_problem():
    def name(task, question, answer):
        return task.identity(Problem("any", question, answer, 0, ()))

    countdown, chain = Countdown(), Chain("parity", d=3, secret=(0, 1))
    assert name(countdown, [3, 1, 2], 6) == name(countdown, [1, 2, 3], 6)
    assert name(countdown, [3, 1, 2], 6) != name(countdown, [3, 1, 2], 7)
    assert name(chain, [1, 0, 0], 1) != name(chain, [0, 1, 0], 1)


def test_the_first_completion_of_a_training_step_is_kept_and_none_of_a_test():
    task = Chain("parity", d=4, secret=(0, 1))
    problems = [task.generate(3, index) for index in range(2)]
    kept = []
    reward = TaskReward(task, problems[:1], problems[1:], lambda step, row: kept.append((step, row)))
    state = SimpleNamespace(global_step=6)
    right = task.teacher_completion(problems[0])
    assert reward([right, "nonsense"], problem=[0, 0], trainer_state=state) == [1.0, 0.0]
    message = [{"role": "assistant", "content": "nonsense"}]
    reward([message], problem=[0], trainer_state=state)
    reward([right], problem=[1], trainer_state=state)
    assert [(step, row["correct"], row["completion"]) for step, row in kept] == [
        (7, True, right),
        (7, False, "nonsense"),
    ]
    assert kept[1][1]["why"]
