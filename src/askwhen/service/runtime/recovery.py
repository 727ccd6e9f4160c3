"""Recovery of the service after any end: the last snapshot of each stream, and the log since then."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from ..domain.backlog import Backlog
from ..domain.event_sourced_stream import StreamState, summary_of
from ..domain.stream import ServiceStream
from ..domain.summary import StreamSummary
from ..errors import StoreError
from ..events.kinds import Created, Instance, WentOn, facts_of
from ..store.records import ALL, BacklogItem, Event, Reader, Snapshot
from .provenance import differences

CHUNK = 2_000
Warn = Callable[[str, dict[str, Any]], None]
FindEvent = Callable[[int], Event | None]
FindEvents = Callable[[int], list[Event]]


class Recovered(NamedTuple):
    """An event to be recorded about the recovery of a stream, and the number of events after its snapshot."""

    note: WentOn | None
    tail: int


def created(reader: Reader) -> Iterator[Event]:
    """The log of the service itself."""
    return all_events(reader, 0, 0)


def all_events(reader: Reader, stream: int, after: int) -> Iterator[Event]:
    """The events of a stream after one of them, in chunks."""
    while True:
        found = reader.events(stream, after, CHUNK)
        yield from found
        if len(found) < CHUNK:
            return
        after = found[-1].seq


def event_lookups(reader: Reader, number: int) -> tuple[FindEvent, FindEvents]:
    """Functions with which a stream reads its events: one of them, and those of a question."""
    return lambda seq: reader.event(number, seq), lambda question: reader.of_question(number, question)


def stored_backlog(reader: Reader, number: int) -> Backlog:
    """The backlog of a stream, as it is in the store."""

    def read(shuffled: bool, limit: int) -> list[BacklogItem]:
        return reader.backlog_by_rank(number, limit) if shuffled else reader.backlog(number, 0, limit)

    return Backlog(lambda: reader.backlog_size(number), read)


def shell(fact: Created, reader: Reader) -> ServiceStream:
    """A stream without its content."""
    lookups, backlog = event_lookups(reader, fact.stream), stored_backlog(reader, fact.stream)
    return ServiceStream(fact.stream, fact.name, fact.settings, *lookups, begin=False, backlog=backlog)


def recover(stream: ServiceStream, reader: Reader, about: str, warn: Warn, play: bool = True) -> Recovered:
    """Bring a stream into memory, from its last snapshot and the log since then.

    Parameters
    ----------
    stream : ServiceStream
        As ``shell`` made it, or one that was unloaded.
    reader : Reader
        Where the log is.
    about : str
        The versions and the processor of this process.
    warn : callable
        Called with messages for the operator.
    play : bool, default True
        False continues from the snapshot without playing rounds again, as another version or processor does, too.
    """
    snapshot = _restored(stream, reader, warn)
    first, other = 0, []
    if snapshot is not None:
        first = snapshot.seq
        other = differences(snapshot.about, about)
    if play and not other:
        stream.current.read(all_events(reader, stream.number, stream.seq))
        return Recovered(None, stream.seq - first)
    why = ", ".join(other) or "asked to"
    rounds = skip_rounds(stream, all_events(reader, stream.number, stream.seq))
    if rounds == 0:
        return Recovered(None, stream.seq - first)
    warn("went on from a snapshot", {"stream": stream.name, "rounds": rounds, "why": why})
    return Recovered(WentOn(why, rounds), stream.seq - first)


def last_summary(fact: Created, reader: Reader) -> tuple[StreamSummary, int]:
    """The last known summary of a stream that cannot be recovered, and its last event."""
    summary = StreamSummary(fact.name)
    snapshot = reader.snapshot(fact.stream)
    if snapshot is not None:
        with contextlib.suppress(msgspec.MsgspecError, ValueError):
            summary = summary_of(msgspec.json.decode(snapshot.books, type=StreamState))
    for event in reader.events(fact.stream, 0, ALL, ("renamed",)):
        with contextlib.suppress(msgspec.MsgspecError, ValueError):
            summary.name = facts_of(event).name
    return summary, reader.last(fact.stream)


def _restored(stream: ServiceStream, reader: Reader, warn: Warn) -> Snapshot | None:
    """Restore the newest snapshot that can be read, and return it; without one, the stream begins empty."""
    before = ALL
    while (snapshot := reader.snapshot(stream.number, before)) is not None:
        try:
            stream.restore(snapshot.seq, snapshot.books, snapshot.model)
            break
        except Exception as error:
            facts = {"stream": stream.name, "event": snapshot.seq, "said": str(error)}
            warn("a snapshot cannot be read, and an older one is taken", facts)
            before = snapshot.seq
    else:
        stream.begin()
    if before < ALL and reader.events(stream.number, stream.seq, 1, ("replayed", "went on", "erased")):
        raise StoreError(
            f"the newest snapshots of stream {stream.name} cannot be read, and its model does not follow from older "
            "ones; restore a backup.",
            owner="serve",
        )
    return snapshot


def skip_rounds(stream: ServiceStream, events: Iterator[Event]) -> int:
    """Apply a log without playing its rounds; labels are learnt all the same. Returns the number of rounds."""
    rounds = 0
    for event in events:
        fact = facts_of(event)
        if isinstance(fact, Instance):
            stream.current.skip_round(event, fact)
            rounds += 1
        else:
            stream.current.apply(event, fact)
    return rounds
