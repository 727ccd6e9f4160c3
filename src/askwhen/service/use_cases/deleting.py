"""Deletes streams for good: log, snapshots, backlog, history of the accuracy, and messages about them.

In the log of the service an event stays, with who has deleted which stream and when. The rows are deleted in parts,
since one transaction for all would hold up the others; a start goes on where a kill left it.
"""

from __future__ import annotations

import asyncio

import msgspec

from ..domain.stream import ServiceStream
from ..errors import ConflictError
from ..runtime.coordinator import Coordinator
from ..store.records import Reader

PART = 5_000


async def delete(coordinator: Coordinator, stream: ServiceStream, by: str) -> None:
    """Delete a stream; it must be archived, so that it has stopped and a slip deletes nothing."""
    if not stream.aside and stream.summary().state != "archived":
        raise ConflictError(
            f"the stream {stream.name} is not archived; archive it first, then delete it for good.", owner="stream"
        )
    async with coordinator.history_lock:
        await coordinator.commits.settled()
        async with coordinator.reading() as log:
            messages = await log.in_thread(_messages_about, log.reader, stream.name)
        if not stream.aside:
            await coordinator.committed(stream)
        if stream.number not in coordinator.by_number:
            return  # another request was faster
        await coordinator.remove(stream, by, messages)
    await purge_all(coordinator)


async def purge_all(coordinator: Coordinator) -> None:
    """Delete the rows of deleted streams."""
    gone = False
    for number in list(coordinator.deleted):
        for each in (number, -number):
            gone = await _purged(coordinator, each) or gone
        coordinator.deleted.discard(number)
    if gone:
        await coordinator.scrub()


async def _purged(coordinator: Coordinator, number: int) -> bool:
    """Delete all rows of a stream, oldest first; returns whether there were any."""
    async with coordinator.reading() as log:
        last, size = await log.in_thread(lambda: (log.reader.last(number), log.reader.backlog_size(number)[0]))
        first = await log.in_thread(_first, log.reader, number) if last else 0
    if last == 0 and size == 0:
        return False
    for until in [*range(first + PART, last, PART), last]:
        await coordinator.drop(number, until)
        await asyncio.sleep(0)
    return True


def _first(reader: Reader, number: int) -> int:
    return reader.events(number, 0, 1)[0].seq


def _messages_about(reader: Reader, name: str) -> list[str]:
    """The ids of messages that wait for webhooks and are about a stream."""
    return [each.id for each in reader.messages() if _stream_of(each.body) == name]


def _stream_of(body: str) -> object:
    found = msgspec.json.decode(body)
    data = found.get("data") if isinstance(found, dict) else None
    return data.get("stream") if isinstance(data, dict) else None
