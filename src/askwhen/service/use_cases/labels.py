"""Unsolicited labels: of a seed set, a complaint, an annotation in another tool."""

from __future__ import annotations

import msgspec

from ...errors import InputError
from ..domain.stream import ERASED, ServiceStream
from ..errors import ConflictError, NotFoundError
from ..events.kinds import Volunteered, facts_of
from ..events.label_sets import Label
from ..runtime.coordinator import Coordinator
from ..store.records import Event
from .idempotency_keys import stored_key
from .instances import key_of
from .log_positions import of_round


class Labelled(msgspec.Struct, omit_defaults=True):
    """A label as it was stored. ``learnt`` says whether the model has learnt it, or will with the next replay."""

    round: int
    annotator: str
    learnt: bool
    id: str | None = None
    label: Label | None = None
    again: bool = False


async def volunteer(
    coordinator: Coordinator,
    stream: ServiceStream,
    annotator: str,
    label: str | None,
    id: str | None = None,
    round: int | None = None,
    key: str | None = None,
) -> Labelled:
    """Learn the label of an instance, given by its id or its round; without a label, take back one's own."""
    if (id is None) == (round is None):
        raise InputError("give either the id of the instance, or its round.", owner="label")
    await coordinator.commits.settled()
    if round is not None:
        with coordinator.changing(stream):
            _check_not_gold(stream, round)
    instance = await instance_of(coordinator, stream, id, round)
    stored = stored_key("l", key)

    async def act() -> Event:
        async with coordinator.history_lock:
            await coordinator.commits.settled()
            with coordinator.changing(stream):
                found = stream.volunteer(instance, annotator, label, coordinator.clock.now(), stored)
            await coordinator.committed(stream)
            return found

    event, again = await coordinator.idempotency.once(stream.number, stored, act)
    fact, asked = facts_of(event), facts_of(instance)
    if not isinstance(fact, Volunteered) or (fact.instance, fact.annotator) != (instance.seq, annotator):
        raise ConflictError("this key was used for something else.", owner="key", parameter="key")
    if fact.label != stream.label_now(label):
        raise ConflictError("this key was used for another label.", owner="key", parameter="key")
    return Labelled(
        asked.round, annotator, fact.learnt, instance.key and instance.key[2:], stream.seen_label(fact.label), again
    )


def _check_not_gold(stream: ServiceStream, round: int) -> None:
    """Refuse a label for a gold question as for any question that is open, has a label or lost its contents."""
    if stream.state.gold and any(event.kind == "gold placed" for event in stream.current.history(round)):
        stream.commands.check_unlabelled(round)
        raise ConflictError(ERASED, owner="label")


async def instance_of(
    coordinator: Coordinator, stream: ServiceStream, id: str | None, round: int | None = None
) -> Event:
    """The committed event of an instance."""
    if id is not None:
        found = await coordinator.events_of_keys(stream.number, [key_of(id)])
        if not found:
            raise NotFoundError(f"the stream {stream.name} has no instance {id[:100]!r}.", owner="label")
        return found[0]
    async with coordinator.reading() as log:
        event = await log.in_thread(of_round, log.reader, stream.number, round or 0)
    if event is None:
        raise NotFoundError(f"the stream {stream.name} has no round {round}.", owner="label")
    return event
