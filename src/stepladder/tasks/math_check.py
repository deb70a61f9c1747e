"""Whether two answers in TeX are equal: asked of a worker process, which may hang or die without harm.

One worker for this process imports math-verify, once. Every comparison has a child of the worker to itself,
taken from the idle ones or forked in a few milliseconds, so threads do not wait for each other's comparisons.
A process forked from this one has a worker of its own.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import threading
import time
from enum import Enum, auto
from pathlib import Path

from stepladder.errors import InputError

SECONDS = 1.0
"""Time limit of a comparison."""

_MEMORY = 512 * 1024**2
_GRACE = 0.5
"""Seconds beyond the limit after which a child is given up that should have been killed."""

_START = 120.0
"""Seconds that the import may take, on a busy machine with a cold disk."""

_REQUESTS_PER_CHILD = 2000
"""sympy's caches grow with what a child has seen."""


class Outcome(Enum):
    """What a comparison has shown."""

    EQUAL = auto()
    DIFFERENT = auto()
    TOO_LONG = auto()
    BROKEN = auto()
    """The child died before its time was up: too much memory, or too deep a recursion."""


class _Child:
    """A connection to one child of the worker."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.requests = 0
        self.sent = 0.0

    def send(self, request: bytes) -> bool:
        """Hand over a request; False if the child has died since its last one."""
        self.requests += 1
        self.sent = time.monotonic()
        with contextlib.suppress(OSError):
            self.connection.sendall(request)
            return True
        return False

    def reply(self) -> bytes:
        """Return the one byte of the reply, or nothing if none will come."""
        try:
            return self.connection.recv(1)
        except OSError:
            return b""


class _Worker:
    """The process that has imported math-verify and forks children."""

    def __init__(self) -> None:
        if importlib.util.find_spec("math_verify") is None:
            raise InputError("comparing answers needs math-verify: pip install 'stepladder[llm]'")
        self.control, theirs = socket.socketpair()
        root = str(Path(__file__).parents[2])
        command = ["-P", "-m", "stepladder.tasks.math_worker", str(SECONDS), str(_MEMORY)]
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, *command],
                env=os.environ | {"PYTHONPATH": os.pathsep.join([root, *filter(None, sys.path)])},
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the caller, whose end is the worker's end
            )
        if not _says_ready(self.control):
            self.stop()
            raise InputError("math-verify cannot be imported; pip install 'stepladder[llm]'")

    def fork(self) -> _Child | None:
        """Return a new child, or None if the worker is dead."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self.control, [b"f"], [theirs.fileno()])
            except OSError:
                ours.close()
                return None
        if not _says_ready(ours):
            ours.close()
            return None
        ours.settimeout(SECONDS + _GRACE)
        return _Child(ours)

    def stop(self) -> None:
        """Hang up and bury it."""
        self.control.close()
        self.process.kill()
        self.process.wait()

    def disown(self) -> None:
        """Forget a worker that belongs to the process this one was forked from."""
        self.control.close()
        self.process.returncode = 0


class _Pool:
    """The worker of this process, started when first needed, and its children."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.worker: _Worker | None = None
        self.children: set[_Child] = set()
        self.idle: list[_Child] = []

    def send(self, request: bytes) -> _Child:
        """Hand the request to a child that nobody else is waiting for."""
        while True:
            with self.lock:
                child = self.idle.pop() if self.idle else self.new_child()
            if child.send(request):
                return child
            self.drop(child)

    def new_child(self) -> _Child:
        """Fork a child; replace a worker that has died."""
        for _ in range(2):
            self.worker = self.worker or _Worker()
            if child := self.worker.fork():
                self.children.add(child)
                return child
            self.worker.stop()
            self.worker = None
        raise RuntimeError("the process that compares answers dies as soon as it is started")

    def give_back(self, child: _Child) -> None:
        """Keep a child for the next comparison, unless it has done its share."""
        if child.requests >= _REQUESTS_PER_CHILD:
            self.drop(child)
        else:
            self.idle.append(child)

    def drop(self, child: _Child) -> None:
        """Hang up, which ends a child that is still alive."""
        child.connection.close()
        self.children.discard(child)

    def close(self) -> None:
        """End all processes."""
        self.idle.clear()
        for child in tuple(self.children):
            self.drop(child)
        if self.worker:
            self.worker.stop()
            self.worker = None

    def disown(self) -> None:
        """Let go of what belongs to the process that this one was forked from."""
        for child in tuple(self.children):
            child.connection.close()
        if self.worker:
            self.worker.disown()


_pool = _Pool()


def compare(answer: str, expected: str) -> Outcome:
    """Compare an answer with the expected one; whatever the text, this takes less than two seconds.

    Only the first call of a process takes longer: it waits for the worker's import.
    """
    request = json.dumps([answer, expected]).encode() + b"\n"
    pool = _pool
    child = pool.send(request)
    try:
        reply = child.reply()
    except BaseException:
        pool.drop(child)  # its reply must not be taken for that of the next request
        raise
    if reply:
        pool.give_back(child)
        return Outcome.EQUAL if reply == b"1" else Outcome.DIFFERENT
    pool.drop(child)
    return Outcome.TOO_LONG if time.monotonic() - child.sent >= SECONDS else Outcome.BROKEN


def _says_ready(connection: socket.socket) -> bool:
    connection.settimeout(_START)
    with contextlib.suppress(OSError):
        return bool(connection.recv(1))
    return False


def _start_afresh() -> None:
    global _pool
    _pool.disown()
    _pool = _Pool()


os.register_at_fork(after_in_child=_start_afresh)
atexit.register(lambda: _pool.close())
