"""Ids, counts, durations, log lines and spans of requests.

Never their contents: routes are recorded as templates, without the names of streams.
"""

from __future__ import annotations

import logging
import time

from ...runtime.histogram import Histogram
from .. import request_ids
from ..asgi import App, Message, Receive, Scope, Send
from .tracing import Span, Spans

METHODS = frozenset({"GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS"})
OTHER = "other"
"""Stands for unknown routes and methods, whose number would be unlimited."""

log = logging.getLogger("askwhen.service")


class RequestCounts:
    """Counts of requests and histograms of the time until the reply begins, by route, method and status."""

    def __init__(self) -> None:
        self.open = 0
        self.times: dict[tuple[str, str, int], Histogram] = {}

    def add(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request."""
        method = scope["method"]
        place = (scope.get("path_template") or OTHER, method if method in METHODS else OTHER, status // 100)
        found = self.times.get(place)
        if found is None:
            found = self.times[place] = Histogram()
        found.add(seconds)


class Watched:
    """A request that is under way: its id, when it came, and its span."""

    __slots__ = ("_recorder", "_scope", "_span", "_started", "_status", "header")

    def __init__(self, recorder: RequestRecorder, scope: Scope, span: Span | None, name: str, started: float) -> None:
        self._recorder, self._scope, self._span, self._started, self._status = recorder, scope, span, started, 0
        self.header = (request_ids.HEADER, name.encode())

    def replied(self, status: int) -> None:
        """Count the request: its time counts until the reply begins, since streams of events may never end."""
        self._status = status
        self._recorder.requests.add(self._scope, status, time.perf_counter() - self._started)

    def failed(self) -> None:
        """Count a request that an error has ended before the reply began."""
        if not self._status:
            self.replied(500)

    def end(self) -> None:
        """Record that the request has ended."""
        recorder, scope = self._recorder, self._scope
        recorder.requests.open -= 1
        if self._span is not None:
            self._span.end(scope, self._status)
        if recorder.lines:
            facts = {"method": scope["method"], "path": scope["path"][:200], "route": scope.get("path_template")}
            facts |= {"status": self._status, "seconds": round(time.perf_counter() - self._started, 6)}
            log.info("request", extra={"facts": facts})


class RequestRecorder:
    """Gives each request an id and records it."""

    def __init__(self, requests: RequestCounts, lines: bool = False, spans: Spans | None = None) -> None:
        self.requests, self.lines, self._spans = requests, lines, spans

    def begin(self, scope: Scope) -> Watched:
        """Watch a request, which has come now; ``end`` must be called in any case."""
        started, name = time.perf_counter(), request_ids.named(scope["headers"])
        request_ids.present.set(name)
        span = None if self._spans is None else self._spans.begin(scope, name)
        self.requests.open += 1
        return Watched(self, scope, span, name, started)


class RequestMonitor:
    """Middleware that records requests."""

    def __init__(self, app: App, recorder: RequestRecorder) -> None:
        self._app, self._recorder = app, recorder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        watched = self._recorder.begin(scope)

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), watched.header]
                watched.replied(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except BaseException:
            watched.failed()
            raise
        finally:
            watched.end()
