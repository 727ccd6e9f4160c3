"""Requests with a key are carried out once: a retry gets the event of the first try, even while that is under way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TypeVar, cast

from ..errors import StoppingError
from ..store.records import BacklogItem, Event

E = TypeVar("E", bound=Event | None)
Made = Event | BacklogItem
"""What a key has made: an event, or an instance that waits for its decision."""

FindMade = Callable[[int, Sequence[str]], Awaitable[list[Made]]]
UnderWay = dict[tuple[int, str], "asyncio.Future[Made | None]"]


class Claim:
    """The keys of one request, from when it claims them until it releases them.

    Attributes
    ----------
    known : dict
        What some of the keys made in earlier requests, by key; it is committed.
    elsewhere : dict
        Keys that other requests have claimed, each with a future of what comes of it.
    """

    def __init__(self, number: int, keys: Iterable[str], under_way: UnderWay) -> None:
        self._number, self._under_way = number, under_way
        self.known: dict[str, Made] = {}
        self.elsewhere: dict[str, asyncio.Future[Made | None]] = {}
        self.mine: list[str] = []
        for key in dict.fromkeys(keys):
            if (number, key) in under_way:
                self.elsewhere[key] = under_way[number, key]
            else:
                under_way[number, key] = asyncio.get_running_loop().create_future()
                self.mine.append(key)

    async def wait(self, key: str) -> Made | None:
        """What a key comes to that another request has claimed."""
        return await asyncio.shield(self.elsewhere[key])

    def resolve(self, events: Mapping[str, Made | None]) -> None:
        """Give what was made and is committed to the requests that wait for them."""
        for key in self.mine:
            if key in events:
                self._under_way[self._number, key].set_result(events[key])

    def release(self) -> None:
        """Give the keys back; requests that wait for one without an event must be sent again."""
        for key in self.mine:
            future = self._under_way.pop((self._number, key))
            if not future.done():
                failed = StoppingError("the first try of this request failed; send it again.", owner="serve")
                future.set_exception(failed)
                future.exception()  # so that asyncio does not complain where no request waits


class Idempotency:
    """The keys that are under way in all logs.

    Parameters
    ----------
    find : callable
        ``find(number, keys)`` gives what keys have made in a log, or the backlog that belongs to it.
    """

    def __init__(self, find: FindMade) -> None:
        self._find = find
        self._under_way: UnderWay = {}

    async def claim(self, number: int, keys: Iterable[str]) -> Claim:
        """Claim the keys of a request to a log; the caller must release them."""
        claim = Claim(number, keys, self._under_way)
        try:
            for event in await self._find(number, claim.mine) if claim.mine else ():
                claim.known[event.key or ""] = event
        except BaseException:
            claim.release()
            raise
        return claim

    async def once(self, number: int, key: str | None, act: Callable[[], Awaitable[E]]) -> tuple[E, bool]:
        """Act once for each key; a retry gets the event of the first try. Also says whether it is a retry.

        ``act`` gives the event that has the key, or None where there was nothing to do.
        """
        if key is None:
            return await act(), False
        claim = await self.claim(number, [key])
        try:
            if key in claim.elsewhere:
                return cast(E, await claim.wait(key)), True
            if key in claim.known:
                event, again = cast(E, claim.known[key]), True
            else:
                event, again = await act(), False
            claim.resolve({key: event})
            return event, again
        finally:
            claim.release()
