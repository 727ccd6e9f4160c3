"""How streams did over time: noted now and then while the service runs, and kept in the store.

Points are no facts, and nothing follows from them, so the log of a stream does not have them: each stream has another
one, whose number is the negative of its own. Points are taken as the stream grows, each a little farther from the last,
so that a stream of many years has a few thousand.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from ..desk import Desk
from ..store.rows import Event, Reader
from ..stream import Stream
from ..uses import reports

PAUSE, REST, LONGEST_REST = 1.0, 20.0, 5.0
"""Seconds between two looks, how many times as long as a look took, since it costs others a tenth of a second, and how
long at most."""

MOST_POINTS = 400
"""In a picture: where there are more, every other one is left out."""

GROWTH, LONGEST_GAP = 1.01, 60.0
"""A stream is looked at again when it has grown by so much, or with new labels after so many seconds, or a
four-hundredth of its life, where that is longer."""

KIND, CHUNK = "point", 1_000
Point = dict[str, Any]
log = logging.getLogger("askwhen.service")


class Line:
    """The points of one stream, oldest first, as a picture needs them; and when the next one is due."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.count = 0
        self._begun = 0.0

    def add(self, point: Point) -> None:
        """Take the next point."""
        if not self.points:
            self._begun = point["time"]
        self.count += 1
        self.points.append(point)
        if len(self.points) > MOST_POINTS:
            del self.points[1:-1:2]

    def is_due(self, rounds: int, told: int, now: float) -> bool:
        """Whether there is something new to note."""
        if rounds == 0 or not self.points:
            return rounds > 0
        last = self.points[-1]
        if rounds >= last["rounds"] * GROWTH + 1:
            return True
        gap = max(LONGEST_GAP, (now - self._begun) / MOST_POINTS)
        return (rounds, told) != (last["rounds"], last["told"]) and now - last["time"] > gap


class History:
    """The lines of all streams; each is read from the store when somebody first wants it."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._lines: dict[int, Line] = {}
        self._turn = asyncio.Lock()
        self._looked = {number: place_of(stream) for number, stream in desk.numbers.items()}

    async def line(self, stream: Stream) -> Line:
        """What was noted of a stream, also before the service was last started."""
        async with self._turn:
            if stream.number not in self._lines:
                reader = self._desk.reader()
                try:
                    self._lines[stream.number] = await asyncio.to_thread(stored, reader, stream.number)
                finally:
                    reader.close()
            return self._lines[stream.number]

    async def note(self, stream: Stream) -> bool:
        """Look at a stream that moved, and where it is time, keep what is seen; whether that was so."""
        place = place_of(stream)
        if place == self._looked.get(stream.number, (0, 0)):
            return False
        line = await self.line(stream)
        if not line.is_due(*place, self._desk.clock.now()):
            return False
        report = await reports.report(self._desk, stream, 0.95)
        point = point_of(report, place, self._desk.clock.now())
        facts = msgspec.json.encode(point).decode()
        event = Event(-stream.number, line.count + 1, point["time"], KIND, None, None, facts)
        line.add(point)
        self._looked[stream.number] = place
        await asyncio.shield(self._desk.commits.add([event]))
        return True


def place_of(stream: Stream) -> tuple[int, int]:
    """How far a stream is: rounds, and labels that the model was told."""
    return stream.state.round, stream.books.kept.told


def stored(reader: Reader, number: int) -> Line:
    """The points that the store has of a stream."""
    line = Line()
    while events := reader.events(-number, line.count, CHUNK):
        for event in events:
            line.add(msgspec.json.decode(event.facts))
    return line


def point_of(report: dict[str, Any], place: tuple[int, int], now: float) -> Point:
    """What is kept of a report on a stream that is so far."""
    accuracy = report["accuracy"]
    return {
        "time": now,
        "rounds": place[0],
        "told": place[1],
        "overall": [accuracy["overall"][name] for name in ("value", "low", "high")],
        "recent": [accuracy["recent"][name] for name in ("value", "low", "high")],
        "weights": report["drift"]["weights"],
    }


@contextlib.asynccontextmanager
async def recording(desk: Desk) -> AsyncIterator[History]:
    """Note how the streams of a desk do, as long as this lasts."""
    history = History(desk)
    task = asyncio.create_task(_record(desk, history))
    try:
        yield history
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _record(desk: Desk, history: History) -> None:
    while desk.broken is None:
        await asyncio.sleep(PAUSE)
        for stream in list(desk.numbers.values()):
            if desk.broken is not None:
                return
            started = time.monotonic()
            try:
                noted = await history.note(stream)
            except Exception as error:  # a picture with a gap is no reason to stop
                log.error("no point in the history", exc_info=error, extra={"facts": {"stream": stream.name}})
                noted = True
            if noted:
                await asyncio.sleep(min(max(PAUSE, REST * (time.monotonic() - started)), LONGEST_REST))
