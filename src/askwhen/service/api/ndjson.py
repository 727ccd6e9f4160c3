"""Many instances in one request: lines are played as they arrive, and answered while more arrive.

A response of its own: that of the framework listens for a disconnect by the same channel that the body comes through,
and loses parts of it.
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from ...errors import AskwhenError
from ..desk import Desk
from ..errors import ServiceError
from ..stream import Stream
from ..uses import instances
from ..uses.instances import Raw
from .options import Options
from .problems import problem_of, too_large

NDJSON = "application/x-ndjson"
MOST_LINES = 1_000
"""That are played in one go: others get their turn in between."""

_raw = msgspec.json.Decoder(Raw)
_encode = msgspec.json.Encoder().encode


class BadLineError(ServiceError):
    """A line that is no instance."""

    status = 422


class Lines:
    """An ASGI application that answers one request."""

    def __init__(self, desk: Desk, stream: Stream, options: Options) -> None:
        self._desk, self._stream, self._options = desk, stream, options
        self._line = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Read, play, answer, until the body ends."""
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", NDJSON.encode())]})
        rest, more = b"", True
        while more:
            try:
                message = await asyncio.wait_for(receive(), self._options.slowest)
            except TimeoutError:
                await self._end(send, ServiceError("the body came too slowly.", owner="request"))
                return
            if message["type"] == "http.disconnect":
                return
            more = message.get("more_body", False)
            *lines, rest = (rest + message.get("body", b"")).split(b"\n")
            if not more and rest.strip():
                lines.append(rest)
            if len(rest) > self._options.largest_line:
                await self._end(send, too_large("a line", self._options.largest_line))
                return
            for first in range(0, len(lines), MOST_LINES):
                try:
                    await self._answer(lines[first : first + MOST_LINES], send)
                except AskwhenError as error:
                    await self._end(send, error)
                    return
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _answer(self, lines: list[bytes], send: Any) -> None:
        raws = [self._read(line) for line in lines if line.strip()]
        if not raws:
            return
        found = await instances.play_all(self._desk, self._stream, raws)
        said = []
        for each in found:
            self._line += 1
            said.append(_encode(self._refused(each) if isinstance(each, AskwhenError) else each))
        await send({"type": "http.response.body", "body": b"\n".join([*said, b""]), "more_body": True})

    def _read(self, line: bytes) -> Raw | AskwhenError:
        if len(line) > self._options.largest_line:
            return too_large("a line", self._options.largest_line)
        try:
            return _raw.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            problem = problem_of(error)
            return BadLineError(problem.detail.replace("the body", "the line"), owner="instance")

    def _refused(self, error: AskwhenError) -> dict[str, Any]:
        problem = problem_of(error)
        problem.line = self._line
        return {"error": problem}

    async def _end(self, send: Any, error: AskwhenError) -> None:
        """Say why the rest is not read; the status is sent already, so the last line says it."""
        body = _encode({"error": problem_of(error), "end": True}) + b"\n"
        await send({"type": "http.response.body", "body": body, "more_body": False})
