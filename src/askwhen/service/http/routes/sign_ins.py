"""Browsers that are signed in: list and end. For admins."""

from __future__ import annotations

from litestar import Router, delete, get

from ...use_cases import sign_ins
from ..authorization import AnyRequest, authorization_of
from ..schemas import SignInFacts


@get("/", summary="List the browsers that are signed in")
async def listed(request: AnyRequest) -> list[SignInFacts]:
    """Those that a proxy signs in are not among them: it does so for every request."""
    auth = authorization_of(request)
    auth.holder(request, "admin")
    await auth.coordinator.commits.settled()
    return [SignInFacts(**sign_ins.facts(each)) for each in auth.coordinator.sign_ins.all(auth.coordinator.clock.now())]


@delete("/{sign_in:str}", summary="End a sign-in")
async def ended(request: AnyRequest, sign_in: str) -> None:
    """At once, open event streams included."""
    auth = authorization_of(request)
    by = auth.holder(request, "admin")
    found = auth.coordinator.sign_ins.find(sign_in, auth.coordinator.clock.now())
    await sign_ins.end(auth.coordinator, found, by.name)


router = Router("/v1/sign-ins", route_handlers=[listed, ended])
