"""Caches metrics that take a while to compute, so that scraping never stalls the service."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from ...domain.stream import ServiceStream
from ...runtime.coordinator import Coordinator
from ...use_cases import reports
from ...use_cases.adviser_reports import AdviserReports

OLD, PATIENCE, REST, CHUNK = 10.0, 2.0, 4.0, 2_000
"""Seconds after which the accuracy is estimated again; seconds that a scrape waits for it; the pause after an estimate
as a multiple of its time; and questions that are counted without a pause."""

WINDOWS = ("overall", "recent")
log = logging.getLogger("askwhen.service")


class AccuracyCache:
    """Accuracy and waiting questions of all streams.

    ``accuracy`` has, for each stream, its windows with value, low and high, and ``advisers`` the facts of its advisers;
    ``waiting`` the number of questions with an empty slot, and the age of the oldest in seconds.
    """

    def __init__(self, coordinator: Coordinator, advisers: AdviserReports) -> None:
        self._coordinator, self._reports = coordinator, advisers
        self._looked = -OLD
        self._task: asyncio.Task[None] | None = None
        self._places: dict[int, tuple[int, ...]] = {}
        self.accuracy: dict[int, dict[str, dict[str, Any]]] = {}
        self.advisers: dict[int, list[dict[str, Any]]] = {}
        self.waiting: dict[int, tuple[int, float]] = {}

    async def update(self) -> None:
        """Count waiting questions, and estimate the accuracy where it is old; a long estimate continues later."""
        loop = asyncio.get_running_loop()
        if self._task is None and loop.time() - self._looked >= OLD:
            self._looked = loop.time()
            self._task = asyncio.create_task(self._estimate())
        now = self._coordinator.clock.now()
        waiting = {}
        for stream in self._live():
            if stream.loaded:  # it may have been set aside meanwhile
                waiting[stream.number] = await _waiting(stream, now)
        self.waiting = waiting
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=PATIENCE)

    def _live(self) -> list[ServiceStream]:
        """The streams that are neither archived nor set aside."""
        streams = self._coordinator.by_number.values()
        return [each for each in streams if each.loaded and not each.state.archived]

    async def _estimate(self) -> None:
        loop, rest = asyncio.get_running_loop(), 0.0
        live = self._live()
        numbers = {stream.number for stream in live}
        self.accuracy = {number: found for number, found in self.accuracy.items() if number in numbers}
        self.advisers = {number: found for number, found in self.advisers.items() if number in numbers}
        try:
            for stream in live:
                try:
                    await asyncio.sleep(rest)
                    started = loop.time()
                    if await self._estimated(stream):
                        rest = REST * (loop.time() - started)
                except Exception as error:  # a gap in a chart is not a reason to stop
                    log.error("no accuracy for the metrics", exc_info=error, extra={"facts": {"stream": stream.name}})
        finally:
            self._task = None

    async def _estimated(self, stream: ServiceStream) -> bool:
        """Estimate the accuracy of a stream where it has changed; returns whether it has."""
        stored = stream.questions.stored
        place = (stream.state.round, stored.told, stored.forgotten, len(stored.corrections), len(stream.state.replays))
        if stream.state.round == 0 or (stream.number in self.accuracy and self._places.get(stream.number) == place):
            return False
        report = await reports.report(self._coordinator, stream, 0.95)
        self.accuracy[stream.number] = {name: report["accuracy"][name] for name in WINDOWS}
        advisers = await self._reports.of(stream)
        if advisers is not None:
            self.advisers[stream.number] = advisers
        self._places[stream.number] = place
        return True

    async def close(self) -> None:
        """Cancel an estimate that is under way."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})


async def _waiting(stream: ServiceStream, now: float) -> tuple[int, float]:
    """Number of questions of a stream with an empty slot, and the age of the oldest in seconds."""
    count, oldest, questions = 0, now, list(stream.questions.open.values())
    for first in range(0, len(questions), CHUNK):
        waiting = [each.opened for each in questions[first : first + CHUNK] if not each.is_full]
        count, oldest = count + len(waiting), min([oldest, *waiting])
        await asyncio.sleep(0)
    return count, now - oldest
