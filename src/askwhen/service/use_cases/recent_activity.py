"""The end of a stream's log: rounds and questions of today, the last decisions, the last switches."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from ..domain.stream import ServiceStream
from ..events.kinds import facts_of
from ..runtime.coordinator import Coordinator
from ..store.records import Reader

CHUNK, MOST_EVENTS = 1_000, 50_000
DAY = 86400.0
MOST_POINTS, MOST_SWITCHES = 1_500, 50


class DayActivity:
    """Reads the log of a stream from midnight (UTC) on, at most 50,000 events back."""

    def __init__(self) -> None:
        self.seq = 0
        self._day = -1.0
        self.rounds = self.asked = 0
        self.since = 0.0
        self.decisions: deque[tuple[int, float, float, bool]] = deque(maxlen=MOST_POINTS)
        self.switches: deque[tuple[int, float]] = deque(maxlen=MOST_SWITCHES)

    def follow(self, reader: Reader, number: int, now: float) -> None:
        """Read new events; the counts start again on a new day."""
        day = now - now % DAY
        last = reader.last(number)
        if self._day < 0.0:
            self.seq = max(min(first_after(reader, number, last, day), last - 4 * MOST_POINTS), last - MOST_EVENTS, 0)
        if day != self._day:
            self._day, self.rounds, self.asked, self.since = day, 0, 0, day
        while self.seq < last:
            events = reader.events(number, self.seq, CHUNK)
            if not events:
                break
            for event in events:
                if event.kind == "instance":
                    fact = facts_of(event)
                    self.decisions.append((fact.round, fact.margin, fact.probability, fact.asked))
                    if fact.switched:
                        self.switches.append((fact.round, event.time))
                    if event.time >= day:
                        self.rounds += 1
                        self.asked += fact.is_question
            self.seq = events[-1].seq

    def facts(self) -> dict[str, Any]:
        """Counts of today, the last decisions and the last switches."""
        return {
            "rounds": self.rounds,
            "asked": self.asked,
            "since": self.since,
            "decisions": list(self.decisions),
            "switches": list(self.switches),
        }


def first_after(reader: Reader, number: int, last: int, time: float) -> int:
    """The number of the last event before a time: times in a log never go back, and numbers have no gaps."""
    low, high = 0, last
    while low < high:
        middle = (low + high + 1) // 2
        event = reader.event(number, middle)
        if event is not None and event.time < time:
            low = middle
        else:
            high = middle - 1
    return low


class RecentActivity:
    """The activity of all streams, read in another thread, one stream after the other."""

    def __init__(self) -> None:
        self._found: dict[int, DayActivity] = {}
        self._turn = asyncio.Lock()

    async def today(self, coordinator: Coordinator, stream: ServiceStream) -> dict[str, Any]:
        """The current activity of a stream."""
        async with self._turn:
            found = self._found.setdefault(stream.number, DayActivity())
            async with coordinator.reading() as log:
                await log.in_thread(found.follow, log.reader, stream.number, coordinator.clock.now())
            return found.facts()
