r"""The process that runs math-verify, so that no text of a model ever reaches sympy in the caller's process.

    python -m stepladder.tasks.math_worker SECONDS BYTES      standard input is a Unix socket

It imports math-verify once and compares a few answers, so that its caches are warm. Then, for every socket it
is sent, it forks a child that answers the requests on that socket, each a JSON line `[answer, expected]`, with
the byte 1 or 0. A comparison that takes longer than SECONDS ends with its child: the kernel's timer sends a
SIGALRM that nobody handles, so not even a power of huge integers outlives it. The next child is a fork away,
not an import. BYTES bounds a child's memory. All end with the caller, whose sockets then close.

Answers are read as TeX and nothing else: math-verify's reader of plain expressions ends in sympy's
`parse_expr`, which evaluates Python.
"""

from __future__ import annotations

import gc
import importlib
import itertools
import json
import logging
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable

Comparison = Callable[[str, str], bool]

READY = b"r"
"""Sent once by the worker when all is imported, and once by every child."""

TYPICAL = (r"\frac{1}{2}", "0.5", r"3\sqrt{2} + 1", "x^2 - 2x", "(1, -2)", r"25\%", r"\text{odd}", "1,000")


def comparison() -> Comparison:
    """Import math-verify and return whether it takes an answer for the expected one."""
    math_verify = importlib.import_module("math_verify")
    tex = [math_verify.LatexExtractionConfig()]
    logging.disable()  # math-verify warns that its own time limit, a Python signal handler, is off

    def parse(text: str) -> object:
        return math_verify.parse(f"\\boxed{{{text}}}", tex, parsing_timeout=None)

    def equal(answer: str, expected: str) -> bool:
        return bool(math_verify.verify(parse(expected), parse(answer), timeout_seconds=None))

    return equal


def answer_requests(connection: socket.socket, equal: Comparison, seconds: float, memory: int) -> None:
    """Answer one caller until it hangs up, a comparison takes too long, or the memory is used up."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    connection.sendall(READY)
    for line in connection.makefile("rb"):
        answer, expected = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        same = equal(answer, expected)
        signal.setitimer(signal.ITIMER_REAL, 0)
        connection.sendall(b"1" if same else b"0")


def serve(control: socket.socket, equal: Comparison, seconds: float, memory: int) -> None:
    """Fork a child for every socket that comes, until the caller hangs up."""
    control.sendall(READY)
    while sockets := socket.recv_fds(control, 1, 1)[1]:
        with socket.socket(fileno=sockets[0]) as connection:
            if os.fork() == 0:
                try:
                    control.close()
                    answer_requests(connection, equal, seconds, memory)
                finally:
                    os._exit(0)


def main() -> None:
    """Import, warm up, serve."""
    seconds, memory = float(sys.argv[1]), int(sys.argv[2])
    equal = comparison()
    for answer, expected in itertools.pairwise(TYPICAL * 2):
        equal(answer, expected)
    gc.freeze()  # a collection in a child would otherwise write to, and so copy, every page
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children are buried by the kernel
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    serve(socket.socket(fileno=0), equal, seconds, memory)


if __name__ == "__main__":
    main()
