"""Reads bodies of requests."""

from __future__ import annotations

import asyncio

from ..errors import SlowError
from .asgi import Message, Receive
from .authorization import AnyRequest, Authorization
from .problems import too_large


async def read(auth: Authorization, request: AnyRequest) -> bytes:
    """The whole body; refused where it is too large. Where the client has left, what had arrived by then."""
    return await _read(auth.options.largest_body, request.receive, None)


async def read_in_time(auth: Authorization, request: AnyRequest, seconds: float) -> bytes:
    """The same; refused where a part of the body takes longer than so many seconds.

    Most bodies have come with their headers; only for others there is a timer.
    """
    first = _there(request.receive)
    receive = in_time(request.receive, seconds) if first is None or first.get("more_body") else request.receive
    return await _read(auth.options.largest_body, receive, first)


def _there(receive: Receive) -> Message | None:
    """The next message, if it has come already; nothing is taken from the channel otherwise."""
    receiving = receive().__await__()
    try:
        next(receiving)
    except StopIteration as done:
        return done.value
    receiving.close()
    return None


async def _read(most: int, receive: Receive, message: Message | None) -> bytes:
    found, more = b"", True
    while more:
        message = message or await receive()
        found += message.get("body", b"")
        more, message = bool(message.get("more_body", False)), None
        if len(found) > most:
            raise too_large("the body", most)
    return found


def in_time(receive: Receive, seconds: float) -> Receive:
    """The same channel with a time limit for each part of a body, and none for what follows, such as a disconnect."""
    more = True

    async def hurried() -> Message:
        nonlocal more
        if not more:
            return await receive()
        try:
            async with asyncio.timeout(seconds):
                message = await receive()
        except TimeoutError:
            raise SlowError("the body came too slowly.", owner="request") from None
        more = message.get("more_body", False)
        return message

    return hurried
