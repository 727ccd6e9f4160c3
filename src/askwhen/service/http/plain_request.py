"""A request with only what authorization needs, which the framework's request takes long to make."""

from __future__ import annotations

from typing import Any

from litestar import Request

from .asgi import Receive, Scope


class PlainRequest:
    """The headers of a request and the channel of its body.

    Attributes
    ----------
    headers : dict of str
        By names in lower case; of several headers with one name the first, as the framework has it.
    """

    __slots__ = ("headers", "receive", "scope")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.scope, self.receive = scope, receive
        listed = reversed(scope["headers"])
        self.headers: dict[str, str] = {name.decode("latin-1"): value.decode("latin-1") for name, value in listed}

    @property
    def cookies(self) -> dict[str, str]:
        """The cookies, as the framework reads them."""
        request: Request[Any, Any, Any] = Request(self.scope)
        return request.cookies
