"""Handles the two most frequent requests, an instance and an answer, without the framework's router.

They do what their routes do, with the same authorization and the same errors: the framework takes as long to find a
route and to fill its arguments as the service takes to answer.
"""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request

from ..asgi import Receive, Scope, Send
from ..authorization import AnyRequest, Authorization
from ..problems import MEDIA, replied
from ..request_body import read
from ..routes.instances import take
from ..routes.questions import take_answer
from ..schemas import Given
from ..streaming import JsonReply

_given = msgspec.json.Decoder(Given)
_encode = msgspec.json.Encoder().encode
_LONGEST_NUMBER = 15
INSTANCES = "/v1/streams/{name}/instances"
ANSWER = "/v1/streams/{name}/questions/{question}/answer"
"""The templates of the two routes, as the framework writes them."""


class FastPath:
    """Middleware around the framework's application."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the two requests; pass all others on."""
        parts = scope["path"].split("/") if scope["type"] == "http" and scope["method"] == "POST" else []
        auth: Authorization | None = getattr(self._app.state, "auth", None)
        if (
            auth is None
            or scope["query_string"]
            or parts[:3] != ["", "v1", "streams"]
            or not (_is_instance(parts) or _is_answer(parts))
        ):
            await self._app(scope, receive, send)
            return
        scope["path_template"] = INSTANCES if len(parts) == 5 else ANSWER
        request: AnyRequest = Request(scope, receive, send)
        try:
            if len(parts) == 5:
                reply = await take(auth, request, parts[3])
            else:
                auth.stream(request, parts[3], "annotator")  # before anything of the body is read
                given = _given.decode(await read(auth, request))
                reply = JsonReply(_encode(await take_answer(auth, request, parts[3], int(parts[5]), given)))
        except Exception as error:
            status, headers, body = replied(scope["path"], error)
            reply = JsonReply(body, status, MEDIA, **headers)
        await reply(scope, receive, send)


def _is_instance(parts: list[str]) -> bool:
    return len(parts) == 5 and parts[4] == "instances"


def _is_answer(parts: list[str]) -> bool:
    if len(parts) != 7 or parts[4] != "questions" or parts[6] != "answer":
        return False
    return parts[5].isascii() and parts[5].isdigit() and len(parts[5]) <= _LONGEST_NUMBER
