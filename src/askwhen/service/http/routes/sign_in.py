"""Signing in and out: a token, or a provider's word, becomes a sign-in whose secret is in a cookie."""

from __future__ import annotations

import contextlib

import msgspec
from litestar import Response, Router, delete, get, post

from ...domain.sign_ins import browser_of
from ...errors import NoRolesError, NotSignedInError
from ...use_cases import invitations, sign_ins, tokens
from ..authorization import PROXIED, AnyRequest, authorization_of
from ..cookies import check_site, cookie_of, no_cookie, token_in

LARGEST = 4096
"""Largest body in bytes of a client that is not signed in yet."""


class Session(msgspec.Struct):
    """The user of a page. Where ``open``, no tokens are required, and annotators give their names themselves.

    Users who are ``proxied`` were signed in by a proxy, and sign out at the address ``leave``, if there is one;
    ``refused`` is why a user whom the proxy or the OpenID provider has signed in has no role here, and ``openid`` the
    host of that provider.
    """

    open: bool
    name: str | None = None
    roles: list[str] = []
    proxied: bool = False
    leave: str | None = None
    refused: str | None = None
    openid: str | None = None


class SignIn(msgspec.Struct, forbid_unknown_fields=True):
    """The token to sign in with."""

    token: str


class Acceptance(msgspec.Struct, forbid_unknown_fields=True):
    """The secret of an invitation, from its link."""

    secret: str


class Accepted(msgspec.Struct):
    """The token that an invitation has given, with its secret."""

    name: str
    roles: list[str]
    streams: list[str] | None
    secret: str
    expires: float | None


async def session(request: AnyRequest) -> Session:
    """The session of a request; without a name, the user is not signed in."""
    auth = authorization_of(request)
    if auth.is_open:
        return Session(True, None, sorted(auth.identify(request).roles))
    openid = None if auth.options.openid is None else auth.options.openid.host
    try:
        holder = auth.identify(request)
    except NotSignedInError:
        return Session(False, openid=openid)
    except NoRolesError as error:
        return Session(False, refused=error.sentence, openid=openid)
    proxied = holder.token.startswith(PROXIED)
    leave = auth.options.proxy.sign_out or None if proxied and auth.options.proxy is not None else None
    return Session(False, holder.name, sorted(holder.roles), proxied, leave)


@get("/", include_in_schema=False)
async def who(request: AnyRequest) -> Session:
    """The current session."""
    return await session(request)


@post("/", include_in_schema=False, status_code=200, request_max_body_size=LARGEST)
async def signed_in(request: AnyRequest, data: SignIn) -> Response[Session]:
    """Sign the browser in, if the token is valid; a sign-in that it had before ends."""
    check_site(request)
    auth = authorization_of(request)
    coordinator = auth.coordinator
    coordinator.check()
    holder = coordinator.tokens.holder(data.token.strip(), coordinator.clock.now())
    auth.count(holder)
    await end_sign_in(request)
    secret = await sign_ins.by_token(coordinator, holder, browser_of(request.headers.get("user-agent", "")))
    session = Session(False, holder.name, sorted(holder.roles))
    return Response(session, cookies=[cookie_of(secret, request.url.scheme == "https", auth.options.root)])


@post("/invitation", include_in_schema=False, status_code=200, request_max_body_size=LARGEST)
async def accepted(request: AnyRequest, data: Acceptance) -> Response[Accepted]:
    """Accept an invitation: it makes a token, which is in this reply and nowhere else, and signs the browser in."""
    check_site(request)
    auth = authorization_of(request)
    coordinator = auth.coordinator
    coordinator.check()
    auth.count_stranger()
    secret, fact = await invitations.accept(coordinator, data.secret.strip())
    await end_sign_in(request)
    browser = browser_of(request.headers.get("user-agent", ""))
    own = await sign_ins.by_token(coordinator, coordinator.tokens.find(fact.token), browser)
    reply = Accepted(fact.name, fact.roles, tokens.names(coordinator, fact.streams), secret, fact.expires)
    return Response(reply, cookies=[cookie_of(own, request.url.scheme == "https", auth.options.root)])


async def end_sign_in(request: AnyRequest) -> None:
    """End the sign-in of the browser that sends a request, if it has one."""
    coordinator = authorization_of(request).coordinator
    with contextlib.suppress(NotSignedInError):
        found = authorization_of(request).sign_in(request, coordinator.clock.now())
        if found is not None:
            await sign_ins.end(coordinator, found, found.name)


@delete("/", include_in_schema=False, status_code=200)
async def signed_out(request: AnyRequest) -> Response[Session]:
    """End the sign-in and delete the cookie; the token stays valid."""
    check_site(request)
    auth = authorization_of(request)
    if token_in(request):
        auth.coordinator.check()
    await end_sign_in(request)
    return Response(Session(auth.is_open), cookies=[no_cookie(request.url.scheme == "https", auth.options.root)])


router = Router("/session", route_handlers=[who, signed_in, accepted, signed_out])
