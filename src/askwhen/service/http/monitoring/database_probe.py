"""Checks whether the database answers, on a separate connection."""

from __future__ import annotations

import asyncio
import contextlib
import time

from ...runtime.coordinator import Coordinator
from ...store.records import Reader

PATIENCE, FRESH = 3.0, 1.0
"""Seconds in which the database must answer, and seconds for which an answer is valid."""


class Probe:
    """Reads a row, one read at a time: otherwise a database that hangs would occupy one thread after another."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._reader: Reader | None = None
        self._reading: asyncio.Future[None] | None = None
        self._answered = -FRESH

    async def answers(self) -> bool:
        """Whether the database answers; simultaneous calls share one read."""
        if self._reading is None and time.monotonic() - self._answered < FRESH:
            return True
        if self._reading is None:
            self._reading = asyncio.ensure_future(asyncio.to_thread(self._read))
            self._reading.add_done_callback(self._noted)
        reading = self._reading
        await asyncio.wait({reading}, timeout=PATIENCE)
        return reading.done() and not reading.cancelled() and reading.exception() is None

    def _read(self) -> None:
        if self._reader is None:
            self._reader = self._coordinator.reader()
        self._reader.events(0, 0, 1)

    def _noted(self, reading: asyncio.Future[None]) -> None:
        self._reading = None
        if reading.cancelled() or reading.exception() is not None:
            self._forget()  # the next check opens a new one
        else:
            self._answered = time.monotonic()

    def _forget(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            with contextlib.suppress(Exception):
                reader.close()

    async def close(self) -> None:
        """Close the connection."""
        if self._reading is not None:
            await asyncio.wait({self._reading}, timeout=PATIENCE)
        if self._reading is None:
            self._forget()
