"""Streams of NATS JetStream as a log: a partition is a subject, an event the content of a message.

``nats://host:4222/CLICKS`` has a partition for each subject that has messages, such as ``clicks.0``. A position is the
number of the last message in the stream up to which the subject was read; nothing is acknowledged. A stream may remove
messages up to there: if it begins after that number, messages may be lost, and work stops unless ``start`` says where
to go on. At the end of a subject the position follows the end of the stream, for else the messages of other subjects
would be taken for lost ones.
"""

from __future__ import annotations

import contextlib
import time
from datetime import UTC, datetime
from typing import Any

from nats.errors import TimeoutError as NatsTimeoutError
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from ...errors import InputError
from ..errors import StoreError, damaged
from ..events import LONGEST_EVENT, EventBatch, empty_batch, parse_texts
from ..sampler_spec import SamplerSpec
from .nats_server import TIMEOUT, NatsAddress, NatsConnection
from .starts import EARLIEST, LATEST, expired, replaced, start_of

_AT_ONCE = 5_000
_PATIENCE = 2.0
"""Seconds in which messages that a subject has must come, before it is asked again how many there are."""
_IDLE = 1.0
_UNUSED = 3600.0
"""Seconds without a request after which the server forgets a reader."""


class NatsLog:
    """The subjects of a stream.

    Parameters
    ----------
    address : str
        As nats://host:4222/STREAM.
    start : str, optional
        Where to begin without a stored offset, and where messages were removed: earliest, latest, or a time.
    """

    def __init__(self, address: str, start: str | None = None) -> None:
        self._address, self._start = NatsAddress(address), start
        self._opened: NatsConnection | None = None

    @property
    def _connection(self) -> NatsConnection:
        if self._opened is None:
            self._opened = self._address.connected()
        return self._opened

    def partitions(self) -> list[str]:
        """The subjects that have messages, in order."""
        stream = self._address.stream
        found = self._connection.about(stream, ">").state.subjects
        if not found:
            raise InputError(f"the stream {stream} has no messages, whose subjects are the partitions.", owner="keyed")
        return sorted(found)

    def reader(self, partition: str, spec: SamplerSpec | None) -> NatsReader:
        """The reader of a subject."""
        return NatsReader(self._connection, self._address.stream, partition, spec, self._start)

    def append(self, partition: str, lines: list[bytes]) -> None:
        """Add events to a subject."""
        connection = self._connection
        with connection.errors():
            for line in lines:
                connection.do(connection.jetstream.publish(partition, line.rstrip(), stream=self._address.stream))


class NatsReader:
    """Reads one subject."""

    def __init__(
        self, connection: NatsConnection, stream: str, subject: str, spec: SamplerSpec | None, start: str | None
    ) -> None:
        self._connection, self._stream, self._subject = connection, stream, subject
        self._spec, self._start = spec, start
        self._messages: Any = None
        self._position, self._pending, self._moved = "", 0, 0.0

    def read(self, position: str, most: int) -> tuple[EventBatch, str]:
        """At most so many events after a position, and the position after them."""
        if position and not position.isdecimal():
            raise damaged("the offset of a partition in the store", position)
        state = self._connection.about(self._stream).state
        if position and int(position) > state.last_seq:
            raise replaced(f"the stream {self._stream}", int(position), state.last_seq)
        if position and state.first_seq > int(position) + 1:
            if self._start is None:
                raise expired(f"the stream {self._stream}", int(position) + 1, state.first_seq)
            position = self._begin(state)
        elif not position and self._start == LATEST:
            position = self._begin(state)
        if self._messages is None or position != self._position:
            self._open(position)
        found = self._fetched(most)
        if found:
            self._position = str(found[-1].metadata.sequence.stream)
        else:
            self._position = self._at_end(position, state.last_seq)
        if not found:
            return empty_batch(), self._position
        texts = [message.data if len(message.data) <= LONGEST_EVENT else None for message in found]
        return parse_texts(texts, self._spec), self._position

    def _begin(self, state: Any) -> str:
        """The position before the first message to read; a time is looked up by the server."""
        return str(state.last_seq) if self._start == LATEST else ""

    def _at_end(self, position: str, last: int) -> str:
        """The end of the stream, now and then: all messages of the subject up to there were read."""
        now = time.monotonic()
        if last == int(position or 0) or now - self._moved < _IDLE:
            return position
        self._moved = now
        return str(last)

    def _open(self, position: str) -> None:
        """Begin to read after a position."""
        config: dict[str, Any] = {"deliver_policy": DeliverPolicy.ALL}
        start = start_of(self._start or EARLIEST)
        if position:
            config = {"deliver_policy": DeliverPolicy.BY_START_SEQUENCE, "opt_start_seq": int(position) + 1}
        elif isinstance(start, float):
            time_of = datetime.fromtimestamp(start, UTC).isoformat().replace("+00:00", "Z")
            config = {"deliver_policy": DeliverPolicy.BY_START_TIME, "opt_start_time": time_of}
        made = ConsumerConfig(ack_policy=AckPolicy.NONE, mem_storage=True, inactive_threshold=_UNUSED, **config)
        do, jetstream = self._connection.do, self._connection.jetstream
        with self._connection.errors():
            if self._messages is not None:
                do(self._messages.unsubscribe())
            self._messages = do(jetstream.pull_subscribe(self._subject, stream=self._stream, config=made))
        self._pending, self._position = 0, position

    def _fetched(self, most: int) -> list[Any]:
        """The next messages, all that there are or so many."""
        found: list[Any] = []
        do, deadline = self._connection.do, time.monotonic() + TIMEOUT
        with self._connection.errors():
            while len(found) < most:
                if self._pending == 0:
                    self._pending = 0 if found else do(self._messages.consumer_info()).num_pending
                if self._pending == 0:
                    break
                came: list[Any] = []
                with contextlib.suppress(NatsTimeoutError):
                    came = do(self._messages.fetch(min(most - len(found), _AT_ONCE, self._pending), _PATIENCE))
                self._pending = came[-1].metadata.num_pending if came else 0
                found += came
                if not came and time.monotonic() > deadline:
                    raise StoreError("NATS cannot be used: it has messages and does not send them.", owner="keyed")
        return found
