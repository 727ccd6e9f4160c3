"""Tokens: make, list, revoke. For admins."""

from __future__ import annotations

from litestar import Router, delete, get, post

from ....errors import InputError
from ...use_cases import tokens
from ..authorization import AnyRequest, authorization_of
from ..request_checks import ROLE
from ..schemas import NewToken, TokenFacts


def check_days(days: float | None) -> None:
    """Refuse days for which no token can be valid."""
    if days is not None and not 0.0 < days <= 36500.0:
        raise InputError("days must be above 0 and at most 36,500.", owner="token", parameter="days")


@post("/", opt={ROLE: "admin"}, summary="Make a token")
async def made(request: AnyRequest, data: NewToken) -> TokenFacts:
    """The secret is in this reply and nowhere else."""
    auth = authorization_of(request)
    holder = auth.holder(request, "admin")
    check_days(data.days)
    secret, fact = await tokens.make(auth.coordinator, data.name, data.roles, data.streams, data.days, holder.name)
    return TokenFacts(
        fact.token, fact.name, fact.roles, tokens.names(auth.coordinator, fact.streams), fact.expires, secret
    )


@get("/", summary="List the tokens")
async def listed(request: AnyRequest) -> list[TokenFacts]:
    """Without their secrets, which are not stored."""
    auth = authorization_of(request)
    auth.holder(request, "admin")
    return [TokenFacts(**each) for each in await tokens.all_facts(auth.coordinator)]


@delete("/{token:str}", summary="Revoke a token")
async def revoked(request: AnyRequest, token: str) -> None:
    """At once."""
    auth = authorization_of(request)
    holder = auth.holder(request, "admin")
    await tokens.revoke(auth.coordinator, token, holder.name)


router = Router("/v1/tokens", route_handlers=[made, listed, revoked])
