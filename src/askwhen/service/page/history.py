"""How streams did over time, noted now and then while the service runs, in memory of a fixed size."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from typing import Any

from ..desk import Desk
from ..stream import Stream
from ..uses import reports

PAUSE, REST = 2.0, 30.0
"""Seconds between two looks, and how many times as long as a look took: it costs others a tenth of a second."""

MOST_POINTS = 400

GROWTH, LONGEST_GAP = 1.01, 60.0
"""A stream is looked at again when it has grown by so much, or after so many seconds with new labels."""

Point = dict[str, Any]
log = logging.getLogger("askwhen.service")


class History:
    """Points of every stream by its number, oldest first; where there are too many, every other one goes."""

    def __init__(self) -> None:
        self._points: dict[int, list[Point]] = {}
        self._last: dict[int, tuple[int, int, float]] = {}

    def points(self, stream: Stream) -> list[Point]:
        """What was noted of a stream."""
        return self._points.get(stream.number, [])

    def is_due(self, stream: Stream, now: float) -> bool:
        """Whether there is something new to note."""
        rounds, told = stream.state.round, stream.books.kept.told
        if rounds == 0:
            return False
        last = self._last.get(stream.number)
        if last is None:
            return True
        before, known, at = last
        return rounds >= before * GROWTH + 1 or ((rounds, told) != (before, known) and now - at > LONGEST_GAP)

    def note(self, stream: Stream, report: dict[str, Any], now: float) -> None:
        """Keep what a report says."""
        points = self._points.setdefault(stream.number, [])
        points.append(point_of(report, now))
        self._last[stream.number] = (stream.state.round, stream.books.kept.told, now)
        if len(points) > MOST_POINTS:
            del points[1:-1:2]


def point_of(report: dict[str, Any], now: float) -> Point:
    """What is kept of a report."""
    accuracy = report["accuracy"]
    return {
        "time": now,
        "rounds": accuracy["rounds"],
        "overall": [accuracy["overall"][name] for name in ("value", "low", "high")],
        "recent": [accuracy["recent"][name] for name in ("value", "low", "high")],
        "weights": report["drift"]["weights"],
    }


@contextlib.asynccontextmanager
async def recording(desk: Desk) -> AsyncIterator[History]:
    """Note how the streams of a desk do, as long as this lasts."""
    history = History()
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
            if desk.broken is None and history.is_due(stream, desk.clock.now()):
                started = time.monotonic()
                try:
                    history.note(stream, await reports.report(desk, stream, 0.95), desk.clock.now())
                except Exception as error:  # a picture with a gap is no reason to stop
                    log.error("no point in the history", exc_info=error, extra={"facts": {"stream": stream.name}})
                await asyncio.sleep(max(PAUSE, REST * (time.monotonic() - started)) if desk.broken is None else 0.0)
