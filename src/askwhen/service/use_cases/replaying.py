"""``replay``: the model of a stream made again from its corrected log, while the stream goes on."""

from __future__ import annotations

from ..domain.retraining import Remaking, last_given, last_labels, settle
from ..domain.stream import Stream
from ..events.kinds import Replayed
from ..runtime.coordinator import Desk
from ..runtime.recovery import all_events
from ..store.records import ALL, Event

CHUNK = 1_000


async def replay(desk: Desk, stream: Stream, by: str) -> int:
    """Make the model again, in another thread, and take its place; how many labels it was told."""
    async with desk.late:
        await desk.commits.settled()
        async with desk.reading() as log:
            reader = log.reader

            def all_of(kind: str) -> list[Event]:
                return reader.events(stream.number, 0, ALL, (kind,))

            labels = await log.apart(lambda: last_labels(all_of("corrected")))
            given = await log.apart(lambda: last_given(all_of("volunteered")))
            made = Remaking(stream.settings, labels, given, lambda seq: reader.event(stream.number, seq))
            while True:
                await log.apart(lambda: made.follow(desk.going_on(all_events(reader, stream.number, made.seq))))
                if stream.seq - made.seq < CHUNK:
                    break
                await desk.commits.settled()
            # The rest without a pause, so that nothing can happen meanwhile.
            waiting = [event for event in desk.commits.unsettled() if event.stream == stream.number]
            made.follow(all_events(reader, stream.number, made.seq))
            made.follow(event for event in waiting if event.seq > made.seq)
            assert made.seq == stream.seq
        with desk.changing(stream):
            take(stream, made)
            told = sum(label is not None for label in made.told.values())
            stream.note("replayed", Replayed(by, told), desk.clock.now())
        await desk.committed(stream, snapshot=True)
        return told


def take(stream: Stream, made: Remaking) -> None:
    """Let the new model go on in the place of the old one."""
    stream.state.unasked, stream.state.passed = set(made.unasked), made.passed
    settle(stream.books.kept, made)
    stream.take(made.model)
