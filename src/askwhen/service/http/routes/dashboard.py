"""The dashboard's numbers, once or as they change."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any

import msgspec
from litestar import get
from litestar.types import ASGIApp

from ...domain.stream import Stream
from ...domain.tokens import Holder
from ...errors import NotAllowedError
from ...use_cases.accuracy_history import History
from ...use_cases.dashboard import overview
from ...use_cases.recent_activity import Days
from ..authorization import Asked, door_of
from ..streaming import ending

PAUSE, REST = 1.0, 10.0
"""Seconds at least between two overviews, and how many times as long as one takes to make."""

_encode = msgspec.json.Encoder().encode


def _sees_people(holder: Holder, stream: Stream) -> bool:
    with contextlib.suppress(NotAllowedError):
        holder.check("reviewer", stream.number)
        return True
    return False


def _sees_guesses(holder: Holder, stream: Stream) -> bool:
    return stream.settings.guess or holder.has("reviewer", "producer")


def _places(request: Asked) -> tuple[History, Days]:
    state = request.app.state
    return state.history, state.days


@get("/v1/streams/{name:str}/overview", summary="Everything that the dashboard shows")
async def seen(request: Asked, name: str) -> dict[str, Any]:
    """Counts, report, how it was over time, questions that wait; for reviewers, people."""
    door = door_of(request)
    stream, holder = door.stream(request, name)
    people, guesses = _sees_people(holder, stream), _sees_guesses(holder, stream)
    return await overview(door.desk, stream, *_places(request), people, guesses)


@get("/v1/streams/{name:str}/overview/events", summary="Follow the dashboard")
async def followed(request: Asked, name: str) -> ASGIApp:
    """Server-sent events: an overview at once, and another whenever something happened, at most one a second."""
    door = door_of(request)
    stream, holder = door.stream(request, name)
    return Overviews(request, holder, stream)


class Overviews:
    """An ASGI application that sends overviews until the client leaves, may see no more, or the service stops."""

    def __init__(self, request: Asked, holder: Holder, stream: Stream) -> None:
        self._request, self._holder, self._stream = request, holder, stream
        self._door, self._people = door_of(request), _sees_people(holder, stream)
        self._history, self._days = _places(request)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send them."""
        desk, stream = self._door.desk, self._stream
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        watcher = desk.watchers.watch(stream.number)
        ends = ending(receive, desk, self._door.lost(self._request, self._holder))
        try:
            while not any(each.done() for each in ends):
                watcher.clear()
                started = time.monotonic()
                guesses = _sees_guesses(self._holder, stream)
                found = await overview(desk, stream, self._history, self._days, self._people, guesses)
                if not self._door.still(self._request, self._holder):
                    break
                body = b"id: %d\nevent: overview\ndata: %s\n\n" % (found["stream"]["seq"], _encode(found))
                await send({"type": "http.response.body", "body": body, "more_body": True})
                pause = max(PAUSE, REST * (time.monotonic() - started))
                await asyncio.wait(ends, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
                if await self._history.catch_up(stream):
                    continue
                await self._wait(watcher, ends, send)
        finally:
            for each in ends:
                each.cancel()
            desk.watchers.unwatch(stream.number, watcher)
        with contextlib.suppress(Exception):
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _wait(self, watcher: asyncio.Event, ends: set[asyncio.Future[Any]], send: Any) -> None:
        """Until something happened or this must end, with signs of life."""
        while not any(each.done() for each in ends) and not watcher.is_set():
            new = asyncio.ensure_future(watcher.wait())
            pause = self._door.options.heartbeat
            done, _ = await asyncio.wait({new, *ends}, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            new.cancel()
            if not done:
                await send({"type": "http.response.body", "body": b": still here\n\n", "more_body": True})
