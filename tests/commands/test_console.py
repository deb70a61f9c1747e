"""Reading lists from options, and numbers for people and programs."""

import json

import numpy as np
import pytest
from rich.table import Table

from stepladder.commands.console import numbers, print_json, print_table, spread, whole_numbers
from stepladder.errors import InputError


def test_lists_are_read_with_or_without_spaces():
    assert whole_numbers("0,1,2", "secret") == (0, 1, 2)
    assert whole_numbers(" 4 , 5", "secret") == (4, 5)
    assert numbers("1e5,2", "lr") == (1e5, 2.0)


@pytest.mark.parametrize("text", ["", "a", "1,,2", "1.5", "1;2", "0x3"])
def test_what_is_no_list_of_whole_numbers_is_refused_with_an_example(text):
    with pytest.raises(
        InputError, match="secret must be whole numbers separated by commas, such as 0,1,2"
    ) as refusal:
        whole_numbers(text, "secret")
    assert repr(text) in str(refusal.value)


@pytest.mark.parametrize("text", ["", "fast", "1e5,", "1 2"])
def test_what_is_no_list_of_numbers_is_refused_with_an_example(text):
    with pytest.raises(InputError, match="lr must be a number, or numbers separated by commas, such as 1e5"):
        numbers(text, "lr")


def test_json_is_one_object_on_one_line_and_never_holds_nan(capsys):
    print_json({"a": [1, 2.5], "b": None})
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out) == {"a": [1, 2.5], "b": None}
    with pytest.raises(ValueError, match="JSON"):
        print_json({"a": float("nan")})


def test_a_spread_is_mean_standard_error_and_the_values():
    values = np.array([0.5, 1.0, 0.75, 0.75])
    found = spread(values)
    assert found == {"mean": 0.75, "sem": pytest.approx(values.std(ddof=1) / 2), "values": values.tolist()}
    assert spread(np.array([0.5])) == {"mean": 0.5, "sem": 0.0, "values": [0.5]}


def test_a_wide_table_keeps_all_its_numbers_and_a_narrow_one_its_width(capsys):
    table = Table(*(f"column {number}" for number in range(20)))
    table.add_row(*(f"{number}.000 to {number}.500" for number in range(20)))
    print_table(table)
    out = capsys.readouterr().out
    assert all(f"{number}.000 to {number}.500" in out for number in range(20))
    narrow = Table("one")
    print_table(narrow)
    assert max(map(len, capsys.readouterr().out.splitlines())) < 10
