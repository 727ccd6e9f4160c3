"""The queue of questions that wait for annotators, and the timers of their leases; rebuilt from the open questions."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

from sortedcontainers import SortedSet

from .questions import Question


class QuestionQueue:
    """Questions with a free slot, in the order that the settings of the stream say."""

    def __init__(self, order: str) -> None:
        self._order = order
        self._keys: Any = SortedSet()

    def _key(self, question: Question) -> tuple[float, int]:
        if self._order == "oldest":
            return 0.0, question.round
        return -(question.value if self._order == "valuable" else question.priority), question.round

    def add(self, question: Question) -> None:
        """Add a question; one that is in the queue already stays."""
        self._keys.add(self._key(question))

    def remove(self, question: Question) -> None:
        """Remove a question, if it is in the queue."""
        self._keys.discard(self._key(question))

    def rounds(self) -> Iterator[int]:
        """Rounds of the questions, in the order in which they are given out."""
        return (round for _, round in self._keys)

    def __len__(self) -> int:
        return len(self._keys)


class Timer:
    """Rounds by the time at which they must be checked."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int]] = []

    def add(self, time: float, round: int) -> None:
        """Check a round at a time."""
        heapq.heappush(self._heap, (time, round))

    def due(self, now: float) -> list[int]:
        """Remove and return the rounds whose time has come."""
        found = []
        while self._heap and self._heap[0][0] <= now:
            found.append(heapq.heappop(self._heap)[1])
        return found
