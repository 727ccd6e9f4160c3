"""One's own page: tokens, signed-in browsers, answers."""

from __future__ import annotations

import contextlib
from typing import Any

from litestar import Router, delete, get

from ...errors import NotSignedInError
from ...use_cases import own_page
from ..authorization import AnyRequest, authorization_of
from ..schemas import OwnAnswers, OwnFacts, SignInFacts, TokenFacts


@get("/", summary="Show who asks")
async def shown(request: AnyRequest) -> OwnFacts:
    """Name, roles, tokens without their secrets, signed-in browsers, and counts of answers."""
    auth = authorization_of(request)
    holder = auth.identify(request)
    here = None
    with contextlib.suppress(NotSignedInError):  # a user whom a proxy signs in may have an old cookie, too
        present = auth.sign_in(request, auth.coordinator.clock.now())
        here = None if present is None else present.number
    found: dict[str, Any] = await own_page.facts(auth.coordinator, holder, here)
    return OwnFacts(
        found["name"],
        found["roles"],
        found["streams"],
        [TokenFacts(**each) for each in found["tokens"]],
        [SignInFacts(**each) for each in found["sign_ins"]],
        [OwnAnswers(**each) for each in found["answers"]],
        found["groups"],
        found["away"],
    )


@delete("/tokens/{token:str}", summary="Revoke one's own token")
async def revoked(request: AnyRequest, token: str) -> None:
    """A token of the same name, at once."""
    auth = authorization_of(request)
    await own_page.revoke(auth.coordinator, auth.identify(request), token)


@delete("/sign-ins/{sign_in:str}", summary="End one's own sign-in")
async def ended(request: AnyRequest, sign_in: str) -> None:
    """In this browser or another one."""
    auth = authorization_of(request)
    await own_page.end(auth.coordinator, auth.identify(request), sign_in)


router = Router("/v1/me", route_handlers=[shown, revoked, ended])
