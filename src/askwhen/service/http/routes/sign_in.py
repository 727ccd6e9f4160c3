"""Signing in: a token becomes a cookie."""

from __future__ import annotations

import msgspec
from litestar import Response, Router, delete, get, post

from ...errors import NoRolesError, NotSignedInError
from ..authorization import PROXIED, AnyRequest, authorization_of
from ..cookies import check_site, cookie_of, no_cookie, token_in

LARGEST = 4096
"""Largest body in bytes of a client that is not signed in yet."""


class Session(msgspec.Struct):
    """The user of a page. Where ``open``, no tokens are required, and annotators give their names themselves.

    Users who are ``proxied`` were signed in by a proxy, and sign out at the address ``leave``, if there is one;
    ``refused`` is why a user whom the proxy has signed in has no role here.
    """

    open: bool
    name: str | None = None
    roles: list[str] = []
    proxied: bool = False
    leave: str | None = None
    refused: str | None = None


class SignIn(msgspec.Struct, forbid_unknown_fields=True):
    """The token to sign in with."""

    token: str


async def session(request: AnyRequest) -> Session:
    """The session of a request; without a name, the user is not signed in."""
    auth = authorization_of(request)
    if auth.is_open:
        return Session(True, None, sorted(auth.identify(request).roles))
    try:
        holder = auth.identify(request)
    except NotSignedInError:
        return Session(False)
    except NoRolesError as error:
        return Session(False, refused=error.sentence)
    proxied = holder.token.startswith(PROXIED)
    leave = auth.options.proxy.sign_out or None if proxied and auth.options.proxy is not None else None
    return Session(False, holder.name, sorted(holder.roles), proxied, leave)


@get("/", include_in_schema=False)
async def who(request: AnyRequest) -> Session:
    """The current session."""
    return await session(request)


@post("/", include_in_schema=False, status_code=200, request_max_body_size=LARGEST)
async def signed_in(request: AnyRequest, data: SignIn) -> Response[Session]:
    """Store a token in the browser, if it is valid."""
    check_site(request)
    auth = authorization_of(request)
    secret = data.token.strip()
    holder = auth.coordinator.tokens.holder(secret, auth.coordinator.clock.now())
    session = Session(False, holder.name, sorted(holder.roles))
    return Response(session, cookies=[cookie_of(secret, request.url.scheme == "https", auth.options.root)])


@delete("/", include_in_schema=False, status_code=200)
async def signed_out(request: AnyRequest) -> Response[Session]:
    """Delete the cookie; the token itself stays valid."""
    check_site(request)
    if token_in(request):
        authorization_of(request).coordinator.check()
    auth = authorization_of(request)
    return Response(Session(auth.is_open), cookies=[no_cookie(request.url.scheme == "https", auth.options.root)])


router = Router("/session", route_handlers=[who, signed_in, signed_out])
