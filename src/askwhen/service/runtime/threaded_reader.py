"""A reader of the log that another thread uses.

Whoever waits for that thread may be told to stop. A reader that is in use cannot be closed, so it is closed when the
thread has done what it does.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from ..store.records import Reader

T = TypeVar("T")


class ThreadedReader:
    """Lets another thread do things with a reader, one after the other."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._work: asyncio.Future[Any] | None = None

    async def in_thread(self, act: Callable[..., T], *given: Any) -> T:
        """Do something in another thread."""
        work = self._work = asyncio.ensure_future(asyncio.to_thread(act, *given))
        return await asyncio.shield(work)

    def close(self) -> None:
        """Close the reader, now or when nobody uses it any more."""
        if self._work is None or self._work.done():
            self.reader.close()
        else:
            self._work.add_done_callback(self._close_after)

    def _close_after(self, work: asyncio.Future[Any]) -> None:
        if not work.cancelled():
            work.exception()  # nobody waits for it
        self.reader.close()


@contextlib.asynccontextmanager
async def reading(make: Callable[[], Reader]) -> AsyncIterator[ThreadedReader]:
    """A reader for what happens inside."""
    found = ThreadedReader(await asyncio.to_thread(make))
    try:
        yield found
    finally:
        found.close()
