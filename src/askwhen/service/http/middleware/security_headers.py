"""Headers that protect browsers, on every reply."""

from __future__ import annotations

from ..asgi import App, Message, Receive, Scope, Send

HEADERS = (
    (b"content-security-policy", b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
)
"""A page that needs scripts or styles sends its own policy instead of this one."""

LINES = b"".join(b"%b: %b\r\n" % header for header in HEADERS)
"""The same as they are sent."""


class SecurityHeaders:
    """Middleware that adds the headers that a reply lacks."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""

        async def added(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                present = {name.lower() for name, _ in headers}
                message["headers"] = [*headers, *(each for each in HEADERS if each[0] not in present)]
            await send(message)

        await self._app(scope, receive, added if scope["type"] == "http" else send)
