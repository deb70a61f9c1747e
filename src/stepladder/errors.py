"""Errors that are the caller's to mend: one line that says what was given and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence


class InputError(ValueError):
    """Bad input. The command line prints its single line on stderr and exits with code 2.

    >>> str(InputError("must be at least 1, got 0", option="samples"))
    'samples must be at least 1, got 0'
    """

    def __init__(self, message: str, option: str | None = None) -> None:
        """Take the message and, where one argument is to blame, that argument's name."""
        super().__init__(message)
        self.message = message
        self.option = option

    def __str__(self) -> str:
        """Put the argument's name in front of the message."""
        return f"{self.option} {self.message}" if self.option else self.message


def check_between(option: str, value: float, low: float, high: float) -> None:
    """Refuse a number outside low..high (both allowed); NaN is outside everything."""
    if not low <= value <= high:
        bounds = f"{_shown(low)} and {_shown(high)}"
        raise InputError(f"must be between {bounds}, got {_shown(value)}", option=option)


def _shown(value: float) -> str:
    """Show a whole number in full unless it is very large."""
    return f"{value:,}" if isinstance(value, int) and abs(value) < 10**7 else f"{value:g}"


def check_seed(seed: object) -> None:
    """Refuse a negative seed, which no random generator takes."""
    if isinstance(seed, int) and seed < 0:
        raise InputError(f"must be at least 0, got {seed}", option="seed")


def check_choice(option: str, value: str, choices: Sequence[str]) -> None:
    """Refuse a name that is not among the choices."""
    if value not in choices:
        raise InputError(f"{value!r} is unknown; choose one of {', '.join(choices)}", option=option)
