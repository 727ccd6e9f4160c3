"""Writes a reply whose parts are all known in one piece, as an extension of ASGI.

uvicorn takes the head and the body of a reply one after the other, and checks every header against two expressions:
for a short reply that takes longer than to make it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from ..http.asgi import WHOLE_REPLY


def offer(cycle: Any) -> None:
    """Offer the extension to the application that handles a request of uvicorn."""
    cycle.scope["extensions"] = {WHOLE_REPLY: partial(_reply, cycle)}


def _reply(cycle: Any, status: int, headers: bytes, body: bytes) -> bool:
    """Send a reply as ``cycle.send`` would; False, and nothing is sent, where that has more to do than to write it.

    ``headers`` are lines that end as HTTP wants it, with the length of the body, and nothing in them needs a check.
    """
    if cycle.response_started or cycle.disconnected or cycle.flow.write_paused or not cycle.keep_alive:
        return False
    cycle.response_started = cycle.response_complete = True
    cycle.waiting_for_100_continue = False
    common = [b"%b: %b\r\n" % header for header in cycle.default_headers]
    cycle.transport.write(b"".join([STATUS_LINE[status], *common, headers, b"\r\n", body]))
    cycle.message_event.set()
    cycle.on_response()
    return True
