"""Who waits for news of a stream."""

from __future__ import annotations

import asyncio


class Subscribers:
    """Events that are set whenever something was committed to a stream."""

    def __init__(self) -> None:
        self._of: dict[int, set[asyncio.Event]] = {}

    def subscribe(self, number: int) -> asyncio.Event:
        """One more who looks at a stream; give it back with ``unwatch``."""
        found = asyncio.Event()
        self._of.setdefault(number, set()).add(found)
        return found

    def unsubscribe(self, number: int, changed: asyncio.Event) -> None:
        """Look at a stream no longer."""
        self._of[number].discard(changed)

    def count(self, number: int) -> int:
        """How many look at a stream."""
        return len(self._of.get(number, ()))

    def notify(self, number: int) -> None:
        """Something was committed to a stream."""
        for changed in self._of.get(number, ()):
            changed.set()

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))
