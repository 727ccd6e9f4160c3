"""Buffers a reply that the client has not read yet.

Most clients read nothing before they have sent everything. If the service waited for them, it would stop reading, and
both would wait for ever. So the reply is buffered, up to a limit, while more of the request is read.
"""

from __future__ import annotations

import asyncio
from collections import deque

from .asgi import Send

MOST = 256 << 20
"""Largest number of buffered bytes: the replies to more than a million lines."""

PIECE = 1 << 20
"""Bytes that a client must read within its time limit, or it is considered gone."""


class ResponseBuffer:
    """Sends parts in order, in a task of its own. A client that left, or reads nothing for long, gets no more."""

    def __init__(self, send: Send, patience: float) -> None:
        self._send, self._patience = send, patience
        self._parts: deque[bytes] = deque()
        self._size = 0
        self._changed = asyncio.Condition()
        self._ended = self._gone = False
        self._sending = asyncio.ensure_future(self._work())

    async def add(self, part: bytes) -> None:
        """Append a part; waits while too much is unread."""
        async with self._changed:
            if self._gone:
                return
            self._parts.append(part)
            self._size += len(part)
            self._changed.notify_all()
            await self._changed.wait_for(lambda: self._size <= MOST or self._gone)

    async def end(self, part: bytes) -> None:
        """Append the last part; waits until everything is sent or the client is gone."""
        await self.add(part)
        async with self._changed:
            self._ended = True
            self._changed.notify_all()
        await self._sending

    async def _work(self) -> None:
        while not self._gone:
            async with self._changed:
                await self._changed.wait_for(lambda: self._parts or self._ended)
                part = b"".join(self._parts)
                self._parts.clear()
                last = self._ended
            try:
                for first in range(0, len(part), PIECE):
                    await self._put_out(part[first : first + PIECE], True)
                if last:
                    await self._put_out(b"", False)
                    return
            except (OSError, TimeoutError):  # the instances that it sent are played all the same
                self._gone = True
            async with self._changed:
                self._size -= len(part)
                self._changed.notify_all()

    async def _put_out(self, part: bytes, more: bool) -> None:
        message = {"type": "http.response.body", "body": part, "more_body": more}
        await asyncio.wait_for(self._send(message), self._patience)
