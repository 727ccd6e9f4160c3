"""The token of a browser, in a cookie that scripts cannot read; and the refusal of what other sites send."""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import urlsplit

from litestar import Request
from litestar.datastructures import Cookie

from ..errors import NotAllowedError

NAME = "askwhen"
AGE = 30 * 86400
"""Seconds after which a browser forgets a token."""

Asked = Request[Any, Any, Any]


def token_in(request: Asked) -> str:
    """The token that a request carries: in its header, or from our own pages in a cookie; empty where there is none."""
    given = request.headers.get("authorization")
    if given is not None:
        kind, _, secret = given.partition(" ")
        return secret.strip() if kind.lower() == "bearer" else ""
    found = request.cookies.get(NAME, "")
    if found:
        check_site(request)
    return found


def check_site(request: Asked) -> None:
    """Refuse what a browser sends on behalf of another site: it would act in somebody's name."""
    headers = request.headers
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        fine = site in ("same-origin", "none")
    else:
        fine = origin is None or urlsplit(origin).netloc == headers.get("host")
    if not fine:
        raise NotAllowedError("requests from other sites are refused.", owner="request")


def check_open(request: Asked) -> None:
    """Where no tokens are asked for, refuse other sites too, and names of this machine that others could have made."""
    check_site(request)
    host = urlsplit(f"//{request.headers.get('host', 'localhost')}").hostname or ""
    if host != "localhost" and not host.endswith(".localhost") and not _is_loopback(host):
        raise NotAllowedError(
            f"without tokens the service answers to localhost only, not {host[:100]}.", owner="request"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def cookie_of(secret: str, secure: bool) -> Cookie:
    """The cookie that keeps a token."""
    return Cookie(key=NAME, value=secret, max_age=AGE, path="/", secure=secure, httponly=True, samesite="strict")


def no_cookie(secure: bool) -> Cookie:
    """The cookie that takes it back."""
    return Cookie(key=NAME, value="", max_age=0, path="/", secure=secure, httponly=True, samesite="strict")
