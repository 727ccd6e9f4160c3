"""Compiling what a new stream needs, in a thread that nobody waits for when the process ends."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable

from ..domain.model import warm, warm_guesses
from ..events.settings import Settings


class Warmup:
    """Plays a round of a scratch model with these settings, or does whatever else is to be compiled."""

    def __init__(self, settings: Settings, play: Callable[[Settings], None] = warm) -> None:
        self._loop, self._done = asyncio.get_running_loop(), asyncio.Event()
        threading.Thread(target=self._work, args=(settings, play), name="warming", daemon=True).start()

    def _work(self, settings: Settings, play: Callable[[Settings], None]) -> None:
        try:
            with contextlib.suppress(Exception):  # what is wrong will be said of the first instance
                play(settings)
        finally:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._done.set)

    async def wait(self) -> None:
        """Until it is done."""
        await self._done.wait()


class Warmups:
    """What streams wait for; others are served meanwhile."""

    def __init__(self) -> None:
        self._rounds: dict[int, Warmup] = {}
        self._guesses: dict[int, Warmup] = {}

    def begin(self, stream: int, settings: Settings) -> None:
        """Compile the rounds of a new stream."""
        self._rounds[stream] = Warmup(settings)

    async def wait_for_rounds(self, stream: int) -> None:
        """Wait until the rounds of a new stream are compiled."""
        warming = self._rounds.get(stream)
        if warming is not None:
            await warming.wait()
            self._rounds.pop(stream, None)

    async def wait_for_guesses(self, stream: int, settings: Settings) -> None:
        """Wait until guesses about what was predicted before are compiled, which begins with the first of them."""
        if stream not in self._guesses:
            self._guesses[stream] = Warmup(settings, warm_guesses)
        await self._guesses[stream].wait()
