"""The time of the service: never goes back, whatever the system's clock does.

A clock that is set back must not keep leases alive for hours, and one that is set forward must not end them all: once
the service has started, time passes as it passes, and it starts no earlier than the last event of the log.
"""

from __future__ import annotations

import time
from collections.abc import Callable

_PASSING = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def _passed() -> float:
    return time.clock_gettime(_PASSING)


class Clock:
    """Seconds since 1970 by the system's clock at the start, and from then on by how much time has passed.

    ``wall`` and ``passed`` are the two clocks of the system; tests have their own.
    """

    def __init__(self, wall: Callable[[], float] = time.time, passed: Callable[[], float] = _passed) -> None:
        self._passed = passed
        self._start, self._base = passed(), wall()

    def not_before(self, last: float) -> None:
        """Start no earlier than this."""
        now = self.now()
        if now < last:
            self._base += last - now

    def now(self) -> float:
        """The present time."""
        return self._base + (self._passed() - self._start)
