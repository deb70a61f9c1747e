"""Problems in files: JSONL, Parquet and data sets, with columns prompt question answer level solution id.

The kind of a file follows from its name. Every row that is read comes with its place, so that an error can name
it; a file is written whole or not at all. `prompt` holds the system and user message; it is written for
trainers that take a data set as it is, and never read back, since the question says all of it.
"""

from __future__ import annotations

import importlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepladder.errors import InputError
from stepladder.files import write_whole
from stepladder.tasks.task import Problem, Task

if TYPE_CHECKING:
    from datasets import Dataset

Row = Mapping[str, Any]

KINDS = (".jsonl", ".parquet")


def load(source: str | Path, split: str = "train") -> Iterator[tuple[str, Row]]:
    """Read a JSONL or Parquet file, or else the data set of that name; each row with its place."""
    path = Path(source)
    if path.suffix == ".jsonl":
        yield from _jsonl(path)
        return
    rows = _parquet(path) if path.suffix == ".parquet" else _data_set(str(source), split)
    for number, row in enumerate(rows, start=1):
        yield f"{source}, row {number}", row


def read_problems(task: Task, source: str | Path, split: str = "train") -> list[Problem]:
    """Read and check every row of a source; an empty one is an error, too."""
    found = []
    for place, row in load(source, split):
        with at(place):
            found.append(task.read(row))
    if not found:
        raise InputError(f"{source} has no rows")
    return found


@contextmanager
def at(place: str) -> Iterator[None]:
    """Name the row in the error of whoever reads it."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{place}: {error}") from error


def export_row(task: Task, problem: Problem) -> dict[str, Any]:
    """Return all columns of a problem."""
    return {"prompt": task.prompt(problem).messages, **problem.row()}


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as JSONL or Parquet."""
    check_kind(path)
    found = list(rows)
    if path.suffix == ".jsonl":
        write_whole(path, "".join(json.dumps(row) + "\n" for row in found))
        return
    arrow, parquet = optional("pyarrow"), optional("pyarrow.parquet")
    buffer = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(found), buffer)
    write_whole(path, buffer.getvalue())


def check_kind(path: Path) -> None:
    """Refuse a file name that does not say what to write."""
    if path.suffix not in KINDS:
        raise InputError(f"must end in {' or '.join(KINDS)}, got {path}", option="out")


def data_set(task: Task, problems: Iterable[Problem]) -> Dataset:
    """Return the problems as a `datasets.Dataset`, ready for TRL."""
    made: Dataset = optional("datasets").Dataset.from_list([export_row(task, problem) for problem in problems])
    return made


def optional(module: str) -> Any:
    """Import what only the language-model side needs."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise InputError(f"{module} is not installed: pip install 'stepladder[llm]'") from error


def _jsonl(path: Path) -> Iterator[tuple[str, Row]]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} cannot be read: it is not UTF-8 text") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{place}: not JSON: {error}") from error
        if not isinstance(row, dict):
            raise InputError(f"{place}: a row must be an object with columns, got {line.strip():.40}")
        yield place, row


def _parquet(path: Path) -> list[Row]:
    parquet = optional("pyarrow.parquet")
    try:
        rows: list[Row] = parquet.read_table(path).to_pylist()
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {str(error).splitlines()[0]}") from error
    return rows


def _data_set(name: str, split: str) -> Any:
    datasets = optional("datasets")
    try:
        return datasets.load_dataset(name, split=split)
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        reason = str(error).split("\n")[0]
        raise InputError(f"{name} is no .jsonl or .parquet file, nor a data set: {reason}") from error
