"""Advice that comes after its instance: counted while that waits for its decision, and otherwise stored and shown."""

from __future__ import annotations

from typing import Any

import msgspec

from ...errors import InputError
from ..domain.stream import ServiceStream
from ..errors import ConflictError
from ..events.advice import Advice, GivenAdvice
from ..events.kinds import Advised, Instance, facts_of, id_of
from ..runtime.coordinator import Coordinator
from ..store.records import Event, Reader
from .advice_input import read_advice
from .advice_shown import late_advice
from .idempotency_keys import stored_key
from .instances import key_of
from .labels import instance_of


class AdviceTaken(msgspec.Struct, omit_defaults=True):
    """Advice as it was stored. ``counted`` says whether it came before the decision about the instance."""

    counted: bool
    round: int | None = None
    id: str | None = None
    again: bool = False


async def advise(
    coordinator: Coordinator,
    stream: ServiceStream,
    by: str,
    advice: dict[str, Any],
    id: str | None = None,
    round: int | None = None,
    key: str | None = None,
) -> AdviceTaken:
    """Take advice on an instance, given by its id or its round."""
    if (id is None) == (round is None):
        raise InputError("give either the id of the instance, or its round.", owner="advice")
    stored = stored_key("d", key)
    given = read_advice(stream, advice, "advice")
    if given is None:
        raise InputError("give what at least one adviser says.", owner="advice", parameter="advice")

    async def act() -> Event | None:
        async with coordinator.history_lock:
            if id is not None and await _hear(coordinator, stream, key_of(id), given):
                return None
            instance = await _decided(coordinator, stream, id, round)
            async with coordinator.reading() as log:
                known = await log.in_thread(_known, log.reader, stream.number, instance)
            with coordinator.changing(stream):
                said = stream.label_names.advice(given)
                new = {name: each for name, each in said.items() if known.get(name) != each}
                if not new:
                    return instance
                fact = Advised(instance.seq, new, by)
                event = stream.note("advised", fact, coordinator.clock.now(), facts_of(instance).round, stored)
            await coordinator.committed(stream)
            return event

    event, again = await coordinator.idempotency.once(stream.number, stored, act)
    if event is None:
        return AdviceTaken(True, None, id)
    instance = event
    if again or event.kind == "advised":
        instance = await _decided(coordinator, stream, id, round)
    said, fact = stream.label_names.advice(given), facts_of(instance)
    assert isinstance(fact, Instance)
    if again and not _is_of(event, instance, said):
        raise ConflictError("this key was used for something else.", owner="key", parameter="key")
    counted = fact.advice is not None and said.items() <= fact.advice.items()
    return AdviceTaken(counted, fact.round, id_of(instance), again)


async def _hear(coordinator: Coordinator, stream: ServiceStream, key: str, given: GivenAdvice) -> bool:
    """Give advice to an instance that waits in the backlog; returns whether it does."""
    while True:
        await coordinator.commits.settled()
        with coordinator.changing(stream):
            item = coordinator.waiting_item(stream, key)
            if item is None:
                return False
            if not stream.backlog.is_leaving(item.place):  # otherwise the log has it with the next commit
                stream.hear(item, given)
                break
    await coordinator.committed(stream)
    return True


async def _decided(coordinator: Coordinator, stream: ServiceStream, id: str | None, round: int | None) -> Event:
    """An instance that is decided."""
    instance = await instance_of(coordinator, stream, id, round)
    if facts_of(instance).back:
        raise ConflictError(
            "the instance of this round waits in the backlog for another decision; name it by its id.", owner="advice"
        )
    return stream.label_names.event(instance)


def _known(reader: Reader, stream: int, instance: Event) -> Advice:
    """What is said of an instance so far."""
    fact: Instance = facts_of(instance)
    return (fact.advice or {}) | late_advice(reader.of_question(stream, fact.round))


def _is_of(event: Event, instance: Event, said: Advice) -> bool:
    """Whether an event has this late advice on an instance, or some of it, where the rest was known."""
    fact = facts_of(event)
    return event.seq == instance.seq or (
        isinstance(fact, Advised) and fact.instance == instance.seq and fact.advice.items() <= said.items()
    )
