"""A service as it was when it ended, however it ended: the last snapshot of each stream, and the log since."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from ..domain.event_sourced_stream import StreamState, summary_of
from ..domain.stream import Stream
from ..domain.summary import StreamSummary
from ..errors import StoreError
from ..events.kinds import Created, Instance, WentOn, facts_of
from ..store.records import ALL, Event, Reader, Snapshot
from .provenance import differences

CHUNK = 2_000
Say = Callable[[str, dict[str, Any]], None]


class Recovered(NamedTuple):
    """What is to be noted of the recovery of a stream, and how many events came after its snapshot."""

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


def looking(reader: Reader, number: int) -> tuple[Any, Any]:
    """What a stream looks its events up with: one of them, and those of a question."""
    return lambda seq: reader.event(number, seq), lambda question: reader.of_question(number, question)


def shell(fact: Created, reader: Reader) -> Stream:
    """A stream as it was made, without a model."""
    return Stream(fact.stream, fact.name, fact.settings, *looking(reader, fact.stream), begin=False)


def recover(stream: Stream, reader: Reader, about: str, say: Say, play: bool = True) -> Recovered:
    """Make a stream as it was; where rounds cannot be played again with the same bits, say what is to be noted.

    Parameters
    ----------
    stream : Stream
        As ``shell`` made it.
    reader : Reader
        Where the log is.
    about : str
        The versions and the processor of this process.
    say : callable
        Is told what a person should know.
    play : bool, default True
        False goes on from the snapshot, without playing rounds again.
    """
    stream.begin()
    snapshot = _restored(stream, reader, say)
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
    say("went on from a snapshot", {"stream": stream.name, "rounds": rounds, "why": why})
    return Recovered(WentOn(why, rounds), stream.seq - first)


def last_summary(fact: Created, reader: Reader) -> tuple[StreamSummary, int]:
    """The name of a stream that cannot be recovered, what its last snapshot has counted, and its last event."""
    summary = StreamSummary(fact.name)
    snapshot = reader.snapshot(fact.stream)
    if snapshot is not None:
        with contextlib.suppress(msgspec.MsgspecError, ValueError):
            summary = summary_of(msgspec.json.decode(snapshot.books, type=StreamState))
    for event in reader.events(fact.stream, 0, ALL, ("renamed",)):
        with contextlib.suppress(msgspec.MsgspecError, ValueError):
            summary.name = facts_of(event).name
    return summary, reader.last(fact.stream)


def _restored(stream: Stream, reader: Reader, say: Say) -> Snapshot | None:
    """Go back to the newest snapshot that can be read; which one. The log has everything that was before it, too."""
    before = ALL
    while (snapshot := reader.snapshot(stream.number, before)) is not None:
        try:
            stream.restore(snapshot.seq, snapshot.books, snapshot.model)
            break
        except Exception as error:
            said = {"stream": stream.name, "event": snapshot.seq, "said": str(error)}
            say("a snapshot cannot be read, and an older one is taken", said)
            before = snapshot.seq
    if before < ALL and reader.events(stream.number, stream.seq, 1, ("replayed", "went on", "erased")):
        raise StoreError(
            f"the newest snapshots of stream {stream.name} cannot be read, and its model does not follow from older "
            "ones; restore a backup.",
            owner="serve",
        )
    return snapshot


def skip_rounds(stream: Stream, events: Iterator[Event]) -> int:
    """Follow a log without playing its rounds: they are decided; labels are learnt all the same. How many rounds."""
    rounds = 0
    for event in events:
        fact = facts_of(event)
        if isinstance(fact, Instance):
            stream.current.skip_round(event, fact)
            rounds += 1
        else:
            stream.current.apply(event, fact)
    return rounds
