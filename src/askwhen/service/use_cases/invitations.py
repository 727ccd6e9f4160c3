"""Invites people: a link gives each of them a token once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from ...errors import InputError
from ..domain.invitations import new_invitation
from ..domain.tokens import new_token
from ..events.kinds import InvitationWithdrawn, Invited, TokenMade
from ..runtime.coordinator import Coordinator
from .tokens import names, numbers_of


async def make(
    coordinator: Coordinator,
    by: str,
    name: str,
    roles: Sequence[str],
    streams: Sequence[str] | None,
    days: float | None,
    hours: float,
) -> tuple[str, Invited]:
    """A new invitation: the secret of its link, and the recorded fact."""
    if not coordinator.tokens.required:
        raise InputError("make a token for an admin first; then others can be invited.", owner="invitation")
    expires = coordinator.clock.now() + 3600.0 * hours
    secret, fact = new_invitation(name, roles, numbers_of(coordinator, streams), days, expires, by)
    with coordinator.changing():
        coordinator.invitations.apply(fact)
        _, done = coordinator.note("invited", fact)
    await asyncio.shield(done)
    return secret, fact


async def accept(coordinator: Coordinator, secret: str) -> tuple[str, TokenMade]:
    """Make the token of an invitation, which ends with it: the secret of the token, and the recorded fact."""
    with coordinator.changing():
        now = coordinator.clock.now()
        found = coordinator.invitations.of_secret(secret, now)
        expires = None if found.days is None else now + 86400.0 * found.days
        made, fact = new_token(found.name, found.roles, found.streams, expires, found.invitation, found.by)
        coordinator.tokens.apply(fact)
        coordinator.invitations.apply(fact)
        _, done = coordinator.note("token made", fact)
    await asyncio.shield(done)
    return made, fact


async def withdraw(coordinator: Coordinator, number: str, by: str) -> None:
    """Withdraw an invitation."""
    with coordinator.changing():
        fact = InvitationWithdrawn(coordinator.invitations.find(number, coordinator.clock.now()).invitation, by)
        coordinator.invitations.apply(fact)
        _, done = coordinator.note("invitation withdrawn", fact)
    await asyncio.shield(done)


def facts(coordinator: Coordinator, found: Invited) -> dict[str, Any]:
    """An invitation as it is shown, without its secret."""
    return {
        "invitation": found.invitation,
        "name": found.name,
        "roles": found.roles,
        "streams": names(coordinator, found.streams),
        "days": found.days,
        "expires": found.expires,
    }
