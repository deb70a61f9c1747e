"""Files are written whole or not at all: to a temporary neighbour first, then renamed into place."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stepladder.errors import InputError


def write_whole(path: Path, content: bytes | str) -> None:
    """Write `content` so that `path` never holds half of it, whatever interrupts the write."""
    data = content.encode() if isinstance(content, str) else content
    make_folder(path.parent)
    try:
        _write(path, data)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}", option="out") from error


def _write(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Give a new folder to fill, and move it into place once it is full; whoever was faster is kept."""
    make_folder(folder.parent)
    unfinished = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        yield unfinished
        unfinished.replace(folder)
    except OSError:
        if not folder.exists():
            raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def make_folder(folder: Path) -> None:
    """Create the folder, or say in one line why that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be used as a folder: {error.strerror}", "out") from error


def read_json(path: Path, hint: str) -> Any:
    """Read a file of a run's folder; the hint says how to get one that is missing."""
    try:
        return json.loads(path.read_text())
    except OSError as error:
        raise InputError(f"{path.parent} holds no {path.name}; {hint}", option="folder") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        line = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(f"{path} is not JSON{line}; make it again", option="folder") from error
