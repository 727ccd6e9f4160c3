"""When to make a snapshot: a start must not take long, and writing must not be most of the work."""

from __future__ import annotations

TAIL = 25_000
"""So many events of all streams are after the last snapshots, unless snapshots are large; a start plays them again."""

WORTH = 20_000
"""To write so many bytes of a snapshot costs about as much as to play an event again."""


class SnapshotPolicy:
    """How many events each stream has had since its last snapshot, and how large that was."""

    def __init__(self) -> None:
        self._events: dict[int, int] = {}
        self._bytes: dict[int, int] = {}

    def add(self, stream: int, events: int) -> None:
        """So many events came."""
        self._events[stream] = self._events.get(stream, 0) + events

    def cut(self, stream: int) -> None:
        """A snapshot is made."""
        self._events[stream] = 0

    def weigh(self, stream: int, size: int) -> None:
        """The snapshot has so many bytes; told from the thread that commits."""
        self._bytes[stream] = size

    def length(self, stream: int) -> int:
        """How many events came since the last snapshot."""
        return self._events.get(stream, 0)

    def due(self) -> int | None:
        """The stream that most deserves a snapshot now, if any does."""
        if sum(self._events.values()) <= TAIL:
            return None
        found = max(self._events, key=self._worth)
        return found if self._worth(found) >= 0.0 else None

    def _worth(self, stream: int) -> float:
        """By how many events a stream is beyond what a snapshot of its size is worth."""
        return self._events[stream] - self._bytes.get(stream, 0) / WORTH
