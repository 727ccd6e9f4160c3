"""Making and revoking tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ..desk import Desk
from ..events import TokenMade, TokenRevoked
from ..tokens import new_token

MOST_TOKENS = 100_000


async def make(
    desk: Desk, name: str, roles: Sequence[str], streams: Sequence[str] | None, days: float | None
) -> tuple[str, TokenMade]:
    """A new token: the secret, which is shown once, and what is kept of it."""
    for stream in streams or ():
        desk.stream(stream)
    expires = None if days is None else desk.clock.now() + 86400.0 * days
    secret, fact = new_token(name, roles, streams, expires)
    with desk.changing():
        desk.tokens.apply(fact)
        done = desk.note("token made", fact)
    await asyncio.shield(done)
    return secret, fact


async def revoke(desk: Desk, token: str) -> None:
    """Let a token be valid no longer."""
    desk.tokens.find(token)
    fact = TokenRevoked(token)
    with desk.changing():
        desk.tokens.apply(fact)
        done = desk.note("token revoked", fact)
    await asyncio.shield(done)
