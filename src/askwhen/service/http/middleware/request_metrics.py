"""Ids, counts, durations, log lines and spans of requests.

Never their contents: routes are recorded as templates, without the names of streams.
"""

from __future__ import annotations

import logging
import time

from ...runtime.histogram import Histogram
from .. import request_ids
from ..asgi import App, Message, Receive, Scope, Send
from .tracing import Spans

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


class RequestMonitor:
    """Middleware that gives each request an id and records it."""

    def __init__(self, app: App, requests: RequestCounts, lines: bool = False, spans: Spans | None = None) -> None:
        self._app, self._requests, self._lines, self._spans = app, requests, lines, spans

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; its time counts until the reply begins, since streams of events may never end."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, name = time.perf_counter(), request_ids.named(scope["headers"])
        request_ids.present.set(name)
        requests, header, status = self._requests, (request_ids.HEADER, name.encode()), 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), header]
                requests.add(scope, status, time.perf_counter() - started)
            await send(message)

        span = None if self._spans is None else self._spans.begin(scope, name)
        requests.open += 1
        try:
            await self._app(scope, receive, noted)
        except BaseException:
            if not status:
                status = 500
                requests.add(scope, status, time.perf_counter() - started)
            raise
        finally:
            requests.open -= 1
            if span is not None:
                span.end(scope, status)
            if self._lines:
                facts = {"method": scope["method"], "path": scope["path"][:200], "route": scope.get("path_template")}
                facts |= {"status": status, "seconds": round(time.perf_counter() - started, 6)}
                log.info("request", extra={"facts": facts})
