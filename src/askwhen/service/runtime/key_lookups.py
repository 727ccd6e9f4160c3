"""Looks up keys in the log, in batches, since one query costs as much as ten keys."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ..store.records import BacklogItem, Event, Reader

Made = Event | BacklogItem
Wanted = tuple[int, Sequence[str], "asyncio.Future[list[Made]]"]


class KeyLookups:
    """Looks keys up for all requests of the same turn of the event loop.

    Parameters
    ----------
    reader : Reader
        Used for nothing else; it sees committed events.
    quick : bool
        Whether the event loop can wait for it; otherwise it is used in another thread, one batch after the other.
    """

    def __init__(self, reader: Reader, quick: bool) -> None:
        self._reader, self._quick = reader, quick
        self._wanted: list[Wanted] = []
        self._looking: asyncio.Task[None] | None = None

    async def find(self, stream: int, keys: Sequence[str]) -> list[Made]:
        """The committed events of these keys; instances that are not decided as they are in the backlog."""
        loop = asyncio.get_running_loop()
        found: asyncio.Future[list[Made]] = loop.create_future()
        self._wanted.append((stream, keys, found))
        if len(self._wanted) == 1 and self._quick:
            loop.call_soon(self._look_now)
        elif self._looking is None and not self._quick:
            self._looking = asyncio.ensure_future(self._look_elsewhere())
        return await found

    def _look_now(self) -> None:
        wanted, self._wanted = self._wanted, []
        try:
            _give(wanted, self._look(wanted))
        except BaseException as error:
            _fail(wanted, error)

    async def _look_elsewhere(self) -> None:
        while self._wanted:
            wanted, self._wanted = self._wanted, []
            try:
                _give(wanted, await asyncio.to_thread(self._look, wanted))
            except BaseException as error:
                _fail(wanted, error)
        self._looking = None

    def _look(self, wanted: list[Wanted]) -> dict[tuple[int, str | None], Made]:
        keys: dict[int, list[str]] = {}
        for stream, some, _ in wanted:
            keys.setdefault(stream, []).extend(some)
        # The backlog first: an instance that is decided meanwhile is then found in both, and never in none.
        made: dict[tuple[int, str | None], Made] = {
            (stream, item.key): item
            for stream, some in keys.items()
            for item in self._reader.backlog_by_keys(stream, [key for key in some if key.startswith("i:")])
        }
        for stream, some in keys.items():
            made |= {(stream, event.key): event for event in self._reader.by_keys(stream, some)}
        return made


def _give(wanted: list[Wanted], found: dict[tuple[int, str | None], Made]) -> None:
    for stream, keys, place in wanted:
        if not place.done():  # the request may have been cancelled
            place.set_result([found[stream, key] for key in keys if (stream, key) in found])


def _fail(wanted: list[Wanted], error: BaseException) -> None:
    for _, _, place in wanted:
        if not place.done():
            place.set_exception(error)
            place.exception()
