"""Questions that wait, in the order in which they are given out; and what is due at a time. Rebuilt from the books."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

from sortedcontainers import SortedSet

from .questions import Question


class Queue:
    """The questions with a free slot, by the order of the stream."""

    def __init__(self, order: str) -> None:
        self._order = order
        self._keys: Any = SortedSet()

    def _key(self, question: Question) -> tuple[float, int]:
        if self._order == "oldest":
            return 0.0, question.round
        return -(question.value if self._order == "valuable" else question.priority), question.round

    def add(self, question: Question) -> None:
        """Put a question where it belongs, unless it is there."""
        self._keys.add(self._key(question))

    def remove(self, question: Question) -> None:
        """Take a question out, if it is there."""
        self._keys.discard(self._key(question))

    def rounds(self) -> Iterator[int]:
        """The questions, the first one to be given out first."""
        return (round for _, round in self._keys)

    def __len__(self) -> int:
        return len(self._keys)


class Timer:
    """Rounds by the time at which they must be looked at."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int]] = []

    def add(self, time: float, round: int) -> None:
        """Look at this round then."""
        heapq.heappush(self._heap, (time, round))

    def due(self, now: float) -> list[int]:
        """The rounds whose time has come; each is told once."""
        found = []
        while self._heap and self._heap[0][0] <= now:
            found.append(heapq.heappop(self._heap)[1])
        return found
