"""The clock of the service, which never goes back.

Setting the system's clock back must not extend leases by hours, and setting it forward must not end them all. So the
wall clock is read once, at the start; from then on a monotonic clock counts. It starts no earlier than the last event
of the log.
"""

from __future__ import annotations

import time
from collections.abc import Callable

_PASSING = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def _passed() -> float:
    return time.clock_gettime(_PASSING)


class Clock:
    """Seconds since 1970: the wall clock at the start, plus the monotonic time since then.

    ``wall`` and ``passed`` are these two clocks; tests pass their own.
    """

    def __init__(self, wall: Callable[[], float] = time.time, passed: Callable[[], float] = _passed) -> None:
        self._passed = passed
        self._start, self._base = passed(), wall()

    def not_before(self, last: float) -> None:
        """Move the clock forward to a time, unless it is later already."""
        now = self.now()
        if now < last:
            self._base += last - now

    def now(self) -> float:
        """The current time."""
        return self._base + (self._passed() - self._start)
