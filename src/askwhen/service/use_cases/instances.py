"""Instances in, predictions and questions out."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable
from typing import Any, NamedTuple

import msgspec

from ...errors import AskwhenError, InputError
from ..domain.stream import ServiceStream
from ..events.kinds import Instance, facts_of
from ..runtime.coordinator import Coordinator
from ..runtime.idempotency import Claim
from ..store.records import Event

LONGEST_KEY = 200
DEEPEST = 32
"""Largest nesting of objects and arrays in what annotators see."""


class Item(NamedTuple):
    """A validated instance: features, what annotators see, key, priority, subject."""

    x: Any
    shown: bytes | None
    key: str | None
    priority: float
    subject: str | None = None


class PlayedRound(NamedTuple):
    """A round: its event, its facts where they are at hand, and whether an earlier request played it."""

    event: Event
    fact: Instance | None
    again: bool


class Raw(msgspec.Struct, forbid_unknown_fields=True):
    """An instance as it comes: ``x`` as the stream's features say; ``show`` is what annotators see in addition.

    ``subject`` is the key of the client or person it is about, so that all of theirs can be erased together.
    """

    x: Any
    id: str | None = None
    priority: float = 0.0
    show: Any = None
    subject: str | None = None


class Decision(msgspec.Struct, omit_defaults=True):
    """The decision about an instance. ``question`` is the number to answer with, where the label is wanted."""

    round: int
    prediction: str | None
    margin: float
    probability: float
    asked: bool
    why: str
    id: str | None = None
    question: int | None = None
    certainty: float | None = None
    uncertainty: float | None = None
    again: bool = False


def checked(stream: ServiceStream, raw: Raw) -> Item:
    """Validate an instance and turn it into features."""
    key = None if raw.id is None else key_of(raw.id)
    if not math.isfinite(raw.priority):
        raise InputError("priority must be a finite number.", owner="instance", parameter="priority")
    if raw.show is not None and not is_shallow(raw.show, DEEPEST):
        raise InputError(f"show must be nested at most {DEEPEST} deep.", owner="instance", parameter="show")
    x = stream.reader.instance(raw.x)
    shown = None
    if stream.reader.keeps_input or raw.show is not None:
        seen = {"x": raw.x} if stream.reader.keeps_input else {}
        shown = msgspec.json.encode(seen | ({} if raw.show is None else {"show": raw.show}))
    if raw.subject is not None:
        check_subject(raw.subject)
    return Item(x, shown, key, raw.priority, raw.subject)


def check_subject(subject: str) -> None:
    """Refuse a subject that cannot be stored."""
    if not 0 < len(subject) <= LONGEST_KEY:
        raise InputError(f"subject must have 1 to {LONGEST_KEY} characters.", owner="instance", parameter="subject")
    _storable(subject, "subject")


def key_of(id: str) -> str:
    """The id of an instance as it is stored in the log."""
    if not 0 < len(id) <= LONGEST_KEY:
        raise InputError(f"id must have 1 to {LONGEST_KEY} characters.", owner="instance", parameter="id")
    return _storable("i:" + id, "id")


def is_shallow(value: Any, deepest: int) -> bool:
    """Whether objects and arrays in a value are nested at most so deep."""
    if not isinstance(value, (dict, list)):
        return True
    inside = value.values() if isinstance(value, dict) else value
    return deepest > 0 and all(is_shallow(each, deepest - 1) for each in inside)


def _storable(text: str, parameter: str) -> str:
    """A text that every database can store; others are refused."""
    if "\0" in text:
        raise InputError(f"{parameter} must not have a null character.", owner="instance", parameter=parameter)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{parameter} must be text.", owner="instance", parameter=parameter) from None
    return text


async def play(coordinator: Coordinator, stream: ServiceStream, raw: Raw) -> Decision:
    """Play one instance."""
    (found,) = await play_all(coordinator, stream, [raw])
    if isinstance(found, AskwhenError):
        raise found
    return found


async def play_all(
    coordinator: Coordinator, stream: ServiceStream, raws: list[Raw | AskwhenError]
) -> list[Decision | AskwhenError]:
    """Play instances in order, in one commit; each gives a decision or the reason of its refusal."""
    return await (await begin(coordinator, stream, raws))


async def begin(
    coordinator: Coordinator, stream: ServiceStream, raws: list[Raw | AskwhenError]
) -> Awaitable[list[Decision | AskwhenError]]:
    """Play instances; the awaitable returned waits for their commit, so that the next ones can be played meanwhile."""
    await coordinator.warmups.wait_for_rounds(stream.number)
    items: list[Item | AskwhenError] = []
    for raw in raws:
        try:
            items.append(raw if isinstance(raw, AskwhenError) else checked(stream, raw))
        except AskwhenError as error:
            items.append(error)
    keys = [item.key for item in items if isinstance(item, Item) and item.key is not None]
    claim = await coordinator.idempotency.claim(stream.number, keys)
    try:
        found = _play(coordinator, stream, items, claim)
        done = coordinator.commit(stream) if stream.uncommitted else None
    except BaseException:
        claim.release()
        raise
    return _end(found, claim, done)


def _play(
    coordinator: Coordinator, stream: ServiceStream, items: list[Item | AskwhenError], claim: Claim
) -> list[PlayedRound | AskwhenError | str]:
    """What came of each instance: a round, an error, or the key that another request is playing."""
    found: list[PlayedRound | AskwhenError | str] = []
    with coordinator.changing(stream):
        now = coordinator.clock.now()
        for item in items:
            if isinstance(item, AskwhenError):
                found.append(item)
            elif item.key is not None and item.key in claim.known:
                found.append(PlayedRound(claim.known[item.key], None, True))
            elif item.key is not None and item.key in claim.elsewhere:
                found.append(item.key)
            else:
                try:
                    stream.check_playing()
                    event, fact = stream.play(item.x, item.shown, item.key, now, item.priority, item.subject)
                except AskwhenError as error:
                    found.append(error)
                    continue
                found.append(PlayedRound(event, fact, False))
                if item.key is not None:  # the same key may come again in this batch
                    claim.known[item.key] = event
    return found


async def _end(
    found: list[PlayedRound | AskwhenError | str], claim: Claim, done: asyncio.Future[None] | None
) -> list[Decision | AskwhenError]:
    """Wait for the commit, and for the requests that claimed some keys before."""
    try:
        if done is not None:
            await asyncio.shield(done)
        claim.resolve(claim.known)
    finally:
        claim.release()
    decisions: list[Decision | AskwhenError] = []
    for each in found:
        try:
            if isinstance(each, str):
                event = await claim.wait(each)
                assert event is not None
                each = PlayedRound(event, None, True)
            decisions.append(each if isinstance(each, AskwhenError) else decided(each))
        except AskwhenError as error:
            decisions.append(error)
    return decisions


def decided(played: PlayedRound) -> Decision:
    """What was decided about an instance, from its event."""
    event = played.event
    fact = facts_of(event) if played.fact is None else played.fact
    assert isinstance(fact, Instance)
    return Decision(
        fact.round,
        fact.prediction,
        fact.margin,
        fact.probability,
        fact.asked,
        fact.why,
        None if event.key is None else event.key[2:],
        fact.round if fact.asked else None,
        fact.certainty,
        fact.uncertainty,
        played.again,
    )
