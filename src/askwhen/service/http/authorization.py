"""Authorization of requests: tokens, roles, sign-in by a proxy, and rate limits."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Iterable
from typing import Any

from litestar import Request

from ..domain.sign_ins import PREFIX, SignIn
from ..domain.stream import ServiceStream, no_stream
from ..domain.tokens import ALL, ANYBODY, OPEN, Holder
from ..errors import NoRolesError, NotSignedInError, TooManyError
from ..runtime.coordinator import Coordinator
from .cookies import NAME, bearer_in, check_open, check_site, token_in
from .openid.provider import User
from .options import Options
from .proxy_auth import Proxy, header_value
from .role_table import RoleTable, is_name

AnyRequest = Request[Any, Any, Any]

PROXIED = "proxy:"
"""Prefix of the name that replaces a token's number, where a proxy has signed a user in."""

OPENID = "openid:"
"""The same, where an OpenID provider has."""

LONGEST_WAIT = 3600.0
HOLDER = "askwhen.holder"
"""The key of the ASGI scope where the holder is stored, once it is known."""


class RateLimiter:
    """Limits the rate of requests by one token bucket for each holder."""

    def __init__(self, rate: float) -> None:
        self._rate, self._capacity = rate, max(rate, 1.0)
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, who: str, now: float) -> None:
        """Count a request, or refuse it."""
        left, last = self._buckets.get(who, (self._capacity, now))
        left = min(self._capacity, left + (now - last) * self._rate)
        if left < 1.0:
            raise TooManyError(f"more than {self._rate:g} requests a second; wait a moment.", owner="request")
        self._buckets[who] = (left - 1.0, now)


