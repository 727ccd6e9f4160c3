"""Errors as problem JSON (RFC 9457), made from their fields. The one place that maps errors to HTTP."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, SerializationException, ValidationException

from ...errors import AskwhenError, InputError, QuestionError
from ..errors import ServiceError, TooLargeError
from ..events.enum_errors import explained
from . import request_ids

MEDIA = "application/problem+json"
log = logging.getLogger("askwhen.service")


class Problem(msgspec.Struct, omit_defaults=True):
    """What went wrong: ``detail`` for people, the rest for programs; ``request`` is its name in the log."""

    title: str
    status: int
    detail: str
    type: str = "about:blank"
    owner: str | None = None
    parameter: str | None = None
    expected: str | None = None
    got: Any = None
    line: int | None = None
    request: str | None = None


def problem_of(error: BaseException, body: Any = None) -> Problem:
    """The problem of an error; an unexpected error gives no details. ``body`` is the type of the request's body."""
    if isinstance(error, AskwhenError):
        status = 422 if isinstance(error, InputError) else 409 if isinstance(error, QuestionError) else 500
        status = error.status if isinstance(error, ServiceError) else status
        got = error.got if isinstance(error.got, (str, int, float, bool, type(None))) else repr(error.got)[:200]
        return _problem(
            status,
            error.sentence,
            owner=error.owner or None,
            parameter=error.parameter,
            expected=error.expected,
            got=got,
        )
    if isinstance(error, HTTPException):
        if error.status_code >= 500:
            return _problem(500, "the service met an error that should not happen.")
        return _http_problem(error, body)
    if isinstance(error, RecursionError):
        return _problem(400, "the body is nested too deeply.")
    if isinstance(error, (UnicodeDecodeError, UnicodeEncodeError)):
        return _problem(400, "the body must be UTF-8.")
    if isinstance(error, msgspec.ValidationError):
        text = explained(str(error).replace("`$.data.", "`$."), body)
        return _problem(422, f"{_plain(text)}.")
    if isinstance(error, msgspec.DecodeError):
        return _problem(400, f"the body is not JSON: {_plain(str(error))}.")
    return _problem(500, "the service met an error that should not happen.")


def _problem(status: int, detail: str, **fields: Any) -> Problem:
    return Problem(HTTPStatus(status).phrase, status, detail.encode("utf-8", "replace").decode(), **fields)


def _http_problem(error: HTTPException, body: Any) -> Problem:
    cause = error.__cause__
    if isinstance(cause, SerializationException) and not isinstance(cause.__cause__, msgspec.ValidationError):
        cause = cause.__cause__
    if isinstance(cause, (msgspec.ValidationError, msgspec.DecodeError)):
        return problem_of(cause, body)
    text = _TEXTS.get(error.status_code, error.detail or HTTPStatus(error.status_code).phrase)
    if isinstance(error, ValidationException) and isinstance(error.extra, list):
        text = "; ".join(f"{each.get('key', 'the body')}: {each.get('message', '')}" for each in error.extra[:3])
    return _problem(error.status_code, f"{_plain(text).removesuffix('.')}.")


_TEXTS = {
    404: "there is nothing at this address",
    405: "this address takes other methods than this one",
    413: "the body is too large",
}
"""For these, the framework does not give a sentence."""


def _plain(text: str) -> str:
    """A library's message about a body, without its notation for paths."""
    text = text.replace("JSON is malformed: ", "").replace("Input data was truncated", "it ends too early")
    text = text.replace("$.data.", "").replace("$.", "").replace("`$`", "the body").replace("$[", "[")
    return text[:1].lower() + text[1:]


def replied(path: str, error: BaseException, body: Any = None) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of the response to an error. Details of unexpected errors are only logged."""
    problem = problem_of(error, body)
    problem.request = request_ids.present.get()
    if problem.status >= 500 and not isinstance(error, ServiceError):
        log.error("an error that should not happen", exc_info=error, extra={"facts": {"path": path}})
    headers = {"WWW-Authenticate": "Bearer"} if problem.status == 401 else {}
    if problem.status in (429, 503):
        headers["Retry-After"] = "1"
    headers |= dict(getattr(error, "headers", None) or {})
    return problem.status, headers, msgspec.json.encode(problem)


def answered(request: Request[Any, Any, Any], error: BaseException) -> Response[bytes]:
    """The response to an error, as an exception handler of the framework."""
    handler: Any = request.scope.get("route_handler")
    field = None if handler is None else handler.parsed_fn_signature.parameters.get("data")
    status, headers, body = replied(request.url.path, error, None if field is None else field.annotation)
    return Response(body, media_type=MEDIA, status_code=status, headers=headers)


def too_large(what: str, most: int) -> TooLargeError:
    """The error about something that is too large."""
    return TooLargeError(f"{what} must be at most {most:,} bytes.", owner="request")
