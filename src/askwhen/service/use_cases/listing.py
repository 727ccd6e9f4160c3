"""Makes the listing of instances from the log and the backlog: a part of what is new, whenever it is looked at."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import msgspec

from ..domain.stream import ServiceStream
from ..events.kinds import Commented, Flagged, Instance, LabelRenamed, LabelsMerged, Volunteered, facts_of
from ..events.label_names import LabelNames
from ..runtime.coordinator import Coordinator
from ..store.listing import LONGEST_TEXT, UNKNOWN, Listed, ListedItem, Mark, words_in
from ..store.records import ALL, BacklogItem, Event, Reader
from .instance_outcomes import Outcome, outcome_of

CHUNK, SOME = 2_000, 200
LONGEST = 1.0
"""Seconds for which one request brings the listing up to date."""

_OF_QUESTIONS = (
    *("answered", "undone", "disputed", "reviewed", "review undone"),
    *("told", "forgotten", "corrected", "volunteered", "commented", "flagged"),
)
"""Kinds of events after which the row of an instance may be another one."""

_RENAMED = (*LabelRenamed.event_kinds, *LabelsMerged.event_kinds)


class Listings:
    """Brings the listings of all streams up to date, one request after the other for each stream."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._locks: dict[int, asyncio.Lock] = {}

    async def catch_up(self, stream: ServiceStream, seconds: float = LONGEST) -> int:
        """Take over what is new, for so long at most; returns the number of events and instances that are left."""
        coordinator, end = self._coordinator, time.monotonic() + seconds
        async with self._locks.setdefault(stream.number, asyncio.Lock()), coordinator.reading() as log:
            await coordinator.commits.settled()
            while True:
                change = await log.in_thread(_next, log.reader, stream.number, stream.settings.several)
                if change is not None:
                    await asyncio.shield(coordinator.commits.add([], None, [change]))
                if change is None or time.monotonic() > end:
                    break
            return 0 if change is None else await log.in_thread(_left, log.reader, stream.number)


def _left(reader: Reader, stream: int) -> int:
    mark, last = reader.mark(stream), reader.backlog_size(stream)[1]
    return max(reader.last(stream) - mark.seq, 0) + max(last - mark.place, 0)


def _next(reader: Reader, stream: int, several: bool) -> Listed | None:
    """The rows of the next part of the log and of the backlog; None where nothing is new."""
    mark = reader.mark(stream)
    gone = reader.withdrawn(stream, SOME) if mark.untidy else []
    events = reader.events(stream, mark.seq, CHUNK)
    first = next((i for i, event in enumerate(events) if event.kind in _RENAMED), len(events))
    if events and first == 0:
        return _renamed(reader, stream, mark, events[0], several)
    events = events[:first]
    waiting = reader.backlog(stream, mark.place, CHUNK)
    if not events and not waiting:  # then those that are gone were not decided: that would be an event
        return Listed(stream, mark._replace(untidy=len(gone) == SOME), gone=gone) if mark.untidy else None
    items = [_new(event, facts_of(event)) for event in events if event.kind == "instance"]
    rounds = sorted({event.question for event in events if event.kind in _OF_QUESTIONS and event.question is not None})
    items += _changed(reader, stream, rounds)
    items += [_waiting(item) for item in waiting]
    seq, place = (events[-1].seq if events else mark.seq), (waiting[-1].place if waiting else mark.place)
    untidy = mark.untidy or any(event.kind == "withdrawn" for event in events)
    return Listed(stream, Mark(seq, place, untidy), items)


def _renamed(reader: Reader, stream: int, mark: Mark, event: Event, several: bool) -> Listed:
    """Some rows with the former name of a label get the new one; once there are none, the event is done.

    Rows that are made from now on have the current names already.
    """
    fact: LabelRenamed | LabelsMerged = facts_of(event)
    names = LabelNames([(ALL, fact.label, fact.to if isinstance(fact, LabelRenamed) else fact.into)], several)
    for label in reader.listed_labels(stream):
        new = names.now(label)
        if new is not None and new != label:
            return Listed(stream, mark, renamed=(label, new))
    return Listed(stream, mark._replace(seq=event.seq))


def _new(event: Event, fact: Instance) -> ListedItem:
    return _item(event, fact, outcome_of(fact, ()))._replace(words=_words(event, fact.source))


def item_of(seq: int, fact: Instance) -> int:
    """The number of a decided instance in the listing."""
    return -fact.place if fact.place else seq


def _item(event: Event, fact: Instance, outcome: Outcome) -> ListedItem:
    certainty = UNKNOWN if fact.certainty is None else fact.certainty
    facts = (outcome.label, outcome.state, fact.source or None, outcome.flagged, outcome.comments, outcome.people)
    return ListedItem(item_of(event.seq, fact), event.seq, event.time, fact.prediction, certainty, *facts)


def _waiting(item: BacklogItem) -> ListedItem:
    words = _words(item, item.source)
    return ListedItem(-item.place, None, item.time, None, UNKNOWN, None, "waiting", item.source, False, 0, (), words)


def _changed(reader: Reader, stream: int, rounds: list[int]) -> list[ListedItem]:
    """The rows of instances about which there are new events."""
    found = []
    for _, each in groupby(reader.of_questions(stream, rounds), lambda event: event.question):
        history = list(each)
        instance = instance_in(reader, history)
        if instance is not None:
            fact = facts_of(instance)
            found.append(_item(instance, fact, outcome_of(fact, history)))
    return found


def instance_in(reader: Reader, history: list[Event]) -> Event | None:
    """The instance that a history is about: one of its events, or named by one where it was not asked about."""
    for event in history:
        if event.kind == "instance":
            return event
        fact = facts_of(event)
        if isinstance(fact, (Volunteered, Flagged, Commented)) and fact.instance:
            return reader.event(event.stream, fact.instance)
    return None


def _words(each: Event | BacklogItem, source: str | None) -> str:
    """The words by which an instance is found: those of its id, its source, and what was shown."""
    seen: Any = None if each.row is None or each.shown is None else msgspec.json.decode(each.shown)
    texts, size = [each.key[2:] if each.key else "", source or ""], 0
    for text in _texts(seen):
        texts.append(text)
        size += len(text)
        if size > LONGEST_TEXT:
            break
    return " ".join(words_in(" ".join(texts)))


def _texts(value: Any) -> Iterator[str]:
    """All texts and numbers in a value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield str(value)
