"""Work that stops between two pieces when it is interrupted."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

_PIECE_SECONDS = 0.2
_FEWEST, _MOST = 64, 1 << 16


class Stopping:
    """Pieces of a stream, small enough to stop between two of them when the user interrupts.

    ``then`` is called at the first interrupt, for work that is not in pieces.
    """

    def __init__(self, say: Callable[[str], None], piece: str = "this piece") -> None:
        self.stopped = self.twice = False
        self.then: Callable[[], None] = lambda: None
        self._waiting = False
        self._say = say
        self._piece = piece

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Stop at an interrupt; at a second one, at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self._interrupted) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _interrupted(self, *_: object) -> None:
        if self.stopped or self._waiting:
            self.twice = self.stopped
            raise KeyboardInterrupt
        self.stopped = True
        self.then()
        self._say(f"Stopping after {self._piece}; interrupt again to stop at once.")

    def pieces(self, chunks: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """The chunks in pieces of about a fifth of a second."""
        size = _FEWEST
        while (chunk := self._next(chunks)) is not None:
            at = 0
            while at < len(chunk[1]):
                if self.stopped:
                    return
                started = time.perf_counter()
                yield tuple(array[at : at + size] for array in chunk)
                at += size
                fitting = _PIECE_SECONDS / max(time.perf_counter() - started, 1e-6)
                size = int(min(max(size * min(max(fitting, 0.25), 4.0), _FEWEST), _MOST))

    def _next(self, chunks: Iterator[tuple[Any, ...]]) -> tuple[Any, ...] | None:
        """The next chunk; an interrupt while it is being read ends the stream there."""
        self._waiting = True
        try:
            return None if self.stopped else next(chunks, None)
        except KeyboardInterrupt:
            self.stopped = True
            return None
        finally:
            self._waiting = False
