"""Handles the two most frequent requests, an instance and an answer, without the framework and its layers.

They do what their routes do, with the same authorization and the same errors: the framework takes as long to find a
route and to fill its arguments as the service takes to answer, and what the other middleware does for a reply of any
kind is done here once, for a reply in one part.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from ...use_cases import instances
from ...use_cases.instances import Raw
from ..asgi import WHOLE_REPLY, App, Receive, Scope, Send
from ..authorization import AnyRequest, Authorization
from ..ndjson import is_ndjson
from ..plain_request import PlainRequest
from ..problems import MEDIA, replied
from ..request_body import read_in_time
from ..routes.questions import take_answer
from ..schemas import Given
from . import security_headers
from .request_metrics import RequestRecorder

_given, _raw = msgspec.json.Decoder(Given), msgspec.json.Decoder(Raw)
_encode = msgspec.json.Encoder().encode
_LONGEST_NUMBER = 15
INSTANCES = "/v1/streams/{name}/instances"
ANSWER = "/v1/streams/{name}/questions/{question}/answer"
"""The templates of the two routes, as the framework writes them."""

_JSON = (b"content-type", b"application/json")
_HEAD = b"content-type: application/json\r\ncontent-length: %d\r\n" + security_headers.LINES + b"%b: %b\r\n"
_NOTHING: dict[str, Any] = {}


class FastPath:
    """An application that handles the two requests itself, and passes all others on.

    Parameters
    ----------
    app : App
        Handles all others, with layers that record requests, add headers and limit the time of bodies.
    state : State
        The framework's state of the application, which has the authorization once the service has started.
    recorder : RequestRecorder
        Gives each request an id and records it.
    slowest : float
        Seconds in which each part of a body must come.
    """

    def __init__(self, app: App, state: Any, recorder: RequestRecorder, slowest: float) -> None:
        self._app, self._state, self._recorder, self._slowest = app, state, recorder, slowest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the two requests; pass all others on."""
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        parts: list[str] = scope["path"].split("/") if is_post else []
        auth: Authorization | None = getattr(self._state, "auth", None) if len(parts) in (5, 7) else None
        if (
            auth is None
            or scope["query_string"]
            or parts[:3] != ["", "v1", "streams"]
            or not (_is_instance(parts) or _is_answer(parts))
        ):
            await self._app(scope, receive, send)
            return
        request = PlainRequest(scope, receive)
        if len(parts) == 5 and is_ndjson(request.headers.get("content-type", "")):
            await self._app(scope, receive, send)
            return
        scope["path_template"] = INSTANCES if len(parts) == 5 else ANSWER
        watched = self._recorder.begin(scope)
        try:
            status, headers, body = await self._reply(auth, cast(AnyRequest, request), parts)
            watched.replied(status)
            whole = scope.get("extensions", _NOTHING).get(WHOLE_REPLY)
            if status == 200 and whole is not None and whole(200, _HEAD % (len(body), *watched.header), body):
                return
            size = (b"content-length", b"%d" % len(body))
            listed = [headers[0], size, *headers[1:], *security_headers.HEADERS, watched.header]
            await send({"type": "http.response.start", "status": status, "headers": listed})
            await send({"type": "http.response.body", "body": body, "more_body": False})
        except BaseException:
            watched.failed()
            raise
        finally:
            watched.end()

    async def _reply(
        self, auth: Authorization, request: AnyRequest, parts: list[str]
    ) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        """Status, headers and body of the reply."""
        try:
            if len(parts) == 5:
                stream, _ = auth.stream(request, parts[3], "producer")
                raw = _raw.decode(await read_in_time(auth, request, self._slowest))
                found: Any = await instances.play(auth.coordinator, stream, raw)
            else:
                auth.stream(request, parts[3], "annotator")  # before anything of the body is read
                given = _given.decode(await read_in_time(auth, request, self._slowest))
                found = await take_answer(auth, request, parts[3], int(parts[5]), given)
            return 200, [_JSON], _encode(found)
        except Exception as error:
            status, headers, body = replied(request.scope["path"], error)
            listed = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
            return status, [(b"content-type", MEDIA.encode()), *listed], body


def _is_instance(parts: list[str]) -> bool:
    return len(parts) == 5 and parts[4] == "instances"


def _is_answer(parts: list[str]) -> bool:
    if len(parts) != 7 or parts[4] != "questions" or parts[6] != "answer":
        return False
    return parts[5].isascii() and parts[5].isdigit() and len(parts[5]) <= _LONGEST_NUMBER
