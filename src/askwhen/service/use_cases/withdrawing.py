"""Takes back what was imported by mistake: instances that have no answer yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ...errors import InputError
from ..domain.stream import ServiceStream
from ..errors import ConflictError, NotFoundError
from ..events.kinds import Forgotten, Instance, facts_of
from ..runtime.coordinator import Coordinator
from ..store.records import Event, Reader
from .instances import check_word, key_of

WITHDRAWN = "it was withdrawn"
CHUNK, MOST_NAMED = 1_000, 1_000


class Withdraw(msgspec.Struct, forbid_unknown_fields=True):
    """What to withdraw: all that came from a source, such as an import; or instances by their ids or places."""

    source: str | None = None
    ids: list[str] | None = None
    places: list[int] | None = None


class Withdrawal(msgspec.Struct):
    """Numbers of instances that left the backlog, of questions that were dropped, and of instances that stay.

    ``kept`` are those that were decided: they are in the log, and can be erased.
    """

    withdrawn: int
    dropped: int
    kept: int


class Source(msgspec.Struct):
    """A source of instances that wait in the backlog, and their number."""

    source: str
    waiting: int


async def sources(coordinator: Coordinator, stream: ServiceStream) -> list[Source]:
    """The sources of instances in the backlog, newest first."""
    await coordinator.commits.settled()
    async with coordinator.reading() as log:
        found = await log.in_thread(log.reader.backlog_sources, stream.number)
    return [Source(name, number) for name, number in found]


async def withdraw(coordinator: Coordinator, stream: ServiceStream, which: Withdraw, by: str) -> Withdrawal:
    """Take instances back that no annotator has answered."""
    if [which.source, which.ids, which.places].count(None) != 2:
        raise InputError("name what to withdraw by a source, by ids, or by places.", owner="withdraw")
    if which.source is not None:
        check_word(which.source, "source")
    keys = [key_of(id) for id in which.ids or []]
    named: Sequence[Any] | None = which.ids if which.ids is not None else which.places
    if named is not None and not 0 < len(named) <= MOST_NAMED:
        raise InputError(f"name between 1 and {MOST_NAMED:,} instances at once.", owner="withdraw")
    async with coordinator.history_lock:
        await coordinator.commits.settled()
        async with coordinator.reading() as log:
            decided = await log.in_thread(_decided, log.reader, stream.number, which.source, keys)
        with coordinator.changing(stream):
            if which.places is not None:
                places = coordinator.backlog_at(stream, which.places)
            elif which.source is not None:
                places = coordinator.backlog_places(stream, source=which.source)
            else:
                places = coordinator.backlog_by_keys(stream, keys)
            asked = [fact.round for fact in decided if fact.asked]
            if named is not None:
                _check(stream, len(places) + len(decided), len(set(named)), decided)
            now, dropped = coordinator.clock.now(), 0
            if places:
                stream.withdraw(places, by, now, which.source or "")
            for round in asked:
                question = stream.questions.open.get(round)
                if question is not None and not question.answers and not question.told:
                    stream.record((round, Forgotten(WITHDRAWN)), now)
                    dropped += 1
        await coordinator.committed(stream)
    return Withdrawal(len(places), dropped, len(decided))


def _check(stream: ServiceStream, found: int, named: int, decided: list[Instance]) -> None:
    """Refuse named instances that do not exist or have an answer."""
    if found < named:
        raise NotFoundError(f"the stream {stream.name} has not all of these instances.", owner="withdraw")
    for fact in decided:
        question = stream.questions.open.get(fact.round) if fact.asked else None
        if question is None or question.answers or question.told:
            raise ConflictError(
                f"the instance of round {fact.round} was {'answered' if fact.asked else 'decided'} already, so it "
                "cannot be withdrawn; its contents can be erased.",
                owner="withdraw",
            )


def _decided(reader: Reader, stream: int, source: str | None, keys: list[str]) -> list[Instance]:
    """The decided instances of a source, or those with these keys."""
    if source is None:
        return [facts_of(event) for event in reader.by_keys(stream, keys)]
    found: list[Instance] = []
    after = 0
    while events := reader.events(stream, after, CHUNK, ("instance",)):
        after = events[-1].seq
        found += [fact for fact in map(_instance, events) if fact.source == source and not fact.back]
    return found


def _instance(event: Event) -> Instance:
    fact: Instance = facts_of(event)
    return fact
