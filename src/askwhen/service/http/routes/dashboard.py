"""The data of the dashboard, once or as it changes."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any

import msgspec
from litestar import get
from litestar.types import ASGIApp

from ...domain.stream import ServiceStream
from ...domain.tokens import Holder
from ...errors import NotAllowedError
from ...use_cases.accuracy_history import AccuracyHistory
from ...use_cases.adviser_reports import AdviserReports
from ...use_cases.dashboard import overview
from ...use_cases.recent_activity import RecentActivity
from ...use_cases.steady_figures import SteadyFigures, is_for
from ..asgi import Receive, Scope, Send
from ..authorization import AnyRequest, authorization_of, is_given
from ..streaming import ending

PAUSE, REST = 1.0, 10.0
"""Least seconds between two overviews, and the pause as a multiple of the time that one takes."""

_encode = msgspec.json.Encoder().encode


def _sees_people(holder: Holder, stream: ServiceStream) -> bool:
    with contextlib.suppress(NotAllowedError):
        holder.check("reviewer", stream.number)
        return True
    return False


def _sees_guesses(holder: Holder, stream: ServiceStream) -> bool:
    return stream.settings.guess or holder.has("reviewer", "producer")


def _places(request: AnyRequest) -> tuple[AccuracyHistory, RecentActivity]:
    state = request.app.state
    return state.history, state.activity


def _advisers(request: AnyRequest) -> AdviserReports:
    found: AdviserReports = request.app.state.advisers
    return found


def steady_of(request: AnyRequest) -> SteadyFigures:
    """The figures that annotators see in streams with gold questions."""
    found: SteadyFigures = request.app.state.steady
    return found


@get("/v1/streams/{name:str}/overview", summary="Everything that the dashboard shows")
async def seen(request: AnyRequest, name: str) -> dict[str, Any]:
    """Counts, report, accuracy over time, waiting questions; for reviewers also annotators."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name)
    people, guesses = _sees_people(holder, stream), _sees_guesses(holder, stream)
    found = await overview(auth.coordinator, stream, *_places(request), people, guesses, _advisers(request))
    return steady_of(request).overview(stream, found) if is_for(holder, stream) else found


@get("/v1/streams/{name:str}/overview/events", summary="Follow the dashboard")
async def followed(request: AnyRequest, name: str) -> ASGIApp:
    """Server-sent events: an overview at once, and another after each change, at most one a second."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name)
    return OverviewFeed(request, holder, stream)


class OverviewFeed:
    """An ASGI application that sends overviews until the client leaves, may see no more, or the service stops."""

    def __init__(self, request: AnyRequest, holder: Holder, stream: ServiceStream) -> None:
        self._request, self._holder, self._stream = request, holder, stream
        self._auth, self._people = authorization_of(request), _sees_people(holder, stream)
        self._history, self._activity = _places(request)
        self._advisers, self._steady = _advisers(request), steady_of(request)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them."""
        coordinator, stream = self._auth.coordinator, self._stream
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        changed = coordinator.subscribers.subscribe(stream.number)
        ends = ending(receive, coordinator, self._auth.wait_until_lost(self._request, self._holder))
        try:
            while not any(each.done() for each in ends):
                changed.clear()
                started = time.monotonic()
                guesses = _sees_guesses(self._holder, stream)
                found = await overview(
                    coordinator, stream, self._history, self._activity, self._people, guesses, self._advisers
                )
                if is_for(self._holder, stream):
                    found = self._steady.overview(stream, found)
                if not self._may_see():
                    break
                body = b"id: %d\nevent: overview\ndata: %s\n\n" % (found["stream"]["seq"], _encode(found))
                await send({"type": "http.response.body", "body": body, "more_body": True})
                pause = max(PAUSE, REST * (time.monotonic() - started))
                await asyncio.wait(ends, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
                if await self._history.catch_up(stream):
                    continue
                await self._wait(changed, ends, send)
        finally:
            for each in ends:
                each.cancel()
            coordinator.subscribers.unsubscribe(stream.number, changed)
        with contextlib.suppress(Exception):
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _may_see(self) -> bool:
        """Whether the client is still allowed, and the stream still given to them."""
        return self._auth.is_still_allowed(self._request, self._holder) and is_given(self._stream, self._holder)

    async def _wait(self, changed: asyncio.Event, ends: set[asyncio.Future[Any]], send: Send) -> None:
        """Wait for a new event or the end, and send keep-alive messages."""
        while not any(each.done() for each in ends) and not changed.is_set():
            new = asyncio.ensure_future(changed.wait())
            pause = self._auth.options.heartbeat
            done, _ = await asyncio.wait({new, *ends}, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            new.cancel()
            if not done:
                if not self._may_see():  # the members of a group may be others, which is no event of the stream
                    return
                await send({"type": "http.response.body", "body": b": still here\n\n", "more_body": True})
