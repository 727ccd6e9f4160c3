"""The estimated accuracy of streams over time: sampled while the service runs, and stored.

A point stores what was known at its moment, and what later answers do not change. ``known_now`` adds all answers that
came until today, so that a line shows what is known now of the instances until each moment.

No state depends on these points, so they are not in the log of the stream: each stream has a second log for them, whose
number is the negative of its own. Points are taken as the stream grows, with growing distances, so that a stream of
many years has a few thousand.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from ...engine.tally.round_tally import WINDOWS
from ...evaluate.estimation.accuracy import RECENT
from ...evaluate.estimation.advisers import CountedAdvisers
from ...evaluate.estimation.over_time import Stretch, known_now, stretches_of
from ..domain.stream import ServiceStream
from ..runtime.background import run_in_background
from ..runtime.coordinator import Coordinator
from ..store.records import Event, Reader
from . import reports
from .adviser_reports import Look, looked_at
from .question_outcomes import QuestionOutcomes

GLANCE, PAUSE, REST, LONGEST_REST = 0.1, 1.0, 50.0, 5.0
"""Seconds between two samples, which are copies of a few sums; seconds between two estimates from them; the pause after
an estimate as a multiple of the time that it took, since it slows other work down; and the longest such pause."""

MOST_SAMPLES = 8
"""Samples of one stream that wait for their estimates; beyond that, every other one is dropped."""

MOST_POINTS = 400
"""Points in a chart; beyond that, every other one is dropped."""

GROWTH, LONGEST_GAP = 1.01, 60.0
"""A stream is sampled again when its instances or labels have grown by this factor, or when there are new ones after
this many seconds (or a four-hundredth of its age, where that is longer)."""

KIND, CHUNK = "point", 1_000
CONFIDENCE = 0.95
_SHOWN = ("value", "low", "high")
_LINES = ("overall", "recent")
Point = dict[str, Any]
Fixed = Sequence[Any] | None
BEFORE: Fixed = ()
log = logging.getLogger("askwhen.service")


class Sample(NamedTuple):
    """A stream at one moment: time, counts, and what estimates of its accuracy and of its advisers need."""

    time: float
    rounds: int
    told: int
    weights: list[float]
    counted: reports.CopiedTally
    advisers: CountedAdvisers | None = None


class Timeline:
    """The points of one stream, oldest first, and the samples that will become points.

    ``fixed`` has for each point what later answers do not change, overall and recently; None where it is not known, and
    ``BEFORE`` for points of earlier versions. ``best`` has the largest lower bound of each adviser's accuracy, and
    ``fallen`` when it was last seen to have become worse, with the accuracy that it did not reach.
    """

    def __init__(self) -> None:
        self.points: list[Point] = []
        self.fixed: list[Fixed] = []
        self.best: dict[str, float] = {}
        self.fallen: dict[str, Point] = {}
        self._are_low: set[str] = set()
        self.turn, self.reading = asyncio.Lock(), asyncio.Lock()
        self.samples: list[Sample] = []
        self.count = 0
        self._begun: float | None = None
        self._last = (0.0, 0, 0)

    def wait(self, sample: Sample) -> None:
        """Queue a sample that will become a point."""
        self._note(sample.time, sample.rounds, sample.told)
        self.samples.append(sample)
        if len(self.samples) > MOST_SAMPLES:
            del self.samples[1:-1:2]

    def _note(self, time: float, rounds: int, told: int) -> None:
        if self._begun is None:
            self._begun = time
        self._last = max(self._last, (time, rounds, told))

    def add(self, point: Point) -> None:
        """Add the next point."""
        self._note(point["time"], point["rounds"], point["told"])
        self.count += 1
        self._note_advisers(point, msgspec.convert(point.pop("advisers", {}), dict[str, Look]))
        self.fixed.append(point.pop("fixed", BEFORE))
        self.points.append(point)
        if len(self.points) > MOST_POINTS:
            del self.points[1:-1:2], self.fixed[1:-1:2]

    def _note_advisers(self, point: Point, looks: dict[str, Look]) -> None:
        for name, look in looks.items():
            self.best[name] = max(look.low, self.best.get(name, 0.0))
            if look.fell is not None and name not in self._are_low:
                self.fallen[name] = {"time": point["time"], "rounds": point["rounds"], "level": look.fell}
        self._are_low = {name for name, look in looks.items() if look.fell is not None}

    def is_due(self, rounds: int, told: int, now: float) -> bool:
        """Whether it is time for another sample."""
        if rounds == 0 or self._begun is None:
            return rounds > 0
        time, rounds_then, told_then = self._last
        if rounds >= rounds_then * GROWTH + 1 or told >= told_then * GROWTH + 1:
            return True
        gap = max(LONGEST_GAP, (now - self._begun) / MOST_POINTS)
        return (rounds, told) != (rounds_then, told_then) and now - time > gap


class AccuracyHistory:
    """The timelines of all streams; each is read from the store when it is first needed."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._lines: dict[int, Timeline] = {}
        self._outcomes: dict[int, QuestionOutcomes] = {}
        self._known: dict[int, tuple[tuple[int, int], list[Point]]] = {}
        self._turn = asyncio.Lock()
        summaries = {number: stream.summary() for number, stream in coordinator.by_number.items()}
        self._looked = {number: (summary.rounds, summary.told) for number, summary in summaries.items()}

    async def line(self, stream: ServiceStream) -> Timeline:
        """The timeline of a stream, including points from before the last start of the service."""
        async with self._turn:
            if stream.number not in self._lines:
                async with self._coordinator.reading() as log:
                    self._lines[stream.number] = await log.in_thread(stored, log.reader, stream.number)
            return self._lines[stream.number]

    async def known_now(self, stream: ServiceStream) -> list[Point]:
        """The points of a stream, each with what is known now of the instances until then.

        Points of earlier versions have no values, only intervals: questions without an answer counted as right there. A
        model that was retrained counts other questions than the log has; its points are as they were known then.
        """
        line, number, outcomes = await self.line(stream), stream.number, await self.outcomes(stream)
        async with line.reading:
            place = (outcomes.seq, line.count)
            if place != self._known.get(number, (None,))[0]:
                points, fixed = list(line.points), list(line.fixed)
                found = await asyncio.to_thread(points_now, points, fixed, outcomes, bool(stream.state.replays))
                self._known[number] = (place, found)
            return self._known[number][1]

    async def outcomes(self, stream: ServiceStream) -> QuestionOutcomes:
        """What became of all questions of a stream."""
        line = await self.line(stream)
        outcomes = self._outcomes.setdefault(
            stream.number, QuestionOutcomes(stream.settings.within, stream.settings.several)
        )
        async with line.reading:
            more = True
            while more:
                async with self._coordinator.reading() as log:
                    more = await log.in_thread(outcomes.follow, log.reader, stream.number)
        return outcomes

    async def with_falls(self, stream: ServiceStream, advisers: list[Point] | None) -> list[Point] | None:
        """Facts of advisers, each with when it was last seen to have become worse."""
        if advisers is None:
            return None
        line = await self.line(stream)
        return [each | {"fell": line.fallen.get(each["name"])} for each in advisers]

    async def look(self, stream: ServiceStream) -> bool:
        """Sample a stream where it is time; returns whether it was."""
        if place_of(stream) == self._looked.get(stream.number, (0, 0)):
            return False
        line = await self.line(stream)
        place, now = place_of(stream), self._coordinator.clock.now()
        if not line.is_due(*place, now):
            return False
        is_measured = stream.model.advisers and not stream.model.is_number
        advisers = CountedAdvisers(stream.model.sampler) if is_measured else None
        weights = stream.model.sampler.drift_weights.tolist()
        line.wait(Sample(now, *place, weights, reports.copied_tally(stream), advisers))
        self._looked[stream.number] = place
        return True

    async def note(self, stream: ServiceStream) -> bool:
        """Make a point of the oldest sample of a stream; returns whether there was one."""
        line = self._lines.get(stream.number)
        if line is None or not line.samples:
            return False
        async with line.turn:
            return await self._note(stream.number, line)

    async def catch_up(self, stream: ServiceStream) -> bool:
        """Make points of all samples of a stream, for a client that follows it; returns whether there were any."""
        noted = 0
        while noted < MOST_SAMPLES and await self.note(stream):
            noted += 1
        return noted > 0

    async def _note(self, number: int, line: Timeline) -> bool:
        if not line.samples:
            return False
        sample = line.samples.pop(0)
        found, _ = await asyncio.to_thread(sample.counted.estimated, CONFIDENCE)
        overall, recent = ([_known(getattr(part, name)) for name in _SHOWN] for part in (found.overall, found.recent))
        point = _point(sample.time, (sample.rounds, sample.told), overall, recent, sample.weights)
        point["fixed"] = stretches_of(sample.counted.tally()[0], WINDOWS.index(RECENT))
        if sample.advisers is not None:
            looks = await asyncio.to_thread(looked_at, sample.advisers, dict(line.best))
            point["advisers"] = msgspec.to_builtins(looks)
        facts = msgspec.json.encode(point).decode()
        event = Event(-number, line.count + 1, point["time"], KIND, None, None, facts)
        if number not in self._coordinator.by_number:
            return False  # it was deleted meanwhile
        line.add(point)
        await asyncio.shield(self._coordinator.commits.add([event]))
        return True


