"""``replay``: retrains the model of a stream from its corrected log, while the stream goes on."""

from __future__ import annotations

from ..domain.retraining import Retraining, drop_learnt_corrections, last_given, last_labels
from ..domain.stream import ServiceStream
from ..events.kinds import Replayed
from ..runtime.coordinator import Coordinator
from ..runtime.recovery import all_events
from ..store.records import ALL, Event

CHUNK = 1_000


async def replay(coordinator: Coordinator, stream: ServiceStream, by: str) -> int:
    """Retrain the model, in another thread, and continue with it; returns the number of labels that it learnt."""
    async with coordinator.history_lock:
        await coordinator.commits.settled()
        async with coordinator.reading() as log:
            reader = log.reader

            def all_of(kind: str) -> list[Event]:
                return reader.events(stream.number, 0, ALL, (kind,))

            labels = await log.in_thread(lambda: last_labels(all_of("corrected")))
            given = await log.in_thread(lambda: last_given(all_of("volunteered")))
            made = Retraining(stream.settings, labels, given, lambda seq: reader.event(stream.number, seq))
            while True:
                await log.in_thread(
                    lambda: made.follow(coordinator.until_stopping(all_events(reader, stream.number, made.seq)))
                )
                if stream.seq - made.seq < CHUNK:
                    break
                await coordinator.commits.settled()
            # The last events without an await, so that no new ones can come meanwhile.
            waiting = [event for event in coordinator.commits.unsettled() if event.stream == stream.number]
            made.follow(all_events(reader, stream.number, made.seq))
            made.follow(event for event in waiting if event.seq > made.seq)
            assert made.seq == stream.seq
        with coordinator.changing(stream):
            take(stream, made)
            told = sum(label is not None for label in made.told.values())
            stream.note("replayed", Replayed(by, told), coordinator.clock.now())
        await coordinator.committed(stream, snapshot=True)
        return told


def take(stream: ServiceStream, made: Retraining) -> None:
    """Replace the model of a stream by the retrained one."""
    stream.state.unasked, stream.state.passed = set(made.unasked), made.passed
    drop_learnt_corrections(stream.questions.stored, made)
    stream.current.model = made.model
