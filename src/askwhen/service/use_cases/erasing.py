"""Erases the contents of instances for good: on demand, or when the retention time of their stream is over.

Features, texts and subjects are erased; decisions, labels and the model stay. A model cannot be recovered from erased
instances, so a snapshot of it is committed with the erasure, and older snapshots are deleted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
import numpy as np

from ...errors import InputError
from ..domain import row_codec
from ..domain.question_commands import ERASED
from ..domain.stream import ServiceStream
from ..errors import NotFoundError
from ..events.kinds import WITHHELD, Erased, Forgotten, GoldClosed, facts_of
from ..runtime.coordinator import Coordinator
from ..store.records import Erasure, Event, Reader
from .comments import comments_on
from .deleting import purge_all
from .instances import check_word, key_of
from .log_positions import last_before, of_round

MOST_NAMED, PART = 1_000, 5_000
"""Number of instances that one request can name, and that one transaction erases."""

PAUSE, LONGEST_REST = 1.0, 3600.0
RETENTION = "the stream's time for contents"
logger = logging.getLogger("askwhen.service")


class Gone(msgspec.Struct):
    """Number of instances whose contents were erased, and of open questions that were dropped with them."""

    erased: int
    forgotten: int


class Which(msgspec.Struct, forbid_unknown_fields=True):
    """What to erase, by exactly one of these: rounds, ids, a subject, or all before a time."""

    rounds: list[int] | None = None
    ids: list[str] | None = None
    subject: str | None = None
    before: float | None = None


async def erase(coordinator: Coordinator, stream: ServiceStream, which: Which, by: str) -> Gone:
    """Erase contents. Where one of the named instances does not exist, nothing is erased."""
    given = [name for name in Which.__struct_fields__ if getattr(which, name) is not None]
    if len(given) != 1:
        raise InputError("name what to erase by one of rounds, ids, subject and before.", owner="erase")
    named = which.rounds if which.rounds is not None else which.ids
    if named is not None and not 0 < len(named) <= MOST_NAMED:
        raise InputError(f"name between 1 and {MOST_NAMED:,} instances at once.", owner="erase", parameter=given[0])
    if which.subject is not None:
        check_word(which.subject, "subject")
    for id in which.ids or []:
        key_of(id)  # refuses ids that no database can store
    places = await _erase_waiting(coordinator, stream, which, by)
    found = await _erase(coordinator, stream, lambda reader: _found(reader, stream, which, places), by)
    return Gone(found.erased + len(places), found.forgotten)


async def _erase_waiting(coordinator: Coordinator, stream: ServiceStream, which: Which, by: str) -> list[int]:
    """Erase instances of the backlog; returns their places. A decision that is under way is in the log afterwards."""
    await coordinator.commits.settled()
    if which.ids is not None or which.rounds is not None:
        async with coordinator.reading() as log:
            await log.in_thread(_check_there, log.reader, stream, which)
    with coordinator.changing(stream):
        if which.ids is not None:
            places = coordinator.backlog_by_keys(stream, list(map(key_of, which.ids)))
        elif which.rounds is not None:
            places = []
        else:
            places = coordinator.backlog_places(stream, subject=which.subject, before=which.before)
        if places:
            stream.withdraw(places, by, coordinator.clock.now(), erased=True)
    await coordinator.committed(stream)
    return places


def _check_there(reader: Reader, stream: ServiceStream, which: Which) -> None:
    """Refuse instances that are neither decided nor wait in the backlog."""
    keys = [key_of(id) for id in which.ids or []]
    there = {item.key for item in reader.backlog_by_keys(stream.number, keys)}  # first: it may be decided meanwhile
    there |= {event.key for event in reader.by_keys(stream.number, keys)}
    for key in keys:
        if key not in there:
            raise NotFoundError(f"there is no instance with id {key[2:102]!r}.", owner="erase")
    for round in which.rounds or []:
        if of_round(reader, stream.number, round) is None:
            raise NotFoundError(f"there is no instance with round {round}.", owner="erase")


async def _erase(
    coordinator: Coordinator,
    stream: ServiceStream,
    find: Callable[[Reader], Sequence[int]],
    by: str,
    whole: bool = False,
) -> Gone:
    """Erase the instances that ``find`` gives; ``whole`` says that nothing before them has contents then."""
    async with coordinator.history_lock:  # so that no closed question is brought back meanwhile
        await coordinator.commits.settled()
        async with coordinator.reading() as log:
            seqs = await log.in_thread(find, log.reader)
            commented = list(stream.questions.stored.commented)
            comments = await log.in_thread(comments_on, log.reader, stream.number, commented, set(seqs))
            held = await log.in_thread(
                _held, log.reader, stream.number, coordinator.until_stopping(seqs), stream.model.held()
            )
        wanted = set(seqs)
        with coordinator.changing(stream):
            for x in held:
                stream.model.let_go(x)
            open = _closed(stream, wanted, coordinator.clock.now())
            gold = stream.questions.stored.gold.by_number
            for number in [number for number, item in gold.items() if item.seq in wanted]:
                stream.remove_gold(number, by, coordinator.clock.now())
            stream.questions.forget_contents(wanted)
        for first in range(0, len(seqs), PART):
            part = seqs[first : first + PART]
            erasures = [Erasure(stream.number, [*part, *(comments if first == 0 else ())])]
            with coordinator.changing(stream):
                stream.note("erased", Erased(by, len(part), part[-1] if whole else 0), coordinator.clock.now())
                commit = coordinator.commit(stream, first == 0, erasures)
            await asyncio.shield(commit)
        if seqs:
            await coordinator.scrub()
        return Gone(len(seqs), open)


def _held(reader: Reader, stream: int, seqs: Iterable[int], held: set[bytes]) -> list[Any]:
    """Those of these instances that the model stores unchanged."""
    found, size = [], max(map(len, held), default=0)
    for seq in seqs if held else ():
        event = reader.event(stream, seq)
        if event is not None and event.row is not None:
            x = row_codec.from_bytes(event.row)
            x = x if isinstance(x, np.ndarray) else x[:, : size // 8].toarray().reshape(-1)
            if x.tobytes()[:size] in held:
                found.append(x)
    return found


def _closed(stream: ServiceStream, seqs: set[int], now: float) -> int:
    """Close the questions about these instances by their answers; returns the number of those without a label."""
    forgotten = 0
    for question in [each for each in stream.questions.open.values() if each.seq in seqs]:
        if question.answers and not question.told:
            for outcome in stream.commands.concluded(question):
                stream.record(outcome, now)
        if question.round in stream.questions.open:  # there are no answers, or they do not decide
            fact = GoldClosed(None, ERASED) if question.gold else Forgotten(ERASED)
            stream.record((question.round, fact), now)
            forgotten += 1
    return forgotten


def _found(reader: Reader, stream: ServiceStream, which: Which, places: Sequence[int]) -> list[int]:
    """The event numbers of the wanted instances that have contents."""
    if which.subject is not None:
        return reader.of_subject(stream.number, which.subject)
    if which.before is not None:
        until = last_before(reader, stream.number, which.before)
        return reader.with_contents(stream.number, 0, until, 1 << 62)
    if which.ids is not None:
        found: list[Event | None] = [*reader.by_keys(stream.number, list(map(key_of, which.ids)))]
        found += _withheld(reader, stream.number, [*places, *(facts_of(event).place for event in found if event)])
    else:
        found = [of_round(reader, stream.number, round) for round in which.rounds or []]
    return sorted({event.seq for event in found if event is not None and event.row is not None})


def _withheld(reader: Reader, stream: int, places: Sequence[int]) -> list[Event]:
    """The earlier rounds of instances that were withheld, by the places in the backlog to which they came back."""
    found: list[Event] = []
    while events := reader.by_keys(stream, [f"{WITHHELD}{place}" for place in places if place]):
        found += events
        places = [facts_of(event).place for event in events]
    return found


class Retention:
    """Erases the contents of instances whose retention time is over, and remembers when to check each stream again."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._next: dict[int, float] = {}

    async def look(self) -> None:
        """Erase what is due."""
        for stream in list(self._coordinator.by_number.values()):
            keep, now = stream.settings.erase, self._coordinator.clock.now()
            if keep is None or stream.aside or now < self._next.get(stream.number, 0.0):
                continue
            self._next[stream.number] = now + min(keep / 10.0, LONGEST_REST)
            try:
                await self._due(stream, now - keep)
            except Exception as error:  # other streams are checked all the same
                facts = {"stream": stream.name}
                logger.error("contents could not be erased", exc_info=error, extra={"facts": facts})

    async def _due(self, stream: ServiceStream, before: float) -> Gone:
        erased = stream.summary().erased

        def find(reader: Reader) -> list[int]:
            until = last_before(reader, stream.number, before)
            return reader.with_contents(stream.number, erased, until, 1 << 62)

        waiting = len(await _erase_waiting(self._coordinator, stream, Which(before=before), RETENTION))
        async with self._coordinator.reading() as log:
            if not await log.in_thread(find, log.reader):
                return Gone(waiting, 0)
        return await _erase(self._coordinator, stream, find, RETENTION, whole=True)


async def retain(coordinator: Coordinator) -> None:
    """Erase what is due, periodically."""
    retention = Retention(coordinator)
    while coordinator.broken is None:
        await asyncio.sleep(PAUSE)
        try:
            await retention.look()
            await purge_all(coordinator)
            await coordinator.scrub_again()
        except Exception as error:
            logger.error("contents could not be erased", exc_info=error)
