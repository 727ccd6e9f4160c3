"""How streams did over time: noted now and then while the service runs, and kept in the store.

Points are no facts, and nothing follows from them, so the log of a stream does not have them: each stream has another
one, whose number is the negative of its own. Points are taken as the stream grows, each a little farther from the last,
so that a stream of many years has a few thousand.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NamedTuple

import msgspec

from ..domain.stream import Stream
from ..runtime.background import run_in_background
from ..runtime.coordinator import Coordinator
from ..store.records import Event, Reader
from . import reports

GLANCE, PAUSE, REST, LONGEST_REST = 0.1, 1.0, 20.0, 5.0
"""Seconds between two looks, which are copies of a few sums; between two estimates from them, how many times as long as
one took, since it costs others a tenth of a second, and how long at most."""

MOST_LOOKS = 8
"""Of one stream that wait for their estimates: where there are more, every other one is left out."""

MOST_POINTS = 400
"""In a picture: where there are more, every other one is left out."""

GROWTH, LONGEST_GAP = 1.01, 60.0
"""A stream is looked at again when its instances or labels have grown by so much, or with new ones after so many
seconds, or a four-hundredth of its life, where that is longer."""

KIND, CHUNK = "point", 1_000
_SHOWN = ("value", "low", "high")
Point = dict[str, Any]
log = logging.getLogger("askwhen.service")


class Look(NamedTuple):
    """A stream at a moment: when, how far it was, and what an estimate of its accuracy needs."""

    time: float
    rounds: int
    told: int
    weights: Any
    counted: Any


class Timeline:
    """The points of one stream, oldest first, as a picture needs them; looks that will be points; when one is due."""

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.turn = asyncio.Lock()
        self.looks: list[Look] = []
        self.count = 0
        self._begun: float | None = None
        self._last = (0.0, 0, 0)

    def wait(self, look: Look) -> None:
        """Take a look that will be a point."""
        self._note(look.time, look.rounds, look.told)
        self.looks.append(look)
        if len(self.looks) > MOST_LOOKS:
            del self.looks[1:-1:2]

    def _note(self, time: float, rounds: int, told: int) -> None:
        if self._begun is None:
            self._begun = time
        self._last = max(self._last, (time, rounds, told))

    def add(self, point: Point) -> None:
        """Take the next point."""
        self._note(point["time"], point["rounds"], point["told"])
        self.count += 1
        self.points.append(point)
        if len(self.points) > MOST_POINTS:
            del self.points[1:-1:2]

    def is_due(self, rounds: int, told: int, now: float) -> bool:
        """Whether there is something new to note."""
        if rounds == 0 or self._begun is None:
            return rounds > 0
        time, rounds_then, told_then = self._last
        if rounds >= rounds_then * GROWTH + 1 or told >= told_then * GROWTH + 1:
            return True
        gap = max(LONGEST_GAP, (now - self._begun) / MOST_POINTS)
        return (rounds, told) != (rounds_then, told_then) and now - time > gap


class AccuracyHistory:
    """The lines of all streams; each is read from the store when somebody first wants it."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._lines: dict[int, Timeline] = {}
        self._turn = asyncio.Lock()
        summaries = {number: stream.summary() for number, stream in coordinator.by_number.items()}
        self._looked = {number: (summary.rounds, summary.told) for number, summary in summaries.items()}

    async def line(self, stream: Stream) -> Timeline:
        """What was noted of a stream, also before the service was last started."""
        async with self._turn:
            if stream.number not in self._lines:
                async with self._coordinator.reading() as log:
                    self._lines[stream.number] = await log.in_thread(stored, log.reader, stream.number)
            return self._lines[stream.number]

    async def look(self, stream: Stream) -> bool:
        """Look at a stream that moved, where it is time; whether that was so."""
        if place_of(stream) == self._looked.get(stream.number, (0, 0)):
            return False
        line = await self.line(stream)
        place, now = place_of(stream), self._coordinator.clock.now()
        if not line.is_due(*place, now):
            return False
        line.wait(Look(now, *place, stream.model.sampler.drift_weights.tolist(), reports.taken(stream)))
        self._looked[stream.number] = place
        return True

    async def note(self, stream: Stream) -> bool:
        """Keep the point of the oldest look at a stream; whether there was one."""
        line = self._lines.get(stream.number)
        if line is None or not line.looks:
            return False
        async with line.turn:
            return await self._note(stream.number, line)

    async def catch_up(self, stream: Stream) -> bool:
        """Keep the points of all looks at a stream, for somebody who follows it: others may be before it; if any."""
        noted = 0
        while noted < MOST_LOOKS and await self.note(stream):
            noted += 1
        return noted > 0

    async def _note(self, number: int, line: Timeline) -> bool:
        if not line.looks:
            return False
        look = line.looks.pop(0)
        found, _ = await asyncio.to_thread(look.counted.estimated, 0.95)
        overall, recent = ([_known(getattr(part, name)) for name in _SHOWN] for part in (found.overall, found.recent))
        point = _point(look.time, (look.rounds, look.told), overall, recent, look.weights)
        facts = msgspec.json.encode(point).decode()
        event = Event(-number, line.count + 1, point["time"], KIND, None, None, facts)
        line.add(point)
        await asyncio.shield(self._coordinator.commits.add([event]))
        return True


def place_of(stream: Stream) -> tuple[int, int]:
    """How far a stream is: rounds, and labels that the model was told."""
    return stream.state.round, stream.questions.stored.told


def stored(reader: Reader, number: int) -> Timeline:
    """The points that the store has of a stream."""
    line = Timeline()
    while events := reader.events(-number, line.count, CHUNK):
        for event in events:
            line.add(msgspec.json.decode(event.facts))
    return line


def point_of(report: dict[str, Any], place: tuple[int, int], now: float) -> Point:
    """What is kept of a report on a stream that is so far."""
    overall, recent = ([report["accuracy"][which][name] for name in _SHOWN] for which in ("overall", "recent"))
    return _point(now, place, overall, recent, report["drift"]["weights"])


def _point(time: float, place: tuple[int, int], overall: list[Any], recent: list[Any], weights: Any) -> Point:
    return {
        "time": time,
        "rounds": place[0],
        "told": place[1],
        "overall": overall,
        "recent": recent,
        "weights": weights,
    }


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


@contextlib.asynccontextmanager
async def recording(coordinator: Coordinator) -> AsyncIterator[AccuracyHistory]:
    """Note how the streams of a desk do, as long as this lasts."""
    history = AccuracyHistory(coordinator)
    async with run_in_background(_each(coordinator, history.look, GLANCE), _each(coordinator, history.note, PAUSE)):
        yield history


async def _each(coordinator: Coordinator, act: Callable[[Stream], Awaitable[bool]], pause: float) -> None:
    """Do something to every stream again and again; whatever takes time is followed by a rest."""
    while coordinator.broken is None:
        await asyncio.sleep(pause)
        for stream in list(coordinator.by_number.values()):
            if coordinator.broken is not None:
                return
            if not stream.loaded:
                continue
            started = time.monotonic()
            try:
                done = await act(stream)
            except Exception as error:  # a picture with a gap is no reason to stop
                log.error("no point in the history", exc_info=error, extra={"facts": {"stream": stream.name}})
                done = True
            if done:
                await asyncio.sleep(min(max(pause, REST * (time.monotonic() - started)), LONGEST_REST))
