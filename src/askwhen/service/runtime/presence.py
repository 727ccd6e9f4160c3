"""Who is active on each stream: annotators who have asked for a question recently."""

from __future__ import annotations

ACTIVE = 600.0
"""Seconds for which an annotator counts as active after asking for a question."""


class Presence:
    """The times at which annotators last asked for a question; only in memory, since decisions are in the log."""

    def __init__(self) -> None:
        self._seen: dict[int, dict[str, float]] = {}

    def note(self, stream: int, annotator: str, now: float) -> None:
        """Note that an annotator asks for a question."""
        self._seen.setdefault(stream, {})[annotator] = now

    def count(self, stream: int, now: float) -> int:
        """Number of active annotators of a stream."""
        seen = self._seen.get(stream)
        if not seen:
            return 0
        for annotator in [each for each, time in seen.items() if time < now - ACTIVE]:
            del seen[annotator]
        return len(seen)
