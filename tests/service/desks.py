"""A service without HTTP, on a store of its own, with a clock that stands still until it is moved."""

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor

from askwhen.service.events.settings import Budget, Settings
from askwhen.service.runtime.clock import Clock
from askwhen.service.runtime.coordinator import Desk
from askwhen.service.store import open_store


class Time:
    def __init__(self, now=1000.0):
        self.now = now

    def clock(self):
        return Clock(lambda: self.now, lambda: self.now)


@contextlib.asynccontextmanager
async def open_desk(address, time, play=True, crash=False):
    """A desk; one that is to crash leaves no snapshot behind, and nothing that was not committed."""
    desk = Desk(open_store(str(address)), time.clock())
    await desk.start(play)
    try:
        yield desk
    finally:
        if crash:
            desk._ticking.cancel()
            await desk.commits.close()
            for each in (desk._reader, desk._other_reader, desk._event_reader, desk._store):
                each.close()
        else:
            await desk.close()


def settings(**given):
    given.setdefault("budget", Budget(rate=0.3))
    given.setdefault("seed", 7)
    given.setdefault("labels", ["ham", "spam"])
    return Settings(**given)


def run(play):
    """Run a coroutine in a thread of its own: a browser's tests may have left a loop running in this one."""
    with ThreadPoolExecutor(1) as alone:
        return alone.submit(asyncio.run, play).result()
