"""Makes and changes streams. Nothing is destroyed here: an archived stream keeps its log."""

from __future__ import annotations

import secrets
from typing import Any

import msgspec

from ... import encoders
from ...errors import InputError
from ..domain.setting_changes import Changes, changed, differences
from ..domain.stream import ServiceStream
from ..errors import ConflictError
from ..events.kinds import Changed, Created, Renamed, SettingsChanged, facts_of
from ..events.settings import (
    NEWEST,
    OF_TEXTS,
    USUAL_OVERLAP,
    Features,
    Settings,
    TextVectors,
    check_name,
    check_settings,
    groups_named,
)
from ..runtime.coordinator import SERVICE, Coordinator
from ..store.records import Event
from .idempotency_keys import stored_key
from .people import check_groups
from .stream_schema import settled

MOST_STREAMS = 10_000


async def create(
    coordinator: Coordinator, name: str, settings: Settings, key: str | None = None, by: str = ""
) -> ServiceStream:
    """A new stream; its seed is drawn where none is given, and its default algorithm is the newest version.

    The same key gets the first stream again.
    """
    check_name(name)
    check_settings(settings)
    if settings.seed is None:
        settings = msgspec.structs.replace(settings, seed=secrets.randbits(62))
    if settings.version is None:
        settings = msgspec.structs.replace(settings, version=NEWEST)
    if settings.certainty is None:
        settings = msgspec.structs.replace(settings, certainty=2)
    if settings.repeats is None:
        settings = msgspec.structs.replace(settings, repeats=True)
    if settings.overlap is None:
        settings = msgspec.structs.replace(settings, overlap=USUAL_OVERLAP if settings.slots == 1 else 0.0)
    settings = msgspec.structs.replace(settings, features=_with_encoder(settings))
    stored = stored_key("c", key)

    async def act() -> Event:
        if len(coordinator.by_number) >= MOST_STREAMS:
            raise ConflictError(f"there are {MOST_STREAMS:,} streams already.", owner="stream")
        _check_free(coordinator, name)
        check_groups(coordinator, "stream", groups_named(settings))
        return await coordinator.add(coordinator.new_stream(name, settings), stored, by)

    event, _ = await coordinator.idempotency.once(SERVICE, stored, act)
    fact: Created = facts_of(event)
    if fact.name != name:
        raise ConflictError("this key was used for another stream.", owner="stream", parameter="key")
    return coordinator.by_number[fact.stream]


def _with_encoder(settings: Settings) -> Features:
    """The features of a new stream; its texts are encoded where that is possible, or where it is wanted."""
    features = settings.features
    if features.kind == "columns" and features.schema and isinstance(features.schema.get("columns"), list):
        return settled(settings, False)  # a whole schema says itself whether there are vectors
    possible = settings.version == NEWEST and settings.algorithm == "default" and features.kind in OF_TEXTS
    wanted = encoders.is_installed() if features.vectors is None and possible else features.vectors
    if wanted and not possible:
        raise InputError("vectors of texts are for the default algorithm in its newest version.", owner="stream")
    if features.kind == "columns":
        return settled(settings, bool(wanted))
    if wanted is not True:
        return features
    found = TextVectors(**encoders.load("static").descriptor())
    return msgspec.structs.replace(features, vectors=found)


def _check_free(coordinator: Coordinator, name: str) -> None:
    if name in coordinator.streams:
        raise ConflictError(f"there is a stream {name} already.", owner="stream", parameter="name")


async def rename(coordinator: Coordinator, name: str, new: str, by: str = "") -> ServiceStream:
    """Give a stream another name."""
    stream = coordinator.stream(name)
    check_name(new)
    if new != name:
        _check_free(coordinator, new)
        with coordinator.changing(stream):
            stream.note("renamed", Renamed(new, by), coordinator.clock.now())
            del coordinator.streams[name]
            coordinator.streams[new] = stream
        await coordinator.committed(stream)
    return stream


async def change(coordinator: Coordinator, name: str, what: str, by: str) -> ServiceStream:
    """Pause, resume or archive a stream: "paused", "resumed" or "archived". Doing it twice has no further effect."""
    stream = coordinator.stream(name)
    state = "archived" if stream.state.archived else "paused" if stream.state.paused else "resumed"
    if state == "archived" and what == "paused":
        raise ConflictError(f"the stream {name} is archived.", owner="stream")
    if state != what:
        with coordinator.changing(stream):
            stream.note(what, Changed(by), coordinator.clock.now())
        await coordinator.committed(stream)
    await coordinator.commits.settled()
    return stream


async def change_settings(
    coordinator: Coordinator, name: str, changes: Changes, by: str, key: str | None = None
) -> ServiceStream:
    """Change some settings from now on; those that are not named stay. The same key changes them once."""
    stream, stored = coordinator.stream(name), stored_key("p", key)

    async def act() -> Event | None:
        with coordinator.changing(stream):
            found, before = differences(stream.settings, changes), groups_named(stream.settings)
            check_groups(coordinator, "stream", groups_named(changed(stream.settings, found)) - before)
            event = None
            if found or stored:
                event = stream.note("settings changed", SettingsChanged(found, by), coordinator.clock.now(), key=stored)
        await coordinator.committed(stream)
        return event

    event, again = await coordinator.idempotency.once(stream.number, stored, act)
    if again and event is not None and differences(stream.current.settings_at(event.seq + 1), changes):
        raise ConflictError("this key was used for another change.", owner="stream", parameter="key")
    return stream


def facts(stream: ServiceStream, with_gold: bool = False) -> dict[str, Any]:
    """State, settings and counts of a stream; ``problem`` is why it is set aside, if it is.

    With ``with_gold``, gold questions are counted like all others in what is played, asked, told and forgotten.
    """
    summary = stream.summary()
    if with_gold and stream.loaded:
        gold = stream.questions.stored.gold
        summary = msgspec.structs.replace(
            summary,
            rounds=summary.rounds + gold.placed,
            asked=summary.asked + gold.placed,
            told=summary.told + gold.told,
            forgotten=summary.forgotten + gold.forgotten,
        )
    return {
        "name": summary.name,
        "state": "set aside" if stream.aside else summary.state,
        "settings": stream.settings,
        "rounds": summary.rounds,
        "asked": summary.asked,
        "told": summary.told,
        "forgotten": summary.forgotten,
        "waiting": summary.waiting,
        "disputed": summary.disputed,
        "corrected": summary.corrected,
        "updates": summary.updates,
        "seq": stream.seq,
        "problem": stream.aside or None,
    }
