"""Compiles a new stream's steps in a daemon thread, which does not delay the end of the process."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable

from ..domain.model import warm, warm_guesses
from ..events.settings import Settings


class Warmup:
    """Compiles by playing a round of a throwaway model, or by calling another function."""

    def __init__(self, settings: Settings, play: Callable[[Settings], None] = warm) -> None:
        self._loop, self._done = asyncio.get_running_loop(), asyncio.Event()
        threading.Thread(target=self._work, args=(settings, play), name="warming", daemon=True).start()

    def _work(self, settings: Settings, play: Callable[[Settings], None]) -> None:
        try:
            with contextlib.suppress(Exception):  # the first instance will report the error
                play(settings)
        finally:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._done.set)

    @property
    def is_done(self) -> bool:
        """Whether it is done."""
        return self._done.is_set()

    async def wait(self) -> None:
        """Wait until it is done."""
        await self._done.wait()


class Warmups:
    """The warmups of all streams. Requests to a stream wait for its own; other streams are served meanwhile."""

    def __init__(self) -> None:
        self._rounds: dict[int, Warmup] = {}
        self._guesses: dict[int, Warmup] = {}

    def begin(self, stream: int, settings: Settings) -> None:
        """Start compiling the rounds of a new stream."""
        self._rounds[stream] = Warmup(settings)

    async def wait_for_rounds(self, stream: int) -> None:
        """Wait until the rounds of a new stream are compiled."""
        warming = self._rounds.get(stream)
        if warming is not None:
            await warming.wait()
            self._rounds.pop(stream, None)

    def is_ready(self, stream: int) -> bool:
        """Whether the rounds of a stream are compiled, or it has not been made by this process."""
        return stream not in self._rounds or self._rounds[stream].is_done

    async def wait_for_guesses(self, stream: int, settings: Settings) -> None:
        """Wait until guesses are compiled; the first call starts that."""
        if stream not in self._guesses:
            self._guesses[stream] = Warmup(settings, warm_guesses)
        await self._guesses[stream].wait()
