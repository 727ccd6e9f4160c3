"""The queue of questions that wait for annotators, and the timers of their leases; rebuilt from the open questions."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sortedcontainers import SortedSet

from .questions import Question


class Audience(NamedTuple):
    """Who is asked a question: these people and groups, and others ``after`` so many seconds, or never.

    Without names, everybody is.
    """

    who: tuple[str, ...] = ()
    after: float | None = 0.0

    def names(self, names: frozenset[str]) -> bool:
        """Whether it names an annotator who has these names."""
        return not names.isdisjoint(self.who)

    def takes(self, names: frozenset[str], waited: float) -> bool:
        """Whether an annotator with these names may answer a question that has waited for so many seconds."""
        return not self.who or self.names(names) or (self.after is not None and waited >= self.after)


EVERYBODY = Audience()


class QuestionQueue:
    """Questions with a free slot, by who is asked them, in each of the orders in which annotators get them.

    Parameters
    ----------
    orders : iterable of str
        The orders that are kept.
    """

    def __init__(self, orders: Iterable[str]) -> None:
        self._orders: dict[str, dict[Audience, Any]] = {order: {} for order in orders}
        self._audiences: dict[int, Audience] = {}

    def add_all(self, questions: Iterable[tuple[Question, Audience]]) -> None:
        """Add many questions to an empty queue, in a third of the time that it takes to add each of them."""
        listed: dict[Audience, list[Question]] = {}
        for question, audience in questions:
            self._audiences[question.round] = audience
            listed.setdefault(audience, []).append(question)
        for order, sets in self._orders.items():
            sets.update({each: SortedSet(_key(order, question) for question in some) for each, some in listed.items()})

    def add(self, question: Question, audience: Audience) -> None:
        """Add a question; one that is in the queue already stays, for this audience."""
        before = self._audiences.get(question.round)
        if before == audience:
            return
        if before is not None:
            self.remove(question)
        self._audiences[question.round] = audience
        for order, sets in self._orders.items():
            found = sets.get(audience)
            if found is None:  # ``setdefault`` would make a set for each question
                found = sets[audience] = SortedSet()
            found.add(_key(order, question))

    def remove(self, question: Question) -> None:
        """Remove a question, if it is in the queue."""
        audience = self._audiences.pop(question.round, None)
        if audience is None:
            return
        for order, sets in self._orders.items():
            sets[audience].discard(_key(order, question))
            if not sets[audience]:
                del sets[audience]

    @property
    def audiences(self) -> list[Audience]:
        """The audiences of the questions in the queue."""
        return list(next(iter(self._orders.values())))

    def rounds(self, order: str, audiences: Iterable[Audience]) -> Iterator[int]:
        """Rounds of the questions for some audiences, in an order that is kept."""
        found = [self._orders[order][each] for each in audiences]
        return (round for _, round in (found[0] if len(found) == 1 else heapq.merge(*found)))

    def __len__(self) -> int:
        return len(self._audiences)


def _key(order: str, question: Question) -> tuple[float, int]:
    """What questions are sorted by: the number of the round alone, or something before it."""
    if order == "oldest":
        return 0.0, question.round
    if order == "newest":
        return -float(question.round), question.round
    return -(question.value if order == "valuable" else question.priority), question.round


class Timer:
    """Rounds by the time at which they must be checked."""

    def __init__(self, times: Iterable[tuple[float, int]] = ()) -> None:
        self._heap = list(times)
        heapq.heapify(self._heap)

    def add(self, time: float, round: int) -> None:
        """Check a round at a time."""
        heapq.heappush(self._heap, (time, round))

    def due(self, now: float) -> list[int]:
        """Remove and return the rounds whose time has come."""
        found = []
        while self._heap and self._heap[0][0] <= now:
            found.append(heapq.heappop(self._heap)[1])
        return found
