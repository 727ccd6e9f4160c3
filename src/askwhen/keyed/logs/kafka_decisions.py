"""Decisions as messages of a topic, and refused events as messages of a dead-letter topic.

A decision goes to the partition with the number of its event's, under its key, with its ``number`` in front: decisions
of a partition are numbered from 0. They are written after their commit, in order, by an idempotent producer, and again
after a kill: what the topic has already, by the number of its last message, is left out. Only messages that were on
their way when a process was killed can come twice, with the same number, so that a reader drops those whose number is
not above the last one. With ``transactional.id`` each commit is one transaction, and nothing comes twice.
"""

from __future__ import annotations

import time
from typing import Any

import msgspec
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from ...errors import InputError
from ..decisions import published_lines
from ..errors import StoreError
from ..stores.records import Counts
from .kafka_cluster import TIMEOUT, KafkaAddress, bytes_of, number_of

_OWN = ("dead",)
_AT_ONCE = 20_000
_POLL = 0.05
_PATIENCE = 120.0
"""Seconds in which the cluster must have written a commit."""


class _Numbered(msgspec.Struct, gc=False):
    number: int


_NUMBERS = msgspec.json.Decoder(_Numbered)


class KafkaSink:
    """A topic of decisions.

    Parameters
    ----------
    address : str
        As kafka://host:9092/topic?dead=TOPIC.
    """

    def __init__(self, address: str) -> None:
        self._address = KafkaAddress(address, _OWN)
        self._dead = self._address.own.get("dead")
        self.keeps_refused = self._dead is not None
        self._topics = [self._address.topic, *([self._dead] if self._dead else [])]
        self._producer: Any = None
        self._transactions = self._address.transactional_id
        self._failed: list[Any] = []
        self._number = self._next = 0
        self._done: dict[str, int] = {}

    def begin(self, partition: str, counts: Counts, waiting: int) -> None:
        """Refuse a topic that belongs to another store, and find out which decisions it has already."""
        total = counts.instances + counts.refused  # one decision or refusal for each of them
        self._number, self._next = number_of(partition), total - waiting
        name = None if self._transactions is None else f"{self._transactions}-{partition}"
        self._producer = self._address.producer(name)
        if name is not None:
            with self._address.errors():
                self._producer.init_transactions(TIMEOUT)  # ends what a killed process has left open
        consumer = self._address.consumer()
        try:
            for topic in self._topics:
                if self._number not in self._address.partitions(consumer, topic):
                    raise InputError(
                        f"the topic {topic} has no partition {self._number}, in which the decisions of {partition} "
                        "belong: give it as many partitions as the log has.",
                        owner="keyed",
                    )
                self._done[topic] = self._last_number(consumer, topic)
        finally:
            consumer.close()
        for topic, last in self._done.items():
            if last >= total:
                raise StoreError(
                    f"the topic {topic} has decision {last} in its partition {self._number}, and this store has made "
                    f"{total}: give another output, to which the decisions that are still in the store are written.",
                    owner="keyed",
                )

    def publish(self, partition: str, first: int, body: bytes) -> None:
        """Write what a commit decided."""
        lines = body.splitlines()
        found: dict[str, list[dict[str, Any]]] = {topic: [] for topic in self._topics}
        dead: list[tuple[int, Any]] = []
        for number, (line, about) in enumerate(zip(lines, published_lines(lines), strict=True), self._next):
            if about.refused is not None and self._dead is not None:
                if number > self._done[self._dead]:
                    dead.append((number, about))
            elif number > self._done[self._address.topic]:
                value = b'{"number":%d,' % number + line[1:]
                found[self._address.topic].append({"value": value, "key": bytes_of(about.key)})
        self._next += len(lines)
        if dead or any(found.values()):
            with self._address.errors():
                self._write(found, dead)

    def _write(self, found: dict[str, list[dict[str, Any]]], dead: list[tuple[int, Any]]) -> None:
        if self._transactions is not None:
            self._producer.begin_transaction()
        try:
            for topic, messages in found.items():
                for start in range(0, len(messages), _AT_ONCE):
                    self._produce(topic, messages[start : start + _AT_ONCE])
            for number, about in dead:
                headers = {"reason": about.refused, "number": str(number), "event": str(about.event)}
                self._producer.produce(
                    self._dead,
                    about.given,
                    bytes_of(about.key) or None,
                    self._number,
                    headers=headers,
                    on_delivery=self._note,
                )
            left = self._producer.flush(_PATIENCE)
            if left or self._failed:
                raise self._address.failure(self._failed[0].str() if self._failed else "")
            if self._transactions is not None:
                self._producer.commit_transaction(_PATIENCE)
        except BaseException:
            if self._transactions is not None:
                self._abort()
            raise

    def _produce(self, topic: str, messages: list[dict[str, Any]]) -> None:
        sent = self._producer.produce_batch(topic, messages, partition=self._number, on_delivery=self._note)
        if sent < len(messages):
            raise self._address.failure(next(str(each["_error"]) for each in messages if "_error" in each))
        self._producer.poll(0)

    def _note(self, error: Any, _message: Any) -> None:
        if error is not None:
            self._failed.append(error)

    def _abort(self) -> None:
        try:
            self._producer.abort_transaction(TIMEOUT)
        except KafkaException:
            return  # the next producer with this id ends it

    def _last_number(self, consumer: Any, topic: str) -> int:
        """The number of the last decision in the partition, or -1."""
        first, end = self._address.ends(consumer, TopicPartition(topic, self._number))
        back = 1
        while end > first:
            start = max(first, end - back)
            last = self._last_after(consumer, TopicPartition(topic, self._number, start))
            if last is not None:
                return self._number_of(topic, last)
            if start == first:
                break
            back *= 8
        return -1

    def _last_after(self, consumer: Any, place: TopicPartition) -> Any:
        """The last message of a partition from an offset on, or None if there are only marks of transactions."""
        last = None
        with self._address.errors():
            consumer.assign([place])
            deadline = time.monotonic() + TIMEOUT
            while True:
                found = consumer.consume(1000, _POLL)  # it waits so long for all of them
                if not found and time.monotonic() > deadline:
                    raise self._address.failure()
                for message in found:
                    if message.error() is None:
                        last = message
                    elif message.error().code() == KafkaError._PARTITION_EOF:
                        return last

    def _number_of(self, topic: str, message: Any) -> int:
        try:
            if topic == self._dead:
                return int(dict(message.headers() or [])["number"])
            return _NUMBERS.decode(message.value() or b"").number
        except (msgspec.MsgspecError, UnicodeDecodeError, LookupError, ValueError, TypeError) as error:
            raise StoreError(
                f"the last message of partition {self._number} of the topic {topic} is not a decision: give a topic "
                "that has nothing else.",
                owner="keyed",
            ) from error

    def close(self) -> None:
        """Wait for nothing: what was published is written."""
        self._producer = None
