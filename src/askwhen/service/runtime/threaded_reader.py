"""A reader of the log that is used in another thread.

The request that waits for that thread may be cancelled, and a reader that is in use cannot be closed. So it is closed
when the thread is done.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from ..store.records import Reader

T = TypeVar("T")


class ThreadedReader:
    """Runs functions that use a reader in another thread, one after the other."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._work: asyncio.Future[Any] | None = None

    async def in_thread(self, act: Callable[..., T], *given: Any) -> T:
        """Run a function in another thread."""
        work = self._work = asyncio.ensure_future(asyncio.to_thread(act, *given))
        return await asyncio.shield(work)

    def close(self) -> None:
        """Close the reader, now or when the thread is done with it."""
        if self._work is None or self._work.done():
            self.reader.close()
        else:
            self._work.add_done_callback(self._close_after)

    def _close_after(self, work: asyncio.Future[Any]) -> None:
        if not work.cancelled():
            work.exception()  # retrieved, so that asyncio does not complain
        self.reader.close()


@contextlib.asynccontextmanager
async def threaded_reader(make: Callable[[], Reader]) -> AsyncIterator[ThreadedReader]:
    """A new reader for the ``with`` block."""
    found = ThreadedReader(await asyncio.to_thread(make))
    try:
        yield found
    finally:
        found.close()
