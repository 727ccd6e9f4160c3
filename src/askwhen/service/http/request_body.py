"""Reads bodies of requests."""

from __future__ import annotations

from .authorization import AnyRequest, Authorization
from .problems import too_large


async def read(auth: Authorization, request: AnyRequest) -> bytes:
    """The whole body; refused where it is too large. Where the client has left, what had arrived by then."""
    most, found, more = auth.options.largest_body, b"", True
    while more:
        message = await request.receive()
        found += message.get("body", b"")  # type: ignore[operator]
        more = bool(message.get("more_body", False))
        if len(found) > most:
            raise too_large("the body", most)
    return found
