"""Who comes in: tokens, roles, and how often."""

from __future__ import annotations

import asyncio
import contextlib
import math
from typing import Any

from litestar import Request

from ..domain.stream import Stream
from ..domain.tokens import ALL, ANYBODY, OPEN, Holder
from ..errors import NoRolesError, NotSignedInError, TooManyError
from ..runtime.coordinator import Coordinator
from .cookies import bearer_in, check_open, check_site, token_in
from .options import Options
from .proxy_auth import Proxy, is_name, said

AnyRequest = Request[Any, Any, Any]

PROXIED = "proxy:"
"""What stands before a name in place of a token's number, where a proxy has signed somebody in."""

LONGEST_WAIT = 3600.0
HOLDER = "askwhen.holder"
"""Where a request has who sends it, once that is known."""


class RateLimiter:
    """A bucket for each token that fills with time and empties with requests."""

    def __init__(self, rate: float) -> None:
        self._rate, self._room = rate, max(rate, 1.0)
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, who: str, now: float) -> None:
        """Count a request, or refuse it."""
        left, last = self._buckets.get(who, (self._room, now))
        left = min(self._room, left + (now - last) * self._rate)
        if left < 1.0:
            raise TooManyError(f"more than {self._rate:g} requests a second; wait a moment.", owner="request")
        self._buckets[who] = (left - 1.0, now)


class Authorization:
    """Lets requests in."""

    def __init__(self, coordinator: Coordinator, options: Options) -> None:
        self.coordinator, self.options = coordinator, options
        self._limiter = RateLimiter(options.requests)

    @property
    def is_open(self) -> bool:
        """Whether everybody may do everything: until the first token is made, where that is allowed."""
        return not (self.options.tokens or self.options.proxy or self.coordinator.tokens.required)

    def holder(self, request: AnyRequest, role: str, stream: int | None = None) -> Holder:
        """Who sends a request, if they may do this."""
        found = self.identify(request)
        found.check(role, stream)
        return found

    def identify(self, request: AnyRequest) -> Holder:
        """Who sends a request, whatever they may do; a request is looked at and counted once."""
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

    def _known(self, request: AnyRequest, now: float) -> Holder:
        """Who sends a request, by a token in its header, by what a proxy says, or by the token of a browser."""
        proxy, hint = self.options.proxy, ""
        if proxy is not None and not bearer_in(request):
            user = said(request.scope["headers"], proxy.user)
            if user and proxy.trusts(request.scope.get("client")):
                check_site(request)
                return self._proxied(request, proxy, user)
            hint = "; what it says of its user does not come from a trusted address." if user else ""
        secret = token_in(request)
        if not secret:
            raise NotSignedInError(f"a token is needed: Authorization: Bearer ...{hint}", owner="token")
        return self.coordinator.tokens.holder(secret, now)

    def _proxied(self, request: AnyRequest, proxy: Proxy, user: str) -> Holder:
        """Somebody whom a trusted proxy has signed in."""
        if not is_name(user):
            raise NotSignedInError(f"the proxy gives a name that can be nobody's: {user[:100]!r}.", owner="proxy")
        groups = said(request.scope["headers"], proxy.groups) if proxy.groups else ""
        grant = proxy.grant(user, (each.strip(" \t") for each in groups.split(",")))
        if grant is None:
            raise NoRolesError(
                f"{user} is signed in and has no role here; an admin gives one with a line of [roles.users] in the "
                f'service\'s file of options, such as "{user}" = {{roles = ["annotator"]}}.',
                owner="proxy",
            )
        streams = None
        if grant.streams is not None:
            known = self.coordinator.streams
            streams = frozenset(known[name].number for name in grant.streams if name in known)
        return Holder(PROXIED + user, user, grant.roles, streams, None)

    def is_still_allowed(self, request: AnyRequest, holder: Holder) -> bool:
        """Whether somebody who came in may stay: no token is needed, or it was neither revoked nor has it expired."""
        if self.is_open:
            return True
        try:
            return self._known(request, self.coordinator.clock.now()) == holder
        except (NotSignedInError, NoRolesError):
            return False

    async def wait_until_lost(self, request: AnyRequest, holder: Holder) -> None:
        """Wait until somebody who came in may stay no longer."""
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

    def stream(self, request: AnyRequest, name: str, role: str = ANYBODY) -> tuple[Stream, Holder]:
        """A stream for whoever may do this to it; where a token is not for it, nobody learns whether it is there."""
        found = self.coordinator.streams.get(name)
        holder = self.holder(request, role, -1 if found is None else found.number)
        return self.coordinator.stream(name), holder


def authorization_of(request: AnyRequest) -> Authorization:
    """The door of the service that a request came to."""
    found: Authorization = request.app.state.auth
    return found
