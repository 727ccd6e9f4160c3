"""Makes and revokes tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from ...errors import InputError
from ..domain.tokens import Holder, new_token
from ..errors import ConflictError
from ..events.kinds import TokenMade, TokenRevoked
from ..runtime.coordinator import Coordinator


async def make(
    coordinator: Coordinator,
    name: str,
    roles: Sequence[str],
    streams: Sequence[str] | None,
    days: float | None,
    by: str = "",
) -> tuple[str, TokenMade]:
    """A new token: the secret, which is shown once, and the recorded fact."""
    numbers = numbers_of(coordinator, streams)
    expires = None if days is None else coordinator.clock.now() + 86400.0 * days
    if not coordinator.tokens.required and ("admin" not in roles or streams is not None or days is not None):
        raise InputError(
            "the first token must have the role admin, for all streams and without an end, or no others could be made.",
            owner="token",
        )
    secret, fact = new_token(name, roles, numbers, expires, by=by)
    with coordinator.changing():
        coordinator.tokens.apply(fact)
        _, done = coordinator.note("token made", fact)
    await asyncio.shield(done)
    return secret, fact


def numbers_of(coordinator: Coordinator, streams: Sequence[str] | None) -> list[int] | None:
    """The numbers of streams by their names; None for all."""
    if streams is not None and not streams:
        raise InputError("name at least one stream, or leave streams out for all of them.", owner="token")
    return None if streams is None else [coordinator.stream(name).number for name in streams]


async def revoke(coordinator: Coordinator, token: str, by: str = "") -> None:
    """Revoke a token."""
    gone, now = coordinator.tokens.find(token), coordinator.clock.now()
    others = [each for each in coordinator.tokens.all() if each.token != token]
    if gone.is_global_admin(now) and not any(
        each.is_global_admin(now) and not each.ends_before(gone) for each in others
    ):
        lasting = "" if gone.expires is not None else " that does not expire"
        raise ConflictError(f"this is the last admin for all streams{lasting}; make another one first.", owner="token")
    fact = TokenRevoked(token, by)
    with coordinator.changing():
        event, done = coordinator.note("token revoked", fact)
        coordinator.tokens.apply(fact)
        coordinator.sign_ins.apply(fact, event.time)
    await asyncio.shield(done)


def names(coordinator: Coordinator, numbers: Iterable[int] | None) -> list[str] | None:
    """The current names of streams; those that were deleted have none."""
    known = coordinator.by_number
    return None if numbers is None else sorted(known[number].name for number in numbers if number in known)


async def all_facts(coordinator: Coordinator) -> list[dict[str, Any]]:
    """All tokens, without their secrets."""
    await coordinator.commits.settled()
    return [facts(coordinator, holder) for holder in coordinator.tokens.all()]


def facts(coordinator: Coordinator, holder: Holder) -> dict[str, Any]:
    """A token as it is shown, without its secret."""
    return {
        "token": holder.token,
        "name": holder.name,
        "roles": sorted(holder.roles),
        "streams": names(coordinator, holder.streams),
        "expires": holder.expires,
    }
