"""What a person at a terminal is told while nothing else is to be seen: that steps are being compiled."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

PATIENCE = 2.0
"""Seconds that a person waits without being told why."""

_told = False


def tell_nothing() -> None:
    """Say nothing in this process: somebody else does, or nobody wants to know."""
    global _told
    _told = True


@contextlib.contextmanager
def while_compiling(what: str) -> Iterator[None]:
    """Say on a terminal that steps are being compiled, if it takes longer than a person likes to wait; once."""
    if _told or sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    timer = threading.Timer(PATIENCE, _tell, [what])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _tell(what: str) -> None:
    if not _told:
        tell_nothing()
        print(f"askwhen: compiling steps for {what}, once after installation.", file=sys.stderr, flush=True)
