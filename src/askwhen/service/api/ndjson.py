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
from .unread import Unread

NDJSON = "application/x-ndjson"
MOST_LINES = 1_000
"""That are played in one go: others get their turn in between."""

AHEAD = 4
"""So many batches are played while the first of them is committed."""

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
        """Read and play; answer beside it, since a commit takes as long as playing the next lines."""
        headers = [(b"content-type", NDJSON.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        queue: asyncio.Queue[Any] = asyncio.Queue(AHEAD)
        said = Unread(send, self._options.slowest)
        answering = asyncio.ensure_future(self._answer(queue, said))
        last: AskwhenError | None = None
        try:
            last = await self._play(receive, queue)
        finally:
            await queue.put(None)
            error = await answering
        last = error or last
        await said.end(b"" if last is None else _encode({"error": problem_of(last), "end": True}) + b"\n")

    async def _play(self, receive: Any, queue: asyncio.Queue[Any]) -> AskwhenError | None:
        """Read until the body ends; why, where it is not read to its end."""
        rest, more = b"", True
        while more:
            try:
                message = await asyncio.wait_for(receive(), self._options.slowest)
            except TimeoutError:
                return ServiceError("the body came too slowly.", owner="request")
            if message["type"] == "http.disconnect":
                return None
            more = message.get("more_body", False)
            *lines, rest = (rest + message.get("body", b"")).split(b"\n")
            if not more and rest.strip():
                lines.append(rest)
            if len(rest) > self._options.largest_line:
                return too_large("a line", self._options.largest_line)
            for first in range(0, len(lines), MOST_LINES):
                raws = [self._read(line) for line in lines[first : first + MOST_LINES] if line.strip()]
                if raws:
                    try:
                        await queue.put(await instances.begin(self._desk, self._stream, raws))
                    except AskwhenError as error:
                        return error
        return None

    async def _answer(self, queue: asyncio.Queue[Any], said: Unread) -> AskwhenError | None:
        """Send what was committed, in order, until the end of the queue; why, where something was not."""
        failed: AskwhenError | None = None
        while (played := await queue.get()) is not None:
            try:
                found = await played
            except AskwhenError as error:
                failed = failed or error
                continue
            lines = []
            for each in found:
                self._line += 1
                lines.append(_encode(self._refused(each) if isinstance(each, AskwhenError) else each))
            if failed is None:
                await said.add(b"\n".join([*lines, b""]))
        return failed

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
