"""``replay``: retrains the model of a stream from its corrected log, while the stream goes on.

Labels that are added or merged are learnt in this way too, in the same commit as the change.
"""

from __future__ import annotations

from ..domain.retraining import Retraining, drop_learnt_corrections, last_given, last_labels
from ..domain.setting_changes import with_labels
from ..domain.stream import ServiceStream
from ..events.kinds import LabelsAdded, LabelsMerged, Replayed
from ..events.label_names import LabelNames
from ..events.settings import Settings
from ..runtime.coordinator import Coordinator
from ..runtime.recovery import all_events
from ..store.records import ALL, Event

CHUNK = 1_000


async def replay(coordinator: Coordinator, stream: ServiceStream, by: str) -> int:
    """Retrain the model, in another thread, and continue with it; returns the number of labels that it learnt."""
    async with coordinator.history_lock:
        made = await _retrained(coordinator, stream, stream.settings)
        with coordinator.changing(stream):
            take(stream, made)
            told = _note(coordinator, stream, made, by)
        await coordinator.committed(stream, snapshot=True)
        return told


async def replay_with(
    coordinator: Coordinator, stream: ServiceStream, fact: LabelsAdded | LabelsMerged, key: str | None
) -> Event:
    """Add or merge labels, with a model that knows them; the caller holds the ``history_lock``."""
    merged = [(ALL, fact.label, fact.into)] if isinstance(fact, LabelsMerged) else []
    names = LabelNames(merged, stream.settings.several)
    made = await _retrained(coordinator, stream, with_labels(stream.settings, fact), names)
    with coordinator.changing(stream):
        event = stream.note(fact.event_kind, fact, coordinator.clock.now(), key=key)
        take(stream, made)
        _note(coordinator, stream, made, fact.by)
    await coordinator.committed(stream, snapshot=True)
    return event


async def _retrained(
    coordinator: Coordinator, stream: ServiceStream, settings: Settings, names: LabelNames | None = None
) -> Retraining:
    """A model that has played the whole log; it must be taken before anything else happens.

    With ``names``, the labels have changed, and the decisions of the log are kept.
    """
    await coordinator.commits.settled()
    keeps_pair = not isinstance(settings.labels, str) and set(stream.model.pair) == set(settings.labels)
    async with coordinator.reading() as log:
        reader = log.reader

        def all_of(kind: str) -> list[Event]:
            found = reader.events(stream.number, 0, ALL, (kind,))
            return found if names is None else list(map(names.event, found))

        labels = await log.in_thread(lambda: last_labels(all_of("corrected")))
        given = await log.in_thread(lambda: last_given(all_of("volunteered")))
        made = Retraining(
            settings,
            labels,
            given,
            lambda seq: reader.event(stream.number, seq),
            pair=stream.model.pair if keeps_pair else (),
            created=stream.current.created,
            names=names,
        )
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
    return made


def _note(coordinator: Coordinator, stream: ServiceStream, made: Retraining, by: str) -> int:
    told = sum(label is not None for label in made.told.values())
    stream.note("replayed", Replayed(by, told), coordinator.clock.now())
    return told


def take(stream: ServiceStream, made: Retraining) -> None:
    """Replace the model of a stream by the retrained one."""
    stream.state.unasked, stream.state.passed = set(made.unasked), made.passed
    drop_learnt_corrections(stream.questions.stored, made)
    made.model.take_account(stream.model)
    stream.current.model = made.model
