"""Comments of annotators and reviewers on questions, which only reviewers read."""

from __future__ import annotations

import msgspec

from ...errors import InputError
from ..domain.stream import ServiceStream
from ..errors import ConflictError
from ..events.kinds import Commented, facts_of
from ..runtime.coordinator import Coordinator
from ..store.records import Event, Reader
from .idempotency_keys import stored_key
from .log_positions import of_round

LONGEST_COMMENT = 2_000


class Comment(msgspec.Struct):
    """A comment; without a name where reviews are blind, and without a text once the instance was erased."""

    text: str | None
    time: float
    name: str | None = None


async def comment(
    coordinator: Coordinator, stream: ServiceStream, round: int, annotator: str, text: str, key: str | None = None
) -> None:
    """Store a comment on an instance, by its round: of a question, open or closed, or of none."""
    text = text.strip()
    if not 0 < len(text) <= LONGEST_COMMENT or not all(each.isprintable() or each in "\n\t" for each in text):
        raise InputError(f"a comment must be a printable text of 1 to {LONGEST_COMMENT:,} characters.", owner="comment")
    stored = stored_key("m", key)

    async def act() -> Event:
        async with coordinator.history_lock:
            await coordinator.commits.settled()
            async with coordinator.reading() as log:
                instance = await log.in_thread(_unasked, log.reader, stream.number, round)
            with coordinator.changing(stream):
                event = stream.comment(round, annotator, text, coordinator.clock.now(), stored, instance)
            await coordinator.committed(stream)
            return event

    event, _ = await coordinator.idempotency.once(stream.number, stored, act)
    fact = facts_of(event)
    if not isinstance(fact, Commented) or (fact.annotator, event.question) != (annotator, round):
        raise ConflictError("this key was used for something else.", owner="key", parameter="key")


def comments_in(history: list[Event], blind: bool) -> list[Comment]:
    """The comments in the history of a question, oldest first."""
    return [
        Comment(
            None if event.shown is None else msgspec.json.decode(event.shown, type=str),
            event.time,
            None if blind else facts_of(event).annotator,
        )
        for event in history
        if event.kind == "commented"
    ]


def _unasked(reader: Reader, stream: int, round: int) -> Event | None:
    """The instance of a round that was not asked about."""
    event = of_round(reader, stream, round)
    return None if event is None or facts_of(event).asked else event


def comments_on(reader: Reader, stream: int, rounds: list[int], instances: set[int]) -> list[int]:
    """The event numbers of comments on these instances, which are erased with them."""
    found = []
    for round in rounds:
        history = reader.of_question(stream, round)
        named = {facts_of(event).instance for event in history if event.kind in ("commented", "gold chosen")}
        if history and (history[0].seq in instances or named & instances):
            found += [event.seq for event in history if event.kind == "commented" and event.shown is not None]
    return found
