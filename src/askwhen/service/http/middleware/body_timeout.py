"""Aborts requests whose bodies come too slowly."""

from __future__ import annotations

import asyncio

from ...errors import SlowError
from ..asgi import App, Message, Receive, Scope, Send


class BodyTimeout:
    """Middleware that limits the time of each part of a body."""

    def __init__(self, app: App, seconds: float) -> None:
        self._app, self._seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; there is no limit for messages after the body, such as a disconnect."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        more = True

        async def hurried() -> Message:
            nonlocal more
            if not more:
                return await receive()
            try:
                async with asyncio.timeout(self._seconds):
                    message = await receive()
            except TimeoutError:
                raise SlowError("the body came too slowly.", owner="request") from None
            more = message.get("more_body", False)
            return message

        await self._app(scope, hurried, send)
