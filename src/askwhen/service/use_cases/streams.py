"""Making and changing streams. Nothing is ever destroyed: an archived stream keeps its log."""

from __future__ import annotations

import secrets
from typing import Any

import msgspec

from ..domain.setting_changes import Changes, differences
from ..domain.stream import Stream
from ..errors import ConflictError
from ..events.kinds import Changed, Created, Renamed, SettingsChanged, facts_of
from ..events.settings import Settings, check_name, check_settings
from ..runtime.coordinator import SERVICE, Desk
from ..store.records import Event
from .idempotency_keys import stored_key

MOST_STREAMS = 10_000


async def create(desk: Desk, name: str, settings: Settings, key: str | None = None) -> Stream:
    """A new stream; its seed is drawn where none is given. The same key gets the first stream again."""
    check_name(name)
    check_settings(settings)
    if settings.seed is None:
        settings = msgspec.structs.replace(settings, seed=secrets.randbits(62))
    stored = stored_key("c", key)

    async def act() -> Event:
        if len(desk.numbers) >= MOST_STREAMS:
            raise ConflictError(f"there are {MOST_STREAMS:,} streams already.", owner="stream")
        _check_free(desk, name)
        return await desk.add(desk.new_stream(name, settings), stored)

    event, _ = await desk.retries.once(SERVICE, stored, act)
    fact: Created = facts_of(event)
    if fact.name != name:
        raise ConflictError("this key was used for another stream.", owner="stream", parameter="key")
    return desk.numbers[fact.stream]


def _check_free(desk: Desk, name: str) -> None:
    if name in desk.streams:
        raise ConflictError(f"there is a stream {name} already.", owner="stream", parameter="name")


async def rename(desk: Desk, name: str, new: str) -> Stream:
    """Give a stream another name."""
    stream = desk.stream(name)
    check_name(new)
    if new != name:
        _check_free(desk, new)
        with desk.changing(stream):
            stream.note("renamed", Renamed(new), desk.clock.now())
            del desk.streams[name]
            desk.streams[new] = stream
        await desk.committed(stream)
    return stream


async def change(desk: Desk, name: str, what: str, by: str) -> Stream:
    """Pause, resume or archive a stream: "paused", "resumed" or "archived". Doing it twice is doing it once."""
    stream = desk.stream(name)
    state = "archived" if stream.state.archived else "paused" if stream.state.paused else "resumed"
    if state == "archived" and what == "paused":
        raise ConflictError(f"the stream {name} is archived.", owner="stream")
    if state != what:
        with desk.changing(stream):
            stream.note(what, Changed(by), desk.clock.now())
        await desk.committed(stream)
    await desk.commits.settled()
    return stream


async def change_settings(desk: Desk, name: str, changes: Changes, by: str, key: str | None = None) -> Stream:
    """Give some settings other values from now on; those that are not named stay. The same key changes them once."""
    stream, stored = desk.stream(name), stored_key("p", key)

    async def act() -> Event | None:
        with desk.changing(stream):
            found = differences(stream.settings, changes)
            event = None
            if found or stored:
                event = stream.note("settings changed", SettingsChanged(found, by), desk.clock.now(), key=stored)
        await desk.committed(stream)
        return event

    event, again = await desk.retries.once(stream.number, stored, act)
    if again and differences(stream.settings_at(event.seq + 1), changes):
        raise ConflictError("this key was used for another change.", owner="stream", parameter="key")
    return stream


def facts(stream: Stream) -> dict[str, Any]:
    """What there is to say of a stream at once; ``problem`` says why it is set aside, where it is."""
    brief = stream.brief()
    return {
        "name": brief.name,
        "state": "set aside" if stream.aside else brief.state,
        "settings": stream.settings,
        "rounds": brief.rounds,
        "asked": brief.asked,
        "told": brief.told,
        "forgotten": brief.forgotten,
        "waiting": brief.waiting,
        "disputed": brief.disputed,
        "corrected": brief.corrected,
        "updates": brief.updates,
        "seq": stream.seq,
        "problem": stream.aside or None,
    }
