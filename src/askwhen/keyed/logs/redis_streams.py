"""Redis Streams as a log: a partition is a stream, an event the field ``event`` of an entry.

The address says which streams: ``redis://host:6379/0?streams=clicks:`` stands for all whose names begin with
``clicks:``. There are no consumer groups: a position is the id of the last entry that was committed, and the store
keeps it. A stream may be trimmed up to there, and no further.

Decisions go to a stream for each partition, one entry each, whose field ``decision`` is a line of JSON. Their ids
follow from the events, and Redis refuses an id that is not above the last one: writing again what was written changes
nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import redis

from ...errors import InputError
from ..errors import StoreError
from ..events import Batch, of_texts
from ..kind import Kind

_AT_ONCE = 5_000
_NOT_ABOVE = "equal or smaller"


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """An error of Redis is one sentence."""
    try:
        yield
    except redis.RedisError as error:
        raise StoreError(f"Redis cannot be used: {str(error).rstrip('.')}.", owner="keyed") from error


def _opened(address: str) -> tuple[Any, str]:
    """A connection, and what the names of the streams begin with."""
    parts = urlsplit(address)
    given = dict(parse_qsl(parts.query))
    prefix = given.pop("streams", "")
    if not prefix:
        raise InputError(f"say which streams, as in {address.partition('?')[0]}?streams=clicks:.", owner="keyed")
    return redis.Redis.from_url(urlunsplit(parts._replace(query=urlencode(given)))), prefix


class RedisLog:
    """The streams whose names begin alike."""

    def __init__(self, address: str) -> None:
        self._redis, self._prefix = _opened(address)

    def partitions(self) -> list[str]:
        """Their names without what they begin with, in order."""
        with _told():
            escaped = "".join(f"\\{letter}" if letter in "*?[]\\" else letter for letter in self._prefix)
            names = [name.decode() for name in self._redis.scan_iter(f"{escaped}*", count=1000, _type="stream")]
        if not names:
            raise InputError(f"there are no streams whose names begin with {self._prefix}.", owner="keyed")
        return sorted(name.removeprefix(self._prefix) for name in set(names))

    def reader(self, partition: str, kind: Kind) -> RedisReader:
        """Who reads a stream."""
        return RedisReader(self._redis, self._prefix + partition, kind)

    def append(self, partition: str, lines: list[bytes]) -> None:
        """Add events to a stream."""
        with _told():
            pipe = self._redis.pipeline(transaction=True)
            for line in lines:
                pipe.xadd(self._prefix + partition, {"event": line.rstrip()})
            pipe.execute()


class RedisReader:
    """Reads one stream, from an id on."""

    def __init__(self, connection: Any, stream: str, kind: Kind) -> None:
        self._redis, self._stream, self._kind = connection, stream, kind

    def read(self, position: str, most: int) -> tuple[Batch, str]:
        """At most so many events after a position, and the position after them."""
        with _told():
            entries = self._redis.xrange(self._stream, f"({position}" if position else "-", "+", count=most)
        batch = of_texts([fields.get(b"event") for _, fields in entries], self._kind)
        return batch, entries[-1][0].decode() if entries else position


class RedisSink:
    """Streams of decisions."""

    def __init__(self, address: str) -> None:
        self._redis, self._prefix = _opened(address)

    def publish(self, partition: str, first: int, body: bytes) -> None:
        """Write what a commit decided."""
        name = self._prefix + partition
        lines = body.splitlines()
        with _told():
            for start in range(0, len(lines), _AT_ONCE):
                pipe = self._redis.pipeline(transaction=False)
                for number, line in enumerate(lines[start : start + _AT_ONCE], start + 1):
                    pipe.xadd(name, {"decision": line}, id=f"{first + 1}-{number}")
                for answer in pipe.execute(raise_on_error=False):
                    if isinstance(answer, redis.RedisError) and _NOT_ABOVE not in str(answer):
                        raise answer

    def close(self) -> None:
        """Let go of the connection."""
        self._redis.close()
