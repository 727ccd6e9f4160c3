"""What a person sees of themselves: their tokens, the browsers in which they are signed in, and their answers."""

from __future__ import annotations

from typing import Any

from ..domain.tokens import Holder
from ..errors import NotFoundError
from ..runtime.coordinator import Coordinator
from . import sign_ins, tokens


async def facts(coordinator: Coordinator, holder: Holder, here: str | None) -> dict[str, Any]:
    """All of it; ``here`` is the number of the sign-in that asks."""
    await coordinator.commits.settled()
    now = coordinator.clock.now()
    return {
        "name": holder.name,
        "roles": sorted(holder.roles),
        "streams": tokens.names(coordinator, holder.streams),
        "tokens": [tokens.facts(coordinator, each) for each in _tokens(coordinator, holder)],
        "sign_ins": [
            sign_ins.facts(each) | {"here": each.number == here}
            for each in coordinator.sign_ins.all(now)
            if each.name == holder.name
        ],
        "answers": _answers(coordinator, holder),
        "groups": [name for name, members in sorted(coordinator.people.groups.items()) if holder.name in members],
        "away": coordinator.people.away.get(holder.name) if coordinator.people.is_away(holder.name, now) else None,
    }


def _tokens(coordinator: Coordinator, holder: Holder) -> list[Holder]:
    now = coordinator.clock.now()
    return [each for each in coordinator.tokens.all() if each.name == holder.name and not each.has_expired(now)]


def _answers(coordinator: Coordinator, holder: Holder) -> list[dict[str, Any]]:
    """Counts for each stream that is in use; archived ones are not loaded for this."""
    found = []
    for name, stream in sorted(coordinator.streams.items()):
        if stream.aside or not stream.loaded or (holder.streams is not None and stream.number not in holder.streams):
            continue
        counts = stream.questions.stored.people.persons.get(holder.name)
        if counts is not None:
            found.append(
                {
                    "stream": name,
                    "answers": counts.answers,
                    "unsure": counts.unsure,
                    "skipped": counts.skipped,
                    "undone": counts.undone,
                    "seconds": counts.seconds / counts.timed if counts.timed else None,
                    "last": counts.last or None,
                }
            )
    return found


async def revoke(coordinator: Coordinator, holder: Holder, token: str) -> None:
    """Revoke one's own token."""
    if token not in {each.token for each in _tokens(coordinator, holder)}:
        raise NotFoundError(f"{holder.name} has no token {token[:100]}.", owner="token")
    await tokens.revoke(coordinator, token, holder.name)


async def end(coordinator: Coordinator, holder: Holder, number: str) -> None:
    """End one's own sign-in in some browser."""
    now = coordinator.clock.now()
    for each in coordinator.sign_ins.all(now):
        if each.number == number and each.name == holder.name:
            await sign_ins.end(coordinator, each, holder.name)
            return
    raise NotFoundError(f"{holder.name} has no sign-in {number[:100]}.", owner="sign-in")