def place_of(stream: ServiceStream) -> tuple[int, int]:
    """The progress of a stream: rounds, and labels that the model has learnt."""
    return stream.state.instances, stream.questions.stored.told


def stored(reader: Reader, number: int) -> Timeline:
    """The stored timeline of a stream."""
    line = Timeline()
    while events := reader.events(-number, line.count, CHUNK):
        for event in events:
            line.add(msgspec.json.decode(event.facts))
    return line


def points_now(points: list[Point], fixed: list[Fixed], outcomes: QuestionOutcomes, is_retrained: bool) -> list[Point]:
    """Points with what is known now of the instances until each of them."""
    shown = [dict(each) for each in points]
    for each, part in zip(shown, fixed, strict=True):
        if part is BEFORE:
            each |= {name: [None, *each[name][1:]] for name in _LINES}
    known = {k: part for k, part in enumerate(fixed) if part}
    if not known or is_retrained:
        return shown
    questions = outcomes.questions()
    for at, name in enumerate(_LINES):
        stretches = [Stretch(*part[at]) for part in known.values()]
        for k, ends in zip(known, known_now(stretches, questions, 1.0 - CONFIDENCE).tolist(), strict=True):
            shown[k][name] = [_known(each) for each in ends]
    return shown


def point_of(report: dict[str, Any], place: tuple[int, int], now: float) -> Point:
    """The point of a report."""
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
    """Record the accuracy of all streams inside the ``with`` block."""
    history = AccuracyHistory(coordinator)
    async with run_in_background(_each(coordinator, history.look, GLANCE), _each(coordinator, history.note, PAUSE)):
        yield history


async def _each(coordinator: Coordinator, act: Callable[[ServiceStream], Awaitable[bool]], pause: float) -> None:
    """Call a function for every stream, periodically, with a pause after each call that did something."""
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
            except Exception as error:  # a gap in a chart is not a reason to stop
                log.error("no point in the history", exc_info=error, extra={"facts": {"stream": stream.name}})
                done = True
            if done:
                await asyncio.sleep(min(max(pause, REST * (time.monotonic() - started)), LONGEST_REST))
