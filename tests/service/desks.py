"""A service without HTTP, on a store of its own, with a clock that stands still until it is moved."""

import asyncio
import contextlib
import shutil

from askwhen.service.clock import Clock
from askwhen.service.desk import Desk
from askwhen.service.settings import Budget, Settings
from askwhen.service.store import open_store


class Time:
    def __init__(self, now=1000.0):
        self.now = now

    def clock(self):
        return Clock(lambda: self.now, lambda: self.now)


@contextlib.asynccontextmanager
async def open_desk(address, time, play=True):
    desk = Desk(open_store(str(address)), time.clock())
    await desk.start(play)
    try:
        yield desk
    finally:
        await desk.close()


def copied(path, to):
    """The files of a database as a process leaves them that is killed now."""
    for suffix in ("", "-wal"):
        if (found := path.with_name(path.name + suffix)).exists():
            shutil.copy(found, to.with_name(to.name + suffix))
    return to


def settings(**given):
    given.setdefault("budget", Budget(rate=0.3))
    given.setdefault("seed", 7)
    given.setdefault("labels", ["ham", "spam"])
    return Settings(**given)


def run(play):
    return asyncio.run(play)
