"""What the tests of the command line share: running a command in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from stepladder.cli import main


class Outcome(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run `stepladder` with the given arguments and return exit code, stdout and stderr."""

    def command(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = 0
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return command


@pytest.fixture
def refused(run: Callable[..., Outcome]) -> Callable[..., str]:
    """Run a command that must fail as bad input: exit code 2, silence on stdout, one line on stderr."""

    def command(*arguments: object) -> str:
        outcome = run(*arguments)
        assert outcome.code == 2
        assert outcome.out == ""
        assert outcome.err.startswith("stepladder: ")
        assert outcome.err.count("\n") == 1
        assert outcome.err.endswith("\n")
        return outcome.err

    return command
