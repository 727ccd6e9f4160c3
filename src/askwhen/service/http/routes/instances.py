"""Instances: one as JSON, or many as NDJSON, answered as a stream."""

from __future__ import annotations

import msgspec
from litestar import post
from litestar.types import ASGIApp

from ...use_cases import instances
from ...use_cases.instances import Raw
from ..authorization import Asked, Door, door_of
from ..ndjson import NDJSON, Lines
from ..request_body import read
from ..streaming import Reply

_raw = msgspec.json.Decoder(Raw)
_encode = msgspec.json.Encoder().encode
_NDJSON = (NDJSON, "application/jsonl", "application/ndjson")


@post("/v1/streams/{name:str}/instances", status_code=200, summary="Send instances")
async def played(request: Asked, name: str) -> ASGIApp:
    """What is predicted of each, and whether a question was opened.

    One as JSON; or many as NDJSON (application/x-ndjson), a line each, answered in order, a line each.
    """
    return await take(door_of(request), request, name)


async def take(door: Door, request: Asked, name: str) -> ASGIApp:
    """The reply to one instance or to many."""
    stream, _ = door.stream(request, name, "producer")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() in _NDJSON:
        return Lines(door.desk, stream, door.options)
    found = await instances.play(door.desk, stream, _raw.decode(await read(door, request)))
    return Reply(_encode(found))
