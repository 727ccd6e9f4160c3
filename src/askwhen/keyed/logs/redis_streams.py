"""Redis Streams as a log: a partition is a stream, an event the field ``event`` of an entry.

The address contains a prefix: ``redis://host:6379/0?streams=clicks:`` stands for all streams whose names begin with
``clicks:``. There are no consumer groups: a position is the id of the last entry that was committed and, from Redis 7
on, how many entries had been added to the stream up to it, as in ``1700000000000-0/25``. A stream may be trimmed up to
there: one from which unread entries were removed, or which ends before that id, is refused.

Decisions go to a stream for each partition, one entry each, whose field ``decision`` is a line of JSON. Their ids
follow from the numbers of the events, and Redis refuses an id that is not above the last one: writing decisions again
changes nothing. What Redis refused is looked up: a stream that has something else in its place is refused too.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import redis

from ...data.files import perhaps
from ...errors import InputError
from ..errors import StoreError, damaged
from ..events import LONGEST_EVENT, EventBatch, empty_batch, parse_texts
from ..sampler_spec import SamplerSpec
from ..stores.records import Counts

_AT_ONCE = 5_000
_MOST_SUGGESTED = 10_000
_POSITION = re.compile(r"(\d+-\d+(/\d+)?)?")
_NOT_ABOVE = "equal or smaller"
_ANOTHER = "give another output, to which the decisions that are still in the store are written"


@contextlib.contextmanager
def _redis_errors() -> Iterator[None]:
    """Raise StoreError for an error of Redis in this block."""
    try:
        yield
    except redis.RedisError as error:
        raise StoreError(f"Redis cannot be used: {str(error).rstrip('.')}.", owner="keyed") from error


def _opened(address: str) -> tuple[Any, str]:
    """A connection, and the prefix of the streams."""
    parts = urlsplit(address)
    given = dict(parse_qsl(parts.query))
    prefix = given.pop("streams", "")
    opened = redis.Redis.from_url(urlunsplit(parts._replace(query=urlencode(given))))
    classes = opened.connection_pool.connection_class.__mro__
    known = {name for each in classes[:-1] for name in inspect.signature(each.__init__).parameters} | {"streams"}
    for name in given:
        if name not in known:
            raise InputError(f"an address of Redis has no setting {name!r}{perhaps(name, known)}.", owner="keyed")
    if not prefix:
        raise InputError(f"say which streams, as in {address.partition('?')[0]}?streams=clicks:.", owner="keyed")
    return opened, prefix


class RedisLog:
    """The streams with a common prefix."""

    def __init__(self, address: str) -> None:
        self._redis, self._prefix = _opened(address)

    def partitions(self) -> list[str]:
        """The names of the streams without their prefix, in order."""
        with _redis_errors():
            escaped = "".join(f"\\{letter}" if letter in "*?[]\\" else letter for letter in self._prefix)
            names = [name.decode() for name in self._redis.scan_iter(f"{escaped}*", count=1000, _type="stream")]
            if not names:
                found = itertools.islice(self._redis.scan_iter(count=1000, _type="stream"), _MOST_SUGGESTED)
                near = perhaps(self._prefix, [name.decode(errors="replace") for name in found])
                raise InputError(f"there are no streams whose names begin with {self._prefix}{near}.", owner="keyed")
        return sorted(name.removeprefix(self._prefix) for name in set(names))

    def reader(self, partition: str, spec: SamplerSpec | None) -> RedisReader:
        """The reader of a stream."""
        return RedisReader(self._redis, self._prefix + partition, spec)

    def append(self, partition: str, lines: list[bytes]) -> None:
        """Add events to a stream."""
        with _redis_errors():
            pipe = self._redis.pipeline(transaction=True)
            for line in lines:
                pipe.xadd(self._prefix + partition, {"event": line.rstrip()})
            pipe.execute()


class RedisReader:
    """Reads one stream."""

    def __init__(self, connection: Any, stream: str, spec: SamplerSpec | None) -> None:
        self._redis, self._stream, self._spec = connection, stream, spec

    def read(self, position: str, most: int) -> tuple[EventBatch, str]:
        """At most so many events after a position, and the position after them."""
        if not _POSITION.fullmatch(position):
            raise damaged("the offset of a partition in the store", position)
        last, _, count = position.partition("/")
        with _redis_errors():
            pipe = self._redis.pipeline(transaction=True)
            pipe.xinfo_stream(self._stream)
            pipe.xrange(self._stream, f"({last}" if last else "-", "+", count=most)
            about, entries = pipe.execute(raise_on_error=False)
            stream = _StreamInfo.of(about)
            if isinstance(entries, redis.RedisError):
                raise entries
        added = int(count) if count else None if last else stream.removed
        self._check_same(stream, last, added)
        if added is not None and stream.added is not None and len(entries) < most:
            self._check_all(stream, last, stream.added - added - len(entries))
        if not entries:
            return empty_batch(), position
        if len(entries) < most:
            added = stream.added
        elif added is not None:
            added += len(entries)
        batch = parse_texts([self._text(*entry) for entry in entries], self._spec)
        return batch, entries[-1][0].decode() + ("" if added is None else f"/{added}")

    def _text(self, entry: bytes, fields: dict[bytes, bytes]) -> bytes | None:
        """The event of an entry, as text."""
        text = fields.get(b"event")
        if text is not None and len(text) > LONGEST_EVENT:
            raise InputError(
                f"the entry {entry.decode()} of the stream {self._stream} has more than {LONGEST_EVENT} bytes, the "
                "most that an event may have; remove it.",
                owner="keyed",
            )
        return text

    def _check_same(self, stream: _StreamInfo, last: str, added: int | None) -> None:
        """Refuse a stream that was replaced, or from which entries were removed before they were read."""
        if last and stream.last < _numbers(last):
            raise InputError(
                f"the stream {self._stream} ends at {_id(stream.last)} and was read up to {last}: it was deleted or "
                "replaced; give a new store to read it from its beginning.",
                owner="keyed",
            )
        if added is not None and stream.added is not None and stream.added < added:
            raise InputError(
                f"{added} entries of the stream {self._stream} were read, and it has had {stream.added}: it was "
                "deleted and begun again; give a new store to read it from its beginning.",
                owner="keyed",
            )
        if added is not None and stream.removed is not None:
            self._check_all(stream, last, stream.removed - added)

    def _check_all(self, stream: _StreamInfo, last: str, gone: int) -> None:
        """Refuse a stream that lost entries, if ``gone`` of them were not read."""
        if gone > 0:
            go_on = f"XSETID {self._stream} {_id(stream.last)} ENTRIESADDED {(stream.added or 0) - gone}"
            raise InputError(
                f"{gone} entries of the stream {self._stream} after {last or 'its beginning'} were removed before they "
                f"were read: trim no further than what was committed; to go on without them, run redis-cli {go_on}.",
                owner="keyed",
            )


class _StreamInfo(NamedTuple):
    """The last id that a stream gave out, its length, and how many entries were ever added: None before Redis 7."""

    last: tuple[int, int]
    length: int
    added: int | None

    @classmethod
    def of(cls, about: Any) -> _StreamInfo:
        """From the reply to XINFO STREAM; a stream that does not exist has no entries."""
        if isinstance(about, redis.ResponseError) and "no such key" in str(about):
            return cls((0, 0), 0, None)
        if isinstance(about, redis.RedisError):
            raise about
        return cls(_numbers(about["last-generated-id"]), about["length"], about.get("entries-added"))

    @property
    def removed(self) -> int | None:
        """Number of entries that were trimmed or deleted."""
        return None if self.added is None else self.added - self.length


def _numbers(name: bytes | str) -> tuple[int, int]:
    """The two numbers of an id, by which ids are ordered."""
    first, _, second = (name.decode() if isinstance(name, bytes) else name).partition("-")
    return int(first), int(second or 0)


def _id(numbers: tuple[int, int]) -> str:
    return f"{numbers[0]}-{numbers[1]}"


class RedisSink:
    """Streams of decisions."""

    keeps_refused = False

    def __init__(self, address: str) -> None:
        self._redis, self._prefix = _opened(address)
        self._events = 0

    def begin(self, partition: str, counts: Counts, waiting: int) -> None:
        """Refuse a stream that has ids above those of the events which the store has seen."""
        self._events = counts.events
        with _redis_errors():
            self._check_own(self._prefix + partition, self._info(self._prefix + partition), counts.events)

    def publish(self, partition: str, first: int, body: bytes) -> None:
        """Write what a commit decided."""
        name = self._prefix + partition
        lines = body.splitlines()
        with _redis_errors():
            for start in range(0, len(lines), _AT_ONCE):
                pipe = self._redis.pipeline(transaction=False)
                for number, line in enumerate(lines[start : start + _AT_ONCE], start + 1):
                    pipe.xadd(name, {"decision": line}, id=f"{first + 1}-{number}")
                answers = pipe.execute(raise_on_error=False)
                refused = []
                for number, (line, answer) in enumerate(zip(lines[start:], answers, strict=False), start + 1):
                    if isinstance(answer, redis.RedisError):
                        if _NOT_ABOVE not in str(answer):
                            raise answer
                        refused.append((number, line))
                if refused:
                    self._check_written(name, first + 1, dict(refused))

    def _check_written(self, name: str, event: int, refused: dict[int, bytes]) -> None:
        """Refuse a stream in which ids are taken, but not by these decisions."""
        found = self._redis.xrange(name, f"{event}-{min(refused)}", f"{event}-{max(refused)}")
        there = {_numbers(entry)[1]: fields.get(b"decision") for entry, fields in found}
        stream = self._info(name)
        first = self._redis.xrange(name, count=1)
        for number, line in refused.items():
            if there.get(number) == line:
                continue
            self._check_own(name, stream, max(self._events, event))
            if number in there or (first and _numbers(first[0][0]) < (event, number)):  # not trimmed by its readers
                raise StoreError(
                    f"the stream {name} has something else at {event}-{number}, where a decision goes: {_ANOTHER}.",
                    owner="keyed",
                )

    def _check_own(self, name: str, stream: _StreamInfo, events: int) -> None:
        if stream.last[0] > events:
            raise StoreError(
                f"the stream {name} ends at {_id(stream.last)}, beyond event {events}, the last one of this store, so "
                f"that decisions cannot be added to it: {_ANOTHER}.",
                owner="keyed",
            )

    def _info(self, name: str) -> _StreamInfo:
        return _StreamInfo.of(
            self._redis.pipeline(transaction=False).xinfo_stream(name).execute(raise_on_error=False)[0]
        )

    def close(self) -> None:
        """Close the connection."""
        self._redis.close()
