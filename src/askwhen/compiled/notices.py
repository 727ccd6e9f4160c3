"""A notice on the terminal that steps are being compiled, if that takes long."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

PATIENCE = 2.0
"""Seconds before the notice is printed."""

_told = False


def tell_nothing() -> None:
    """Print no notice in this process: another process does, or it would not be read."""
    global _told
    _told = True


@contextlib.contextmanager
def while_compiling(what: str) -> Iterator[None]:
    """Print once, on a terminal, that steps are being compiled, if it takes longer than ``PATIENCE``."""
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
