"""Invitations: make, list, withdraw. For admins."""

from __future__ import annotations

from litestar import Router, delete, get, post

from ....errors import InputError
from ...use_cases import invitations
from ..authorization import AnyRequest, authorization_of
from ..request_checks import ROLE
from ..schemas import InvitationFacts, NewInvitation
from .tokens import check_days

LONGEST = 24 * 90.0


@post("/", opt={ROLE: "admin"}, summary="Make an invitation")
async def made(request: AnyRequest, data: NewInvitation) -> InvitationFacts:
    """The link is in this reply and nowhere else. It gives a token once, to the first person who accepts."""
    auth = authorization_of(request)
    holder = auth.holder(request, "admin")
    check_days(data.days)
    if not 0.0 < data.hours <= LONGEST:
        raise InputError(f"hours must be above 0 and at most {LONGEST:,.0f}.", owner="invitation", parameter="hours")
    secret, fact = await invitations.make(
        auth.coordinator, holder.name, data.name, data.roles, data.streams, data.days, data.hours
    )
    host = request.headers.get("host", "")
    # After the # a browser sends nothing to any server, so that the secret is in no log and no preview uses it up.
    link = f"{request.url.scheme}://{host}{auth.options.root}/invitation#{secret}"
    return InvitationFacts(**invitations.facts(auth.coordinator, fact), secret=secret, link=link)


@get("/", summary="List the invitations")
async def listed(request: AnyRequest) -> list[InvitationFacts]:
    """Those that were neither accepted nor withdrawn and have not expired, without their secrets."""
    auth = authorization_of(request)
    auth.holder(request, "admin")
    coordinator = auth.coordinator
    await coordinator.commits.settled()
    found = coordinator.invitations.all(coordinator.clock.now())
    return [InvitationFacts(**invitations.facts(coordinator, each)) for each in found]


@delete("/{invitation:str}", summary="Withdraw an invitation")
async def withdrawn(request: AnyRequest, invitation: str) -> None:
    """At once."""
    auth = authorization_of(request)
    holder = auth.holder(request, "admin")
    await invitations.withdraw(auth.coordinator, invitation, holder.name)


router = Router("/v1/invitations", route_handlers=[made, listed, withdrawn])
