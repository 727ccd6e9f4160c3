"""Groups of people, and who is away, in all streams."""

from __future__ import annotations

import asyncio
from typing import Any

from ...errors import InputError
from ..domain.stream import ServiceStream
from ..errors import ConflictError, NotFoundError
from ..events.kinds import GroupSet, WentAway
from ..events.settings import GROUP, LATEST, LONGEST_NAME, MOST_LABELS, check_who, groups_named, is_person
from ..runtime.coordinator import Coordinator

MOST_GROUPS = 1_000


async def set_group(coordinator: Coordinator, group: str, members: list[str], by: str) -> dict[str, Any]:
    """Make a group of these people, or give it other members."""
    people = coordinator.people
    if not 0 < len(group) <= LONGEST_NAME or not group.isprintable() or group.startswith(GROUP):
        raise InputError.about(
            "group", "name", f"1 to {LONGEST_NAME} printable characters without {GROUP}", group[:200]
        )
    if group not in people.groups and ("/" in group or group in (".", "..")):
        raise InputError("the name of a group has no slash and is not a dot: it is part of an address.", owner="group")
    check_who("group", "members", members)
    if any(each.startswith(GROUP) for each in members):
        raise InputError("a group has people as members, and no other groups.", owner="group", parameter="members")
    if group not in people.groups and len(people.groups) >= MOST_GROUPS:
        raise ConflictError(f"there are {MOST_GROUPS:,} groups already.", owner="group")
    await _note(coordinator, "group set", GroupSet(group, members, by))
    return {"name": group, "members": members}


async def remove_group(coordinator: Coordinator, group: str, by: str) -> None:
    """Remove a group that no stream uses."""
    if group not in coordinator.people.groups:
        raise NotFoundError(f"there is no group {group[:LONGEST_NAME]!r}.", owner="group")
    for stream in coordinator.streams.values():
        if _is_used(stream, group):
            raise ConflictError(
                f"the stream {stream.name} uses the group {group}: take it out of its team, its specialists and its "
                "reserved questions first.",
                owner="group",
            )
    await _note(coordinator, "group set", GroupSet(group, [], by, True))


def _is_used(stream: ServiceStream, group: str) -> bool:
    """Whether settings of a stream name a group, or open questions are reserved for it."""
    if group in groups_named(stream.settings):
        return True
    is_here = stream.loaded and not stream.aside
    return is_here and any(GROUP + group in each.reserved for each in stream.questions.open.values())


def check_groups(coordinator: Coordinator, owner: str, groups: set[str]) -> None:
    """Refuse groups that do not exist: they have no members."""
    unknown = sorted(groups - coordinator.people.groups.keys())
    if unknown:
        raise InputError(f"there is no group {unknown[0]!r}; make it first, or mend its name.", owner=owner)


async def go_away(coordinator: Coordinator, name: str, until: float | None, by: str) -> None:
    """Ask a person nothing until a time, in all streams; without one, they are back."""
    now = coordinator.clock.now()
    if not is_person(name):
        raise InputError.about("away", "name", "the name of a person", name[:LONGEST_NAME])
    if until is not None and not now < until <= LATEST:
        raise InputError.about("away", "until", "a time to come in seconds since 1970, or null", until)
    known = coordinator.people.away
    if until is not None and name not in known and sum(end > now for end in known.values()) >= MOST_LABELS:
        raise ConflictError(f"{MOST_LABELS:,} people are away already.", owner="away")
    await _note(coordinator, "went away", WentAway(name, until or 0.0, by))


async def _note(coordinator: Coordinator, kind: str, fact: GroupSet | WentAway) -> None:
    with coordinator.changing():
        coordinator.people.apply(fact)
        _, done = coordinator.note(kind, fact)
    await asyncio.shield(done)


async def facts(coordinator: Coordinator) -> dict[str, Any]:
    """The groups with their members, and who is away until when."""
    await coordinator.commits.settled()
    now, people = coordinator.clock.now(), coordinator.people
    return {
        "groups": [{"name": name, "members": members} for name, members in sorted(people.groups.items())],
        "away": [{"name": name, "until": end} for name, end in sorted(people.away.items()) if end > now],
    }
