"""Aborts requests whose bodies come too slowly."""

from __future__ import annotations

from ..asgi import App, Receive, Scope, Send
from ..request_body import in_time


class BodyTimeout:
    """Middleware that limits the time of each part of a body."""

    def __init__(self, app: App, seconds: float) -> None:
        self._app, self._seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        await self._app(scope, in_time(receive, self._seconds) if scope["type"] == "http" else receive, send)
