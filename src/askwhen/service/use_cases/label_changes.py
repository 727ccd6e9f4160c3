"""Adds, renames and merges the labels of a stream while it runs.

A new name changes words only. Where the set of labels changes, the model is retrained from the log with the decisions
and answers of the log, so that it knows the labels at once and no answer is lost.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from ...errors import InputError
from ..domain.stream import ServiceStream
from ..errors import ConflictError
from ..events.kinds import Fact, LabelRenamed, LabelsAdded, LabelsMerged, facts_of
from ..events.numbers import NUMBERS
from ..events.settings import MOST_AT_ONCE, MOST_LABELS, MOST_OPEN, OPEN, check_label
from ..runtime.coordinator import Coordinator
from ..store.records import Event
from .idempotency_keys import stored_key
from .replaying import replay_with

F = TypeVar("F", LabelsAdded, LabelRenamed, LabelsMerged)


async def add(
    coordinator: Coordinator, stream: ServiceStream, labels: list[str], by: str, key: str | None = None
) -> None:
    """Offer more labels from now on."""

    def check() -> None:
        known, is_open = stream.questions.labels, stream.settings.labels == OPEN
        most = MOST_OPEN if is_open else MOST_AT_ONCE if stream.settings.several else MOST_LABELS
        if not labels or len(set(labels)) < len(labels):
            raise InputError("give at least one label, and each of them once.", owner="labels", parameter="labels")
        if len(known) + len(labels) > most:
            raise InputError(
                f"the stream can have at most {most:,} labels: it has {len(known):,}, and {len(labels):,} are new.",
                owner="labels",
                parameter="labels",
            )
        for label in labels:
            _check_new(stream, label)

    async def act(stored: str | None) -> Event:
        check()
        if stream.settings.labels == OPEN:
            return await _noted(coordinator, stream, LabelsAdded(labels, by), stored)
        return await replay_with(coordinator, stream, LabelsAdded(labels, by), stored)

    await _once(coordinator, stream, key, act, LabelsAdded(labels, by))


async def rename(
    coordinator: Coordinator, stream: ServiceStream, label: str, to: str, by: str, key: str | None = None
) -> None:
    """Give a label another name, also where it was given or predicted before."""

    async def act(stored: str | None) -> Event:
        _check_known(stream, label)
        if to == label:
            raise InputError(f"the label is called {label!r} already.", owner="labels", parameter="to")
        if to in stream.questions.labels:
            raise ConflictError(
                f"there is a label {to!r} already; to make both one label, merge {label!r} into it.",
                owner="labels",
                parameter="to",
            )
        _check_new(stream, to)
        return await _noted(coordinator, stream, LabelRenamed(label, to, by), stored)

    await _once(coordinator, stream, key, act, LabelRenamed(label, to, by))


async def merge(
    coordinator: Coordinator, stream: ServiceStream, label: str, into: str, by: str, key: str | None = None
) -> None:
    """Let a label become part of another one, also where it was given or predicted before."""

    async def act(stored: str | None) -> Event:
        _check_known(stream, label)
        _check_known(stream, into)
        if label == into:
            raise InputError(f"{label!r} cannot be merged with itself; name two labels.", owner="labels")
        if len(stream.questions.labels) < 3 and stream.settings.labels != OPEN:
            raise ConflictError(
                "the stream has two labels, and with one there is nothing to decide; add a label first.", owner="labels"
            )
        return await replay_with(coordinator, stream, LabelsMerged(label, into, by), stored)

    await _once(coordinator, stream, key, act, LabelsMerged(label, into, by))


async def _once(
    coordinator: Coordinator,
    stream: ServiceStream,
    key: str | None,
    act: Callable[[str | None], Awaitable[Event]],
    wanted: F,
) -> None:
    """Change labels, once for each key, one change after the other."""
    stored = stored_key("g", key)

    if stream.settings.labels == NUMBERS:
        raise InputError("the labels of this stream are numbers, which have no names.", owner="labels")

    async def locked() -> Event:
        async with coordinator.history_lock:
            await coordinator.commits.settled()
            return await act(stored)

    event, again = await coordinator.idempotency.once(stream.number, stored, locked)
    fact = facts_of(event)
    if again and (not isinstance(fact, type(wanted)) or _without_name(fact) != _without_name(wanted)):
        raise ConflictError("this key was used for another change.", owner="labels", parameter="key")


def _without_name(fact: Fact) -> tuple[object, ...]:
    return tuple(getattr(fact, name) for name in fact.__struct_fields__ if name != "by")


async def _noted(coordinator: Coordinator, stream: ServiceStream, fact: Fact, key: str | None) -> Event:
    with coordinator.changing(stream):
        event = stream.note(fact.event_kind, fact, coordinator.clock.now(), key=key)
    await coordinator.committed(stream)
    return event


def _check_known(stream: ServiceStream, label: str) -> None:
    if label not in stream.questions.labels:
        raise InputError(f"the stream has no label {label[:100]!r}.", owner="labels", parameter="label")


def _check_new(stream: ServiceStream, label: str) -> None:
    check_label(label)
    if label != label.strip():
        raise InputError(f"a label has no spaces around it, got {label!r}.", owner="labels", parameter="label")
    if label in stream.questions.labels:
        raise ConflictError(f"there is a label {label!r} already.", owner="labels", parameter="label")
