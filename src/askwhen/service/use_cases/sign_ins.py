"""Signs browsers in and out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from ..domain.sign_ins import SignIn, new_sign_in
from ..domain.tokens import Holder
from ..events.kinds import SignedOut
from ..runtime.coordinator import Coordinator

DAYS = 30.0
"""Days after which a sign-in by a token ends."""


async def by_token(coordinator: Coordinator, holder: Holder, browser: str) -> str:
    """Sign a browser in with a token; returns the secret for its cookie."""
    end = coordinator.clock.now() + 86400.0 * DAYS
    expires = end if holder.expires is None else min(end, holder.expires)
    return await _sign_in(coordinator, holder.name, "token", expires, browser, token=holder.token)


async def by_openid(coordinator: Coordinator, name: str, groups: Sequence[str], hours: float, browser: str) -> str:
    """Sign a browser in as a user whom an OpenID provider has identified."""
    return await _sign_in(coordinator, name, "openid", coordinator.clock.now() + 3600.0 * hours, browser, groups=groups)


async def _sign_in(
    coordinator: Coordinator,
    name: str,
    way: Literal["token", "openid"],
    expires: float,
    browser: str,
    token: str = "",
    groups: Sequence[str] = (),
) -> str:
    secret, fact = new_sign_in(name, way, expires, token, groups, browser)
    with coordinator.changing():
        event, done = coordinator.note("signed in", fact)
        coordinator.sign_ins.apply(fact, event.time)
    await asyncio.shield(done)
    return secret


async def end(coordinator: Coordinator, found: SignIn, by: str) -> None:
    """End a sign-in."""
    fact = SignedOut(found.number, by)
    with coordinator.changing():
        event, done = coordinator.note("signed out", fact)
        coordinator.sign_ins.apply(fact, event.time)
    await asyncio.shield(done)


def facts(found: SignIn) -> dict[str, Any]:
    """A sign-in as it is shown."""
    return {
        "sign_in": found.number,
        "name": found.name,
        "way": found.facts.way,
        "browser": found.facts.browser,
        "since": found.since,
        "expires": found.facts.expires,
        "seen": found.seen,
    }
