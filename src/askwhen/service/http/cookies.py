"""Tokens in headers and cookies, and the refusal of requests that other sites send."""

from __future__ import annotations

import base64
import contextlib
import ipaddress
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from litestar import Request
from litestar.datastructures import Cookie

from ..domain.tokens import PREFIX
from ..errors import NotAllowedError

NAME = "askwhen"
AGE = 30 * 86400
"""Seconds after which a browser deletes the cookie."""

AnyRequest = Request[Any, Any, Any]


def bearer_in(request: AnyRequest) -> str:
    """The token in the Authorization header; empty where there is none.

    Programs that only support user names and passwords send it as the password.
    """
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "basic":
        found = _password(secret)
        if found:
            check_site(request)  # browsers send stored passwords without asking
        return found
    return secret.strip() if kind.lower() == "bearer" else ""


def token_in(request: AnyRequest) -> str:
    """The token that a request carries: in its header, or from our own pages in a cookie; empty where there is none."""
    given = bearer_in(request)
    if given:
        return given  # a password for a proxy in front is ignored, and the cookie counts
    found = request.cookies.get(NAME, "")
    if found:
        check_site(request)
    return found


def _password(given: str) -> str:
    """A token in a password; any other password is for a proxy in front."""
    with contextlib.suppress(ValueError):
        found = base64.b64decode(given.strip(), validate=True).decode().partition(":")[2]
        return found if found.startswith(PREFIX) else ""
    return ""


def check_site(request: AnyRequest) -> None:
    """Refuse what a browser sends on behalf of another site (cross-site request forgery)."""
    headers = request.headers
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        fine = site in ("same-origin", "none")
    else:
        fine = origin is None or urlsplit(origin).netloc == headers.get("host")
    if not fine:
        raise NotAllowedError("requests from other sites are refused.", owner="request")


def check_open(request: AnyRequest) -> None:
    """Where no tokens are required, refuse other sites, and host names that could be DNS rebinding."""
    check_site(request)
    _check_host(request.headers.get("host", "localhost"))


@lru_cache(100)
def _check_host(given: str) -> None:
    """Refuse a host that is not this machine; nothing is remembered of a refusal."""
    host = urlsplit(f"//{given}").hostname or ""
    if host != "localhost" and not host.endswith(".localhost") and not _is_loopback(host):
        raise NotAllowedError(
            f"without tokens the service answers to localhost only, not {host[:100]}.", owner="request"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def cookie_of(secret: str, secure: bool, root: str) -> Cookie:
    """The cookie that holds a token, for a service at this path."""
    return Cookie(
        key=NAME, value=secret, max_age=AGE, path=root or "/", secure=secure, httponly=True, samesite="strict"
    )


def no_cookie(secure: bool, root: str) -> Cookie:
    """The cookie that deletes it."""
    return Cookie(key=NAME, value="", max_age=0, path=root or "/", secure=secure, httponly=True, samesite="strict")
