"""Checks of a request before its body is read: authorization and query parameters."""

from __future__ import annotations

import difflib
from functools import cache
from typing import Any, Literal, get_args, get_origin
from urllib.parse import parse_qsl

from litestar.handlers import BaseRouteHandler

from ..domain.tokens import ANYBODY
from ..errors import ServiceError
from .authorization import AnyRequest, authorization_of

ROLE = "role"
"""The option of a route with the role that it needs, or several of which one suffices; all that take a body have it."""

FREE_QUERY = "free query"
"""The option of a route to which another service sends parameters of its own."""

_RESERVED = frozenset(("request", "data", "scope", "state", "headers", "cookies", "query", "body", "socket"))
"""Arguments of a handler that are not query parameters."""


async def admit(request: Any, handler: BaseRouteHandler) -> None:
    """Refuse senders who may not send a body to a route, and parameters that it does not have."""
    role = handler.opt.get(ROLE)
    if role is not None:
        authorize(request, role)
    if request.scope["query_string"] and not handler.opt.get(FREE_QUERY):
        _check_query(request, handler)


def authorize(request: AnyRequest, role: str | tuple[str, ...]) -> None:
    """Refuse senders who lack a role, for the stream in the path or, where it has none, for all streams."""
    auth, name = authorization_of(request), request.path_params.get("name")
    if name is None and role == ANYBODY:
        auth.identify(request)
    elif name is None:
        auth.holder(request, role)
    else:
        auth.stream(request, name, role)


def _check_query(request: AnyRequest, handler: BaseRouteHandler) -> None:
    known, seen = _parameters(handler), set[str]()
    allowed = [name for name in known if name not in request.path_params]
    query = request.scope["query_string"].decode("latin-1")
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in allowed:
            raise _refusal(name, f"there is no query parameter {name[:50]!r}; {_hint(name, allowed)}.")
        if name in seen:
            raise _refusal(name, f"the query parameter {name} must be given once.")
        seen.add(name)
        choices = known[name]
        if choices and value not in choices:
            raise _refusal(name, f"{name} must be one of {', '.join(choices)}; got {value[:50]!r}.")


def _refusal(name: str, sentence: str) -> ServiceError:
    return ServiceError(sentence, owner="request", parameter=name[:50])


def _hint(name: str, allowed: list[str]) -> str:
    if not allowed:
        return "this address takes none"
    close = difflib.get_close_matches(name.lower(), allowed, 1)
    return f"the nearest is {close[0]}" if close else f"known are {', '.join(allowed)}"


@cache
def _parameters(handler: BaseRouteHandler) -> dict[str, tuple[str, ...]]:
    """The parameters of a handler, each with its allowed values where they are enumerated."""
    found = handler.parsed_fn_signature.parameters
    return {name: _choices(field.annotation) for name, field in found.items() if name not in _RESERVED}


def _choices(annotation: Any) -> tuple[str, ...]:
    return get_args(annotation) if get_origin(annotation) is Literal else ()
