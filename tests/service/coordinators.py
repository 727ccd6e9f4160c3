"""A service without HTTP, on a store of its own, with a clock that stands still until it is moved."""

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor

from askwhen.service.events.settings import Budget, Settings
from askwhen.service.runtime.clock import Clock
from askwhen.service.runtime.coordinator import Coordinator
from askwhen.service.store import open_store


class Time:
    def __init__(self, now=1000.0):
        self.now = now

    def clock(self):
        return Clock(lambda: self.now, lambda: self.now)


@contextlib.asynccontextmanager
async def open_coordinator(address, time, play=True, crash=False, ticks=True):
    """A desk; one that is to crash leaves no snapshot behind, and nothing that was not committed.

    Without ``ticks``, what is due is done only when the test says so.
    """
    coordinator = Coordinator(open_store(str(address)), time.clock())
    await coordinator.start(play)
    if not ticks:
        coordinator._ticking.cancel()
    try:
        yield coordinator
    finally:
        if crash:
            coordinator._ticking.cancel()
            await coordinator.commits.close()
            for each in (coordinator._reader, coordinator._other_reader, coordinator._event_reader, coordinator._store):
                each.close()
        else:
            await coordinator.close()


def settings(**given):
    given.setdefault("budget", Budget(rate=0.3))
    given.setdefault("seed", 7)
    given.setdefault("labels", ["ham", "spam"])
    given.setdefault("version", 2)
    given.setdefault("certainty", 2)
    return Settings(**given)


def run(play):
    """Run a coroutine in a thread of its own: a browser's tests may have left a loop running in this one."""
    with ThreadPoolExecutor(1) as alone:
        return alone.submit(asyncio.run, play).result()
