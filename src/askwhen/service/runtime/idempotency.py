"""Whatever comes with a key is done once: who sends it again, also while the first try is under way, gets its event."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from ..errors import StoppingError
from ..store.records import Event


class Idempotency:
    """The keys that are under way.

    Parameters
    ----------
    known : callable
        The committed events of some keys of a log.
    """

    def __init__(self, known: Callable[[int, Sequence[str]], Awaitable[list[Event]]]) -> None:
        self._known = known
        self._under_way: dict[tuple[int, str], asyncio.Future[Any]] = {}

    async def once(self, number: int, key: str | None, act: Callable[[], Awaitable[Any]]) -> tuple[Any, bool]:
        """Do something once to a log: a key that was there before gets the first event again; whether it was.

        ``act`` gives the event that has the key, or None where nothing was to be done.
        """
        if key is None:
            return await act(), False
        first = self.reserve(number, key)
        if first is not None:
            return await asyncio.shield(first), True
        place = self._under_way[number, key]
        try:
            found = await self._known(number, [key])
            event = found[0] if found else await act()
            place.set_result(event)
            return event, bool(found)
        finally:
            self.free(number, key)

    def reserve(self, number: int, key: str) -> asyncio.Future[Event] | None:
        """Take a key, or get what whoever has it will come to."""
        place = (number, key)
        if place in self._under_way:
            return self._under_way[place]
        self._under_way[place] = asyncio.get_running_loop().create_future()
        return None

    def resolve(self, number: int, key: str, event: Event) -> None:
        """Tell those who wait for a key what it came to."""
        self._under_way[number, key].set_result(event)

    def free(self, number: int, key: str) -> None:
        """Give a key back; those who wait are told to try again where nothing came of it."""
        place = self._under_way.pop((number, key))
        if not place.done():
            place.set_exception(StoppingError("the first try of this request failed; send it again.", owner="serve"))
            place.exception()
