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

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from ...errors import InputError
from ..decisions import PublishedLine
from ..stores.records import Counts
from .kafka_cluster import TIMEOUT, KafkaAddress, bytes_of, number_of
from .numbered_decisions import DecisionMessage, NumberedDecisions, headers_of, last_number

_OWN = ("dead",)
_AT_ONCE = 20_000
_POLL = 0.05
_PATIENCE = 120.0
"""Seconds in which the cluster must have written a commit."""


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
        self._number, self._lines = 0, NumberedDecisions(Counts(), 0)
        self._done: dict[str, int] = {}

    def begin(self, partition: str, counts: Counts, waiting: int) -> None:
        """Refuse a topic that belongs to another store, and find out which decisions it has already."""
        self._number, self._lines = number_of(partition), NumberedDecisions(counts, waiting)
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
            self._lines.check(last, self._place(topic))

    def publish(self, partition: str, first: int, body: bytes) -> None:
        """Write what a commit decided."""
        dead = None if self._dead is None else self._done[self._dead]
        messages, letters = self._lines.take(body, self._done[self._address.topic], dead)
        if messages or letters:
            with self._address.errors():
                self._write(messages, letters)

    def _write(self, messages: list[DecisionMessage], letters: list[tuple[int, PublishedLine]]) -> None:
        if self._transactions is not None:
            self._producer.begin_transaction()
        try:
            for start in range(0, len(messages), _AT_ONCE):
                self._produce(
                    [{"value": each.value, "key": bytes_of(each.key)} for each in messages[start : start + _AT_ONCE]]
                )
            for number, refused in letters:
                self._producer.produce(
                    self._dead,
                    refused.given,
                    bytes_of(refused.key) or None,
                    self._number,
                    headers=headers_of(number, refused),
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

    def _produce(self, messages: list[dict[str, Any]]) -> None:
        sent = self._producer.produce_batch(
            self._address.topic, messages, partition=self._number, on_delivery=self._note
        )
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
                is_dead = topic == self._dead
                headers = dict(last.headers() or []) if is_dead else None
                return last_number(last.value(), headers, is_dead, self._place(topic))
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

    def _place(self, topic: str) -> str:
        return f"partition {self._number} of the topic {topic}"

    def close(self) -> None:
        """Wait for nothing: what was published is written."""
        self._producer = None
