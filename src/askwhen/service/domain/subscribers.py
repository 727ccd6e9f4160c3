"""Requests that wait for new events of a stream."""

from __future__ import annotations

import asyncio


class Subscribers:
    """asyncio events that are set after each commit to a stream."""

    def __init__(self) -> None:
        self._of: dict[int, set[asyncio.Event]] = {}

    def subscribe(self, number: int) -> asyncio.Event:
        """An event that is set after each commit to a stream; pass it to ``unsubscribe`` when done."""
        found = asyncio.Event()
        self._of.setdefault(number, set()).add(found)
        return found

    def unsubscribe(self, number: int, changed: asyncio.Event) -> None:
        """End a subscription."""
        self._of[number].discard(changed)

    def count(self, number: int) -> int:
        """Number of subscribers of a stream."""
        return len(self._of.get(number, ()))

    def notify(self, number: int) -> None:
        """Wake all subscribers of a stream."""
        for changed in self._of.get(number, ()):
            changed.set()

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))
