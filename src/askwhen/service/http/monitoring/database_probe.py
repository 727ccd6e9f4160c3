"""Whether the database answers, found out with a connection of its own."""

from __future__ import annotations

import asyncio
import contextlib
import time

from ...runtime.coordinator import Coordinator
from ...store.records import Reader

PATIENCE, FRESH = 3.0, 1.0
"""Seconds in which the database must answer, and for how long an answer counts."""


class Probe:
    """Reads a row now and then; one at a time, or a database that hangs would keep thread after thread."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._reader: Reader | None = None
        self._reading: asyncio.Future[None] | None = None
        self._answered = -FRESH

    async def answers(self) -> bool:
        """Whether the database answers by now; those who ask at the same time get one answer."""
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
            self._forget()  # the next one is made anew
        else:
            self._answered = time.monotonic()

    def _forget(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            with contextlib.suppress(Exception):
                reader.close()

    async def close(self) -> None:
        """Give the connection back."""
        if self._reading is not None:
            await asyncio.wait({self._reading}, timeout=PATIENCE)
        if self._reading is None:
            self._forget()
