"""HTTP connections with limits on the number, the size and the time of headers.

uvicorn has no such limits: headers, also those after a chunked body, would fill the memory before any check of the
service is reached, and a request that never ends its headers would stay open for ever.
"""

from __future__ import annotations

import asyncio
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from .whole_replies import offer

MOST_HEADERS, LARGEST_HEAD, SECONDS = 100, 64 << 10, 20.0
"""Headers of a request, bytes of its first line and its headers, and seconds in which they must have come."""


class TooLargeHeadError(httptools.HttpParserError):
    """A request has too many headers, or they are too large."""


class LimitedHeaders(HttpToolsProtocol):
    """A connection of uvicorn, with limits."""

    seconds = SECONDS
    _timer: asyncio.TimerHandle | None = None
    _size = _count = _silent = 0
    _in_head = True

    def connection_made(self, transport: Any) -> None:
        """A client has connected and must send a request soon."""
        super().connection_made(transport)
        self._start()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what came. ``_silent`` counts the bytes that the parser has stored without reporting anything."""
        self._silent += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            self._stop()
        elif self._silent > LARGEST_HEAD:
            self._refuse(431, _TOO_LARGE)
        elif self._is_waiting():
            self._start()
        else:
            self._stop()

    def send_400_response(self, msg: str) -> None:
        """Answer what cannot be parsed."""
        if self._count > MOST_HEADERS or self._size > LARGEST_HEAD:
            self._refuse(431, _TOO_LARGE)
        else:
            super().send_400_response(msg)

    def on_message_begin(self) -> None:
        """Take the first byte of a request."""
        self._in_head, self._size, self._count = True, 1, 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Take a part of the address."""
        self._add(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those after a chunked body are counted, too, but not passed on."""
        self._count += 1
        self._add(len(name) + len(value))
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Take the end of the headers."""
        self._in_head, self._silent = False, 0
        super().on_headers_complete()
        if self.cycle is not None:
            offer(self.cycle)

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._silent = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Take the end of a request: the next one may begin."""
        self._in_head, self._size, self._silent = True, 0, 0
        super().on_message_complete()

    def _is_waiting(self) -> bool:
        """Whether headers have begun, or a body goes on after the reply to it."""
        if self._in_head:
            return self._size + self._silent > 0
        return self.cycle is None or self.cycle.response_complete

    def _add(self, size: int) -> None:
        self._size += size
        self._silent = 0
        if self._count > MOST_HEADERS or self._size > LARGEST_HEAD:
            raise TooLargeHeadError

    def _start(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(self.seconds, self._expired)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expired(self) -> None:
        """Close the connection, unless the reply to an earlier request is still being sent."""
        self._timer = None
        if self.cycle is not None and not self.cycle.response_complete:
            self._start()
        else:
            self._refuse(408, _TOO_SLOW)

    def _refuse(self, status: int, text: bytes) -> None:
        """Close the connection, with an answer where a request has begun and no other reply is being sent."""
        self._stop()
        if self.transport.is_closing():
            return
        if self._in_head and self._is_waiting() and (self.cycle is None or self.cycle.response_complete):
            size = str(len(text)).encode()
            self.transport.write(
                STATUS_LINE[status] + b"content-type: text/plain; charset=utf-8\r\ncontent-length: " + size
                + b"\r\nconnection: close\r\n\r\n" + text
            )  # fmt: skip
        self.transport.close()


_TOO_LARGE = f"The headers must be at most {MOST_HEADERS}, of at most {LARGEST_HEAD:,} bytes together.".encode()
_TOO_SLOW = f"The headers must come within {SECONDS:g} seconds.".encode()
