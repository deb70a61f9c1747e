"""The paper's Table 1: averages are means of what stands beside them, and the best is best of its own block."""

import numpy as np
import pytest

from stepladder.errors import InputError
from stepladder.evaluate.sampler import Sample
from stepladder.evaluate.table import Evaluated, best, comparisons, rows


def evaluated(method, correct, task="countdown", samples=8):
    """Four problems on two levels with so many correct samples each."""
    drawn = [
        Sample(f"p{number}", number // 2, 0, copy, copy < hits, None, 0.0, "", "")
        for number, hits in enumerate(correct)
        for copy in range(samples)
    ]
    return Evaluated.of(task, method, drawn)


def test_samples_are_counted_problem_by_problem():
    one = evaluated("A", [0, 1, 4, 8])
    assert one.ids == ("p0", "p1", "p2", "p3")
    assert one.levels == (0, 0, 1, 1)
    assert one.counts == ((0, 8), (1, 8), (4, 8), (8, 8))


def test_the_average_is_over_k_and_a_level_is_over_its_problems():
    ks = (1, 2, 4)
    one = evaluated("A", [0, 1, 4, 8])
    line = rows([one], ks)[0]
    assert line.average.value == pytest.approx(np.mean([cell.value for cell in line.by_k]))
    assert [level for level, _ in line.by_level] == [0, 1]
    assert np.mean([cell.value for _, cell in line.by_level]) == pytest.approx(line.average.value)


def test_the_macro_average_is_over_tasks_for_methods_that_all_have():
    found = [
        evaluated("A", [0, 0, 0, 0], "countdown"),
        evaluated("B", [8, 8, 8, 8], "countdown"),
        evaluated("A", [8, 8, 8, 8], "math"),
    ]
    lines = rows(found, (1, 2))
    assert [(line.task, line.method) for line in lines][3:] == [("macro-average", "A")]
    assert lines[3].average.value == 0.5


def test_a_method_with_two_runs_on_one_task_and_none_on_the_other_has_no_macro_average():
    found = [evaluated("A", [4] * 4), evaluated("A", [8] * 4), evaluated("B", [8] * 4, "math")]
    assert all(line.task != "macro-average" for line in rows(found, (1,)))


def test_levels_that_tasks_count_differently_are_averaged_by_place():
    from_one = Evaluated("math", "A", ("p", "q"), (1, 2), ((8, 8), (0, 8)))
    macro = rows([evaluated("A", [8, 8, 0, 0]), from_one], (1,))[-1]
    assert [(name, value.value) for name, value in macro.by_level] == [(1, 1.0), (2, 0.0)]
    alike = rows([evaluated("A", [8, 8, 0, 0]), evaluated("A", [0, 0, 0, 0], "math")], (1,))[-1]
    assert [(name, value.value) for name, value in alike.by_level] == [(0, 0.5), (1, 0.0)]


def test_the_best_is_bold_within_its_task_only():
    found = [evaluated("A", [1] * 4), evaluated("B", [2] * 4), evaluated("A", [8] * 4, "math")]
    lines = rows(found, (1,))
    assert [best(lines, line, 0) for line in lines[:3]] == [False, True, False]


def test_nothing_is_bold_where_all_are_the_same():
    lines = rows([evaluated("A", [1] * 4), evaluated("B", [1] * 4)], (1,))
    assert not any(best(lines, line, 0) for line in lines)


def test_a_comparison_is_with_the_first_method_of_the_task_on_the_same_problems():
    found = [evaluated("base model", [0] * 4), evaluated("A", [4] * 4), evaluated("B", [0] * 4)]
    said = comparisons(found, (1, 2))
    assert said[0].startswith("countdown: A is better than base model")
    assert said[1].startswith("countdown: no difference between B and base model")
    other = Evaluated("countdown", "C", ("q",), (0,), ((1, 8),))
    with pytest.raises(InputError, match="same problems"):
        comparisons([found[0], other], (1,))
