"""Instances: one as JSON, or many as NDJSON, answered as a stream."""

from __future__ import annotations

import msgspec
from litestar import post
from litestar.types import ASGIApp

from ...use_cases import instances
from ...use_cases.instances import Raw
from ..authorization import AnyRequest, Authorization, authorization_of
from ..ndjson import NDJSON, NdjsonReply
from ..request_body import read
from ..streaming import JsonReply

_raw = msgspec.json.Decoder(Raw)
_encode = msgspec.json.Encoder().encode
_NDJSON = (NDJSON, "application/jsonl", "application/ndjson")


@post("/v1/streams/{name:str}/instances", status_code=200, summary="Send instances")
async def played(request: AnyRequest, name: str, backlog: bool | None = None) -> ASGIApp:
    """The prediction for each, and whether a question was opened.

    One as JSON; or many as NDJSON (application/x-ndjson), one on each line, with replies in the same order. With
    ``backlog`` they are stored at once and decided as fast as people answer, and the prediction is provisional; without
    it, the mode of the stream decides.
    """
    return await take(authorization_of(request), request, name, backlog)


async def take(auth: Authorization, request: AnyRequest, name: str, backlog: bool | None = None) -> ASGIApp:
    """The reply to one instance or to many."""
    stream, _ = auth.stream(request, name, "producer")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() in _NDJSON:
        return NdjsonReply(auth.coordinator, stream, auth.options, backlog)
    found = await instances.play(auth.coordinator, stream, _raw.decode(await read(auth, request)), backlog)
    return JsonReply(_encode(found))
