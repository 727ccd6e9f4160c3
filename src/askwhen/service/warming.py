"""Compiling what a new stream needs, in a thread that nobody waits for when the process ends."""

from __future__ import annotations

import asyncio
import contextlib
import threading

from .model import warm
from .settings import Settings


class Warming:
    """Plays a round of a scratch model with these settings."""

    def __init__(self, settings: Settings) -> None:
        self._loop, self._done = asyncio.get_running_loop(), asyncio.Event()
        threading.Thread(target=self._work, args=(settings,), name="warming", daemon=True).start()

    def _work(self, settings: Settings) -> None:
        try:
            with contextlib.suppress(Exception):  # what is wrong will be said of the first instance
                warm(settings)
        finally:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._done.set)

    async def wait(self) -> None:
        """Until it is done."""
        await self._done.wait()
