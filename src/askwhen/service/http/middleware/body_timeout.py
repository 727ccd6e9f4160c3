"""Bodies that come too slowly are cut off, whoever reads them."""

from __future__ import annotations

import asyncio
from typing import Any

from ...errors import SlowError


class BodyTimeout:
    """An ASGI application around another: no part of a body may take longer than so many seconds."""

    def __init__(self, app: Any, seconds: float) -> None:
        self._app, self._seconds = app, seconds

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass everything on; once the body is there, whoever waits for the client to leave may wait."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        more = True

        async def hurried() -> Any:
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
