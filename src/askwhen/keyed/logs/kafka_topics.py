"""Topics of Kafka as a log: a partition is a partition, an event the value of a message.

The address is ``kafka://host:9092/clicks``, and ``?answers=TOPIC`` names a second topic with as many partitions, from
which events are read too, such as answers that come days later. There are no consumer groups: a position is the next
offset of each topic, ``clicks@25,labels@7``, and belongs to the transaction of the store.

Two topics are read in the order of their messages' times, and of two messages of one millisecond the one of the first
topic comes first. So the same topics, read again, give the same order, however they are read in pieces. Only at the end
of one of them does the other one go on, because there is nothing to wait for.
"""

from __future__ import annotations

import json
import re
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from confluent_kafka import KafkaError, TopicPartition

from ...errors import InputError
from ..errors import StoreError, damaged
from ..events import LONGEST_EVENT, EventBatch, empty_batch, parse_texts
from ..sampler_spec import SamplerSpec
from .kafka_cluster import TIMEOUT, KafkaAddress, bytes_of, key_of, name_of, number_of
from .starts import EARLIEST, LATEST, expired, replaced, start_of

_OWN = ("answers",)
_POSITION = re.compile(r"([\w.-]+@\d+(,[\w.-]+@\d+)*)?")
_POLL = 0.05
_FULL = 1.0
"""Seconds in which a commit is filled, while messages come."""


class KafkaLog:
    """A topic, and perhaps one of answers.

    Parameters
    ----------
    address : str
        As kafka://host:9092/topic?answers=TOPIC.
    start : str, optional
        Where to begin without a stored offset, and where one has expired: earliest, latest, or a time.
    """

    def __init__(self, address: str, start: str | None = None) -> None:
        self._address, self._start = KafkaAddress(address, _OWN), start
        answers = self._address.own.get("answers")
        self._topics = [self._address.topic, *([answers] if answers else [])]
        self._about: Any = None
        if len(set(self._topics)) < len(self._topics):
            raise InputError("answers must be another topic; one topic may have both without it.", owner="keyed")

    def partitions(self) -> list[str]:
        """The names of the partitions, in order."""
        if self._about is None:
            self._about = self._address.consumer()
        numbers, *others = (self._address.partitions(self._about, topic) for topic in self._topics)
        for topic, there in zip(self._topics[1:], others, strict=True):
            if len(there) != len(numbers):
                raise InputError(
                    f"the topic {topic} has {len(there)} partitions and {self._topics[0]} has {len(numbers)}: an "
                    "answer must be in the partition with the number of its instance's.",
                    owner="keyed",
                )
        return [name_of(self._topics[0], number) for number in numbers]

    def reader(self, partition: str, spec: SamplerSpec | None) -> KafkaReader:
        """The reader of a partition."""
        number = number_of(partition)
        return KafkaReader([_Tail(self._address, topic, number, self._start) for topic in self._topics], spec)

    def append(self, partition: str, lines: list[bytes]) -> None:
        """Add events to a partition of the last topic, which is that of the answers where there is one."""
        producer, number = self._address.producer(), number_of(partition)
        failed: list[Any] = []
        with self._address.errors():
            for line in lines:
                producer.produce(
                    self._topics[-1],
                    line.rstrip(),
                    bytes_of(json.loads(line)["key"]),
                    number,
                    on_delivery=lambda error, _message: failed.append(error),  # it is called for errors only
                )
            left = producer.flush(TIMEOUT)
        if left or failed:
            raise self._address.failure(failed[0].str() if failed else "")


