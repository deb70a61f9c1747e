"""Errors that are the caller's to mend: one line saying what was given, what is allowed, what to do."""


class InputError(ValueError):
    """Bad input. The command line prints its single line on stderr and exits with code 2."""
