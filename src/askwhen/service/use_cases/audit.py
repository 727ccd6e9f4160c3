"""Who did what: the events about access, settings, exports, erasures and reviews, of all streams, in order of time.

Nothing of it is written twice: it is read from the logs, which also have what they are about.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import msgspec

from ..events.kinds import Exported, TokenMade, WentAway, facts_of
from ..runtime.coordinator import SERVICE, Coordinator
from ..store.records import Event, Reader

CHUNK = 500
OF_SERVICE = (
    *("signed in", "signed out", "token made", "token revoked", "invited", "invitation withdrawn"),
    *("group set", "went away", "created", "deleted", "exported", "webhook made", "webhook removed", "webhook stopped"),
)
OF_STREAMS = (
    *("renamed", "paused", "resumed", "archived", "settings changed", "replayed", "erased", "withdrawn"),
    *("labels added", "label renamed", "labels merged", "reviewed", "review undone", "reserved"),
    *("gold added", "gold removed"),
)
COLUMNS: dict[str, type] = {"time": str, "event": str, "by": str, "stream": str, "question": int, "details": str}
_LEFT_OUT = frozenset({"by", "annotator", "digest", "secret"})
"""Fields that have a column of their own, and secrets."""

Row = dict[str, Any]


async def exported(coordinator: Coordinator, stream: int, what: str, by: str, format: str = "") -> None:
    """Record that data is about to be downloaded."""
    with coordinator.changing():
        _, done = coordinator.note("exported", Exported(stream, what, by, format))
    await asyncio.shield(done)


class AuditLog:
    """The rows of the log.

    Parameters
    ----------
    names : dict
        The current names of streams, by their numbers.
    since, until : float
        Seconds since 1970; events at ``until`` or later are left out.
    is_native : bool
        Whether details are objects, and not texts with JSON.
    """

    def __init__(self, names: dict[int, str], since: float, until: float, is_native: bool) -> None:
        self._names, self._since, self._until, self._is_native = dict(names), since, until, is_native

    def chunks(self, reader: Reader) -> Iterator[list[Row]]:
        """The rows in order of time, a chunk at a time."""
        own = _events(reader, SERVICE, OF_SERVICE)
        logs = [own, *(_events(reader, number, OF_STREAMS) for number in sorted(self._names))]
        merged = heapq.merge(*logs, key=lambda event: (event.time, event.stream, event.seq))
        rows = (self._row(event) for event in merged if self._since <= event.time < self._until)
        while found := list(islice(rows, CHUNK)):
            yield found

    def _row(self, event: Event) -> Row:
        fact = facts_of(event)
        number = event.stream or getattr(fact, "stream", 0)
        if event.stream == SERVICE and hasattr(fact, "stream") and hasattr(fact, "name"):
            self._names.setdefault(number, fact.name)  # a deleted one has the name that it had
        details = {
            name: value
            for name, value in msgspec.to_builtins(fact).items()
            if name not in _LEFT_OUT and not (name == "stream" and event.stream == SERVICE)
        }
        if details.get("streams") is not None:
            details["streams"] = [self._names.get(each, f"number {each}") for each in details["streams"]]
        if "url" in details and not details["url"].startswith("mailto:"):
            parts = urlsplit(details["url"])  # the rest is the secret of many chat tools
            details["url"] = f"{parts.scheme}://{parts.hostname}/..."
        kind = event.kind
        if isinstance(fact, WentAway) and not fact.until:
            kind = "came back"
            del details["until"]
        return {
            "time": datetime.fromtimestamp(event.time, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "event": kind,
            "by": _by(fact),
            "stream": self._names.get(number) if number else None,
            "question": event.question,
            "details": details if self._is_native else msgspec.json.encode(details).decode(),
        }


def _by(fact: Any) -> str | None:
    """Who did it; None where that was not recorded, as by releases before 0.2 or by a command on the database."""
    if isinstance(fact, TokenMade) and fact.invitation:
        return fact.name  # by accepting the invitation
    for name in ("by", "annotator"):
        if hasattr(fact, name):
            return getattr(fact, name) or None
    return getattr(fact, "name", None)


def _events(reader: Reader, stream: int, kinds: tuple[str, ...]) -> Iterator[Event]:
    after = 0
    while found := reader.events(stream, after, CHUNK, kinds):
        yield from found
        after = found[-1].seq
