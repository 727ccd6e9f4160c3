"""When to make snapshots: a start must not take long, and snapshots must not be most of what is written."""

from __future__ import annotations

TAIL = 25_000
"""Number of events of all streams after their last snapshots, unless snapshots are large; a start plays them again."""

WORTH = 20_000
"""Bytes of a snapshot whose writing costs about as much as playing one event again."""


class SnapshotPolicy:
    """Counts the events of each stream since its last snapshot, and remembers the size of that."""

    def __init__(self) -> None:
        self._events: dict[int, int] = {}
        self._bytes: dict[int, int] = {}

    def add(self, stream: int, events: int) -> None:
        """Count new events."""
        self._events[stream] = self._events.get(stream, 0) + events

    def cut(self, stream: int) -> None:
        """Start counting again, since a snapshot is made."""
        self._events[stream] = 0

    def drop(self, stream: int) -> None:
        """Forget a stream that was deleted."""
        self._events.pop(stream, None)

    def weigh(self, stream: int, size: int) -> None:
        """Remember the size of a snapshot; called from the thread that commits."""
        self._bytes[stream] = size

    def length(self, stream: int) -> int:
        """Number of events since the last snapshot."""
        return self._events.get(stream, 0)

    def due(self) -> int | None:
        """The stream that most needs a snapshot now, if any does."""
        if sum(self._events.values()) <= TAIL:
            return None
        found = max(self._events, key=self._worth)
        return found if self._worth(found) >= 0.0 else None

    def _worth(self, stream: int) -> float:
        """Number of events by which the log of a stream exceeds the cost of a snapshot of its size."""
        return self._events[stream] - self._bytes.get(stream, 0) / WORTH