class _Tail:
    """One partition of one topic: the messages that were fetched and not handed out."""

    def __init__(self, address: KafkaAddress, topic: str, number: int, start: str | None) -> None:
        self.topic, self.offset = topic, -1
        self.waiting: deque[Any] = deque()
        self.is_at_end = False
        self._address, self._start = address, start
        self._number, self._name = number, f"partition {number} of the topic {topic}"
        self._consumer = address.consumer()

    def seek(self, offset: int | None) -> None:
        """Read from an offset; None begins where reading is to begin."""
        if offset == self.offset:
            return
        first, end = self._address.ends(self._consumer, TopicPartition(self.topic, self._number))
        if offset is None:
            offset = self._begin(self._start or EARLIEST, first, end)
        elif offset < first:
            if self._start is None:
                raise expired(self._name, offset, first)
            offset = self._begin(self._start, first, end)
        elif offset > end:
            raise replaced(self._name, offset, end)
        with self._address.errors():
            self._consumer.assign([TopicPartition(self.topic, self._number, offset)])
        self.offset, self.is_at_end = offset, False
        self.waiting.clear()

    def _begin(self, start: str, first: int, end: int) -> int:
        found = start_of(start)
        if isinstance(found, str):
            return end if found == LATEST else first
        with self._address.errors():
            place = TopicPartition(self.topic, self._number, int(found * 1000))
            (there,) = self._consumer.offsets_for_times([place], timeout=TIMEOUT)
            if there.error is not None:
                raise StoreError(f"Kafka cannot be used: {there.error.str()}.", owner="keyed")
        return end if there.offset < 0 else int(there.offset)

    def fetch(self, most: int, timeout: float) -> bool:
        """Fetch at most so many messages; whether anything came."""
        with self._address.errors():
            found = self._consumer.consume(most, timeout)
        for message in found:
            error = message.error()
            if error is None:
                self.is_at_end = False
                self.waiting.append(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                self.is_at_end = True
                if not self.waiting:  # the end may lie after what only marks transactions
                    self.offset = max(self.offset, int(message.offset() or 0))
            elif error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
                self._overtaken()
            elif not error.retriable():
                raise self._address.failure(error.str())
        return bool(found)

    def _overtaken(self) -> None:
        """Go on where the oldest messages were removed while this one was behind, if a start is given."""
        if self.waiting:  # these come first, and then it is found again
            self.is_at_end = True
            return
        offset, self.offset = self.offset, -1
        self.seek(offset)

    def take(self) -> Any:
        """The next message."""
        message = self.waiting.popleft()
        self.offset = message.offset() + 1
        return message

    def failure(self) -> StoreError:
        """The error for a cluster that does not answer."""
        return self._address.failure()


class KafkaReader:
    """Reads one partition."""

    def __init__(self, tails: Sequence[_Tail], spec: SamplerSpec | None) -> None:
        self._tails, self._spec = tails, spec

    def read(self, position: str, most: int) -> tuple[EventBatch, str]:
        """At most so many events after a position, and the position after them."""
        if not _POSITION.fullmatch(position):
            raise damaged("the offset of a partition in the store", position)
        stored = dict(each.split("@") for each in position.split(",")) if position else {}
        first = self._tails[0].topic
        if stored and first not in stored:
            raise InputError(
                f"the store has read the topic {next(iter(stored))}, and not {first}: give a new store.", owner="keyed"
            )
        for tail in self._tails:
            tail.seek(int(stored[tail.topic]) if tail.topic in stored else None)
        messages: list[Any] = self._gathered(most)
        now = ",".join(f"{tail.topic}@{tail.offset}" for tail in self._tails)
        if not messages:
            return empty_batch(), now
        texts = [message.value() for message in messages]
        if any(text is not None and len(text) > LONGEST_EVENT for text in texts):
            texts = [None if len(text or b"") > LONGEST_EVENT else text for text in texts]
        return parse_texts(texts, self._spec, [key_of(message.key()) for message in messages]), now

    def _gathered(self, most: int) -> list[Any]:
        """The next messages, at most so many: all that there are, or those that come within a second."""
        found: list[Any] = []
        began = last = time.monotonic()
        for tail in self._tails:
            if tail.is_at_end:
                tail.fetch(most, 0.0)  # what has come since
        while True:
            found += self._merged(most - len(found))
            behind = [tail for tail in self._tails if not tail.is_at_end and not tail.waiting]
            now = time.monotonic()
            if len(found) >= most or not behind or (found and now - began > _FULL):
                return found
            came = [tail.fetch(most, _POLL / len(behind)) for tail in behind]
            if any(came):
                last = now
            elif now - last > TIMEOUT:
                raise behind[0].failure()

    def _merged(self, most: int) -> list[Any]:
        """Messages in the order of their times, as far as it is known."""
        found: list[Any] = []
        if len(self._tails) == 1:
            (tail,) = self._tails
            return [tail.take() for _ in range(min(most, len(tail.waiting)))]
        while len(found) < most:
            if any(not tail.waiting and not tail.is_at_end for tail in self._tails):
                break
            ready = [tail for tail in self._tails if tail.waiting]
            if not ready:
                break
            found.append(min(ready, key=lambda tail: tail.waiting[0].timestamp()[1]).take())
        return found
