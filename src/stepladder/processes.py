"""Worker processes that leave with whoever started them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading


def begin_worker() -> None:
    """Leave Ctrl-C to the parent, which ends its children, and end when it does, however that may be."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
