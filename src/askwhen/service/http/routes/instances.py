"""Instances: one as JSON, or many as NDJSON, answered as a stream; and advice on those that were sent."""

from __future__ import annotations

import msgspec
from litestar import post
from litestar.types import ASGIApp

from ....errors import InputError
from ...use_cases import instances
from ...use_cases.advising import AdviceTaken, advise
from ...use_cases.instances import Raw
from ..authorization import AnyRequest, authorization_of
from ..ndjson import NdjsonReply, is_ndjson
from ..request_body import read
from ..request_checks import ROLE
from ..schemas import LateAdvice
from ..streaming import JsonReply

_raw = msgspec.json.Decoder(Raw)
_encode = msgspec.json.Encoder().encode


@post("/v1/streams/{name:str}/instances", status_code=200, summary="Send instances")
async def played(request: AnyRequest, name: str, backlog: bool | None = None) -> ASGIApp:
    """The prediction for each, and whether a question was opened.

    One as JSON; or many as NDJSON (application/x-ndjson), one on each line, with replies in the same order. With
    ``backlog`` they are stored at once and decided as fast as people answer, and the prediction is provisional; without
    it, the mode of the stream decides.
    """
    auth = authorization_of(request)
    stream, _ = auth.stream(request, name, "producer")
    if is_ndjson(request.headers.get("content-type", "")):
        return NdjsonReply(auth.coordinator, stream, auth.options, backlog)
    found = await instances.play(auth.coordinator, stream, _raw.decode(await read(auth, request)), backlog)
    return JsonReply(_encode(found))


@post("/v1/streams/{name:str}/advice", status_code=200, opt={ROLE: "producer"}, summary="Give advice on an instance")
async def advised(request: AnyRequest, name: str, data: LateAdvice) -> AdviceTaken:
    """What advisers say of an instance that was sent before.

    It is counted as long as the instance waits in the backlog. After the decision it is stored and shown, and never
    counted.
    """
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name, "producer")
    if data.round is not None and not 0 <= data.round <= 2**53:
        raise InputError.about("advice", "round", "a whole number from 0 to 2^53", data.round)
    return await advise(auth.coordinator, stream, holder.name, data.advice, data.id, data.round, data.key)
