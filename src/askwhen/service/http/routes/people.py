"""Groups of people, and who is away."""

from __future__ import annotations

from litestar import delete, get, post

from ...domain.tokens import ANYBODY
from ...use_cases import people
from ..authorization import AnyRequest, authorization_of
from ..request_checks import ROLE
from ..schemas import Absence, AwayFacts, GroupFacts, NewGroup, OwnAbsence, PeopleFacts


@get("/v1/people", summary="List groups, and who is away")
async def listed(request: AnyRequest) -> PeopleFacts:
    """The groups with their members, which streams name with an @ before the name."""
    auth = authorization_of(request)
    auth.holder(request, "reviewer")
    found = await people.facts(auth.coordinator)
    return PeopleFacts([GroupFacts(**each) for each in found["groups"]], [AwayFacts(**each) for each in found["away"]])


@post("/v1/groups", status_code=200, opt={ROLE: "admin"}, summary="Make a group, or change its members")
async def group_set(request: AnyRequest, data: NewGroup) -> GroupFacts:
    """The members are those given here and no others."""
    auth = authorization_of(request)
    holder = auth.holder(request, "admin")
    return GroupFacts(**await people.set_group(auth.coordinator, data.name, data.members, holder.name))


@delete("/v1/groups/{group:str}", summary="Remove a group")
async def group_removed(request: AnyRequest, group: str) -> None:
    """Streams that name it keep the name, for a group without members."""
    auth = authorization_of(request)
    holder = auth.holder(request, "admin")
    await people.remove_group(auth.coordinator, group, holder.name)


@post("/v1/people/away", status_code=204, opt={ROLE: "admin"}, summary="Note that a person is away")
async def went_away(request: AnyRequest, data: Absence) -> None:
    """They are asked nothing in any stream until a time; with null they are back."""
    auth = authorization_of(request)
    holder = auth.holder(request, "admin")
    await people.go_away(auth.coordinator, data.name, data.until, holder.name)


@post("/v1/me/away", status_code=204, opt={ROLE: ANYBODY}, summary="Note that one is away")
async def away(request: AnyRequest, data: OwnAbsence) -> None:
    """One is asked nothing in any stream until a time; with null one is back."""
    auth = authorization_of(request)
    name = auth.identify(request).name
    await people.go_away(auth.coordinator, name, data.until, name)


handlers = [listed, group_set, group_removed, went_away, away]
