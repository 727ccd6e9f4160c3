"""Responses that do not fit into memory, or never end; they stop when the client leaves or the service stops."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import msgspec

from ..domain.stream import ServiceStream
from ..events.kinds import facts_of, id_of
from ..runtime.coordinator import Coordinator
from ..store.records import Event, Reader
from .asgi import Receive, Scope, Send

CHUNK = 500
_encode = msgspec.json.Encoder().encode


class JsonReply:
    """An ASGI application that sends an encoded body."""

    def __init__(self, body: bytes, status: int = 200, media: str = "application/json", **headers: str) -> None:
        self._body, self._status = body, status
        self._headers = {"content-type": media, "content-length": str(len(body))} | headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        headers = [(name.lower().encode(), value.encode()) for name, value in self._headers.items()]
        await send({"type": "http.response.start", "status": self._status, "headers": headers})
        await send({"type": "http.response.body", "body": self._body, "more_body": False})


class Download:
    """An ASGI application that sends what a generator yields, which runs in another thread with its own reader."""

    def __init__(
        self, coordinator: Coordinator, make: Callable[[Reader], Iterator[bytes]], media: str, name: str
    ) -> None:
        self._coordinator, self._make, self._media, self._name = coordinator, make, media, name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send part after part, until the client leaves."""
        shown = f'attachment; filename="{self._name}"'.encode("ascii", "replace")
        headers = [(b"content-type", self._media.encode()), (b"content-disposition", shown)]
        gone = asyncio.ensure_future(_gone(receive))
        try:
            async with self._coordinator.exporting() as log:
                await send({"type": "http.response.start", "status": 200, "headers": headers})
                parts = self._make(log.reader)
                while not gone.done() and (part := await log.in_thread(next, parts, None)) is not None:
                    if part:
                        await send({"type": "http.response.body", "body": part, "more_body": True})
        finally:
            gone.cancel()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class EventFeed:
    """An ASGI application that sends the events of a stream as they are committed, each with its number as id."""

    def __init__(
        self,
        coordinator: Coordinator,
        stream: ServiceStream,
        after: int,
        kinds: tuple[str, ...],
        heartbeat: float,
        may: Callable[[], bool],
        lost: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        self._coordinator, self._stream, self._after, self._kinds = coordinator, stream, after, kinds
        self._heartbeat, self._may, self._lost = heartbeat, may, lost

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the client leaves, may no longer see them, or the service stops."""
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        changed = self._coordinator.subscribers.subscribe(self._stream.number)
        ends = ending(receive, self._coordinator, self._lost())
        try:
            await send({"type": "http.response.body", "body": b": welcome\n\n", "more_body": True})
            while not any(each.done() for each in ends) and self._may() and self._is_there():
                changed.clear()
                if await self._send_new(send):
                    continue
                new = asyncio.ensure_future(changed.wait())
                done, _ = await asyncio.wait({new, *ends}, timeout=self._heartbeat, return_when=asyncio.FIRST_COMPLETED)
                new.cancel()
                if not done:
                    await send({"type": "http.response.body", "body": b": still here\n\n", "more_body": True})
        finally:
            for each in ends:
                each.cancel()
            self._coordinator.subscribers.unsubscribe(self._stream.number, changed)
        with contextlib.suppress(Exception):
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _is_there(self) -> bool:
        """Whether the stream was not deleted."""
        return self._stream.number in self._coordinator.by_number

    async def _send_new(self, send: Send) -> bool:
        """Send the new events; returns whether there may be more."""
        found, last = await self._coordinator.news(self._stream, self._after, CHUNK, self._kinds)
        self._after = max(self._after, last)
        if found:
            await send({"type": "http.response.body", "body": b"".join(map(written, found)), "more_body": True})
        return len(found) == CHUNK


def written(event: Event) -> bytes:
    """An event in the format of server-sent events; never the content of an instance."""
    facts = {"time": event.time, "question": event.question, "facts": facts_of(event)}
    if event.kind == "instance":
        facts["id"] = id_of(event)
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.seq, event.kind.encode(), _encode(facts))


def ending(receive: Receive, coordinator: Coordinator, lost: Coroutine[Any, Any, None]) -> set[asyncio.Future[Any]]:
    """Futures of which one is done when a reply that never ends must end.

    That is when the client leaves, the service stops, or the client is not allowed any more.
    """
    return {asyncio.ensure_future(each) for each in (_gone(receive), coordinator.stopping.wait(), lost)}


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
