"""Many instances in one request: lines are played as they arrive, and answered while more arrive.

This does not use the framework's streaming response, which listens for a disconnect on the channel of the body and
loses parts of it.
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from ...errors import AskwhenError
from ..domain.stream import ServiceStream
from ..errors import ServiceError, SlowError, StoppingError
from ..runtime.coordinator import Coordinator
from ..use_cases import instances
from ..use_cases.instances import Raw
from .asgi import Message, Receive, Scope, Send
from .options import Options
from .problems import problem_of, too_large
from .response_buffer import ResponseBuffer

NDJSON = "application/x-ndjson"
_NAMES = (NDJSON, "application/jsonl", "application/ndjson")
MOST_LINES = 1_000
"""Lines that are played without a pause; other requests run in between."""

AHEAD = 4
"""Batches that are played while the first of them is committed."""

LAST_SECONDS = 2.5
"""Seconds that a body may still take once the service is asked to stop."""

_BOM = b"\xef\xbb\xbf"
_raw = msgspec.json.Decoder(Raw)
_encoder = msgspec.json.Encoder()


def is_ndjson(content_type: str) -> bool:
    """Whether a header says that a body has many instances."""
    return content_type.partition(";")[0].strip().lower() in _NAMES


class BadLineError(ServiceError):
    """A line that is not a valid instance."""

    status = 422


class NdjsonReply:
    """An ASGI application that answers one request; ``backlog`` says whether the instances wait for their decision."""

    def __init__(
        self, coordinator: Coordinator, stream: ServiceStream, options: Options, backlog: bool | None = None
    ) -> None:
        self._coordinator, self._stream, self._options = coordinator, stream, options
        self._backlog = backlog

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read and play lines; a second task answers, since a commit takes as long as playing the next lines."""
        headers = [(b"content-type", NDJSON.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        queue: asyncio.Queue[Any] = asyncio.Queue(AHEAD)
        reply = ResponseBuffer(send, self._options.slowest)
        answering = asyncio.ensure_future(self._answer(queue, reply))
        last: AskwhenError | None = None
        stopping = asyncio.ensure_future(self._stopped())
        try:
            last = await self._play(_until(stopping, receive), queue)
        finally:
            stopping.cancel()
            await queue.put(None)
            error = await answering
        last = error or last
        await reply.end(b"" if last is None else _encoder.encode_lines([{"error": problem_of(last), "end": True}]))

    async def _stopped(self) -> None:
        """Wait until the service stops, and a while longer, in which most bodies end."""
        await self._coordinator.stopping.wait()
        await asyncio.sleep(LAST_SECONDS)

    async def _play(self, receive: Receive, queue: asyncio.Queue[Any]) -> AskwhenError | None:
        """Read and play until the body ends; returns why, where it is not read to its end."""
        rest, more, read = b"", True, 0
        while more:
            try:
                message = await receive()
            except (SlowError, StoppingError) as error:
                return error
            if message["type"] == "http.disconnect":
                return None
            more = message.get("more_body", False)
            *lines, rest = (rest + message.get("body", b"")).split(b"\n")
            if not more and rest.strip():
                lines.append(rest)
            if len(rest) > self._options.largest_line:
                return too_large("a line", self._options.largest_line)
            if read == 0 and lines:
                lines[0] = lines[0].removeprefix(_BOM)
            for first in range(0, len(lines), MOST_LINES):
                some = lines[first : first + MOST_LINES]
                part = [(number, line) for number, line in enumerate(some, read + 1) if line.strip()]
                read += len(some)
                if part:
                    try:
                        played = await instances.begin(
                            self._coordinator, self._stream, [self._read(line) for _, line in part], self._backlog
                        )
                    except AskwhenError as error:
                        return error
                    await queue.put((played, [number for number, _ in part]))
        return None

    async def _answer(self, queue: asyncio.Queue[Any], reply: ResponseBuffer) -> AskwhenError | None:
        """Send decisions after their commit, in order; returns the error where a commit failed."""
        failed: AskwhenError | None = None
        while (item := await queue.get()) is not None:
            played, numbers = item
            try:
                found = await played
            except AskwhenError as error:
                failed = failed or error
                continue
            lines = [
                _refused(each, number) if isinstance(each, AskwhenError) else each
                for each, number in zip(found, numbers, strict=True)
            ]
            if failed is None:
                await reply.add(_encoder.encode_lines(lines))
        return failed

    def _read(self, line: bytes) -> Raw | AskwhenError:
        if len(line) > self._options.largest_line:
            return too_large("a line", self._options.largest_line)
        try:
            return _raw.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            problem = problem_of(error)
            return BadLineError(problem.detail.replace("the body", "the line"), owner="instance")


def _until(stopping: asyncio.Future[None], receive: Receive) -> Receive:
    """A ``receive`` that raises an error once the service stops, however long the body would go on."""

    async def received() -> Message:
        getting = asyncio.ensure_future(receive())
        await asyncio.wait({getting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not stopping.done():
            return getting.result()
        getting.cancel()
        raise StoppingError("the service is stopping; send the lines without a reply when it is back.", owner="serve")

    return received


def _refused(error: AskwhenError, line: int) -> dict[str, Any]:
    problem = problem_of(error)
    problem.line = line
    return {"error": problem}