class Authorization:
    """Finds out who sends a request, and checks whether they may do what it asks for."""

    def __init__(self, coordinator: Coordinator, options: Options) -> None:
        self.coordinator, self.options = coordinator, options
        self._limiter = RateLimiter(options.requests)

    @property
    def is_open(self) -> bool:
        """Whether all requests are allowed: until the first token is made, unless options require one."""
        options = self.options
        return not (options.tokens or options.proxy or options.openid or self.coordinator.tokens.required)

    def holder(self, request: AnyRequest, role: str | tuple[str, ...], stream: int | None = None) -> Holder:
        """The sender of a request; refused where they lack a role."""
        found = self.identify(request)
        found.check(role, stream)
        return found

    def identify(self, request: AnyRequest) -> Holder:
        """The sender of a request, whatever their roles; each request is checked and counted once."""
        scope: Any = request.scope
        if HOLDER not in scope:
            scope[HOLDER] = self._admit(request)
        found: Holder = scope[HOLDER]
        return found

    def _admit(self, request: AnyRequest) -> Holder:
        coordinator = self.coordinator
        coordinator.check()
        now = coordinator.clock.now()
        if self.is_open:
            check_open(request)
            self._limiter.take("", now)
            return OPEN
        found = self._known(request, now)
        self._limiter.take(found.token, now)
        return found

    def count(self, holder: Holder) -> None:
        """Count a request that is not admitted in the usual way, or refuse it."""
        self._limiter.take(holder.token, self.coordinator.clock.now())

    def count_stranger(self) -> None:
        """Count a request of an unknown client, or refuse it: all of them together have one rate."""
        self._limiter.take("stranger:", self.coordinator.clock.now())

    def _known(self, request: AnyRequest, now: float) -> Holder:
        """The sender of a request, by a token in its header, a trusted proxy, or the cookie of a browser."""
        bearer = bearer_in(request)
        if bearer:
            return self.coordinator.tokens.holder(bearer, now)
        proxy, hint = self.options.proxy, ""
        if proxy is not None:
            user = header_value(request.scope["headers"], proxy.user)
            if user and proxy.trusts(request.scope.get("client")):
                check_site(request)
                return self._proxied(request, proxy, user)
            hint = "; its user header does not come from a trusted address." if user else ""
        found = self.sign_in(request, now)
        if found is not None:
            return self._signed_in(found, now)
        secret = token_in(request)  # a cookie of an earlier version
        if not secret:
            raise NotSignedInError(f"a token is needed: Authorization: Bearer ...{hint}", owner="token")
        return self.coordinator.tokens.holder(secret, now)

    def sign_in(self, request: AnyRequest, now: float) -> SignIn | None:
        """The sign-in of a browser, by its cookie; None where there is none, or where a header has a token."""
        if bearer_in(request):
            return None
        secret = request.cookies.get(NAME, "")
        if not secret.startswith(PREFIX):
            return None
        check_site(request)
        return self.coordinator.sign_ins.of_secret(secret, now)

    def _signed_in(self, found: SignIn, now: float) -> Holder:
        """The user whom the OpenID provider gave, or the holder of the token by which a browser was signed in."""
        if found.facts.way == "openid":
            openid = self.options.openid
            if openid is None:
                raise NotSignedInError("the service has no OpenID provider any more; sign in again.", owner="token")
            return self._granted(OPENID, found.name, found.facts.groups, openid.roles, found.facts.expires)
        holder = self.coordinator.tokens.find(found.facts.token)
        if holder.has_expired(now):
            raise NotSignedInError("the token has expired.", owner="token")
        return holder._replace(expires=found.facts.expires)

    def _proxied(self, request: AnyRequest, proxy: Proxy, user: str) -> Holder:
        """A user whom a trusted proxy has signed in."""
        if not is_name(user):
            raise NotSignedInError(f"the proxy gives a name that is not valid: {user[:100]!r}.", owner="proxy")
        groups = header_value(request.scope["headers"], proxy.groups) if proxy.groups else ""
        return self._granted(PROXIED, user, (each.strip(" \t") for each in groups.split(",")), proxy.roles, None)

    def _granted(self, kind: str, user: str, groups: Iterable[str], roles: RoleTable, expires: float | None) -> Holder:
        """A user who was signed in by a proxy or a provider, with the roles of the configuration file."""
        grant = roles.grant(user, groups)
        if grant is None:
            raise NoRolesError(
                f"{user} is signed in and has no role here; an admin gives one with a line of [roles.users] in the "
                f'service\'s configuration file, such as "{user}" = {{roles = ["annotator"]}}.',
                owner="proxy" if kind == PROXIED else "openid",
            )
        streams = None
        if grant.streams is not None:
            known = self.coordinator.streams
            streams = frozenset(known[name].number for name in grant.streams if name in known)
        return Holder(kind + user, user, grant.roles, streams, expires)

    def check_user(self, user: User) -> None:
        """Refuse a user of the OpenID provider who has no role."""
        assert self.options.openid is not None
        self._granted(OPENID, user.name, user.groups, self.options.openid.roles, None)

    def is_still_allowed(self, request: AnyRequest, holder: Holder) -> bool:
        """Whether the sender of a long request is still allowed: their token was neither revoked nor has it expired."""
        if self.is_open:
            return True
        try:
            return self._known(request, self.coordinator.clock.now()) == holder
        except (NotSignedInError, NoRolesError):
            return False

    async def wait_until_lost(self, request: AnyRequest, holder: Holder) -> None:
        """Wait until the sender of a long request is not allowed any more."""
        changes = self.coordinator.tokens.changes
        changed = changes.subscribe(ALL)
        try:
            while self.is_still_allowed(request, holder):
                changed.clear()
                left = math.inf if holder.expires is None else holder.expires - self.coordinator.clock.now()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(min(max(left, 0.01), LONGEST_WAIT)):
                        await changed.wait()
        finally:
            changes.unsubscribe(ALL, changed)

    def stream(
        self, request: AnyRequest, name: str, role: str | tuple[str, ...] = ANYBODY
    ) -> tuple[ServiceStream, Holder]:
        """A stream, if the sender has a role for it. A token for other streams does not reveal whether it exists."""
        found = self.coordinator.streams.get(name)
        holder = self.holder(request, role, -1 if found is None else found.number)
        if found is not None and not is_given(found, holder):
            raise no_stream(name)
        return self.coordinator.stream(name), holder


def seen_by(auth: Authorization, holder: Holder) -> frozenset[int] | None:
    """The streams that the holder of a token may see; None for all."""
    given = [each.number for each in auth.coordinator.by_number.values() if is_given(each, holder)]
    if len(given) == len(auth.coordinator.by_number):
        return holder.streams
    return frozenset(given) if holder.streams is None else holder.streams.intersection(given)


def is_given(stream: ServiceStream, holder: Holder) -> bool:
    """Whether a stream is for a holder of a token for it: those who only annotate see the streams of their teams."""
    return bool(holder.roles - {"annotator"}) or stream.is_for(holder.name)


def authorization_of(request: AnyRequest) -> Authorization:
    """The authorization of the application that handles a request."""
    found: Authorization = request.app.state.auth
    return found
