"""Addresses of topics, as kafka://host:9092,host2:9092/topic?key=value, and clients with their configuration.

The keys are those of librdkafka, ``security.protocol=SASL_SSL``, and may also be in a file, ``config=FILE``, one
``key=value`` on each line, so that secrets need not be in an address. No message contains the value of a key whose name
tells that it is a secret.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from ...data.files import perhaps
from ...errors import InputError
from ..errors import StoreError

TIMEOUT = 30.0
"""Seconds in which a cluster must answer."""
_SECRET = re.compile(r"password|secret|token|jaas|\.pem$|oauthbearer\.config")
_FIXED = ("bootstrap.servers", "enable.auto.commit", "enable.idempotence", "enable.partition.eof", "isolation.level")
_CONSUMER = {
    "group.id": "askwhen",  # needed to make a client; offsets are in our store, and none is committed to the cluster
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "error",
    "isolation.level": "read_committed",
    "fetch.wait.max.ms": 100,
    "max.partition.fetch.bytes": 1 << 22,
    "queued.max.messages.kbytes": 1 << 14,
}
_PRODUCER = {
    "enable.idempotence": True,
    "compression.type": "lz4",
    "linger.ms": 5,
    "queue.buffering.max.messages": 0,
    "delivery.report.only.error": True,
}


class KafkaAddress:
    """A topic of a cluster.

    Parameters
    ----------
    address : str
        As kafka://host:9092/topic?key=value.
    own : tuple of str
        Names of values that are for us, and not for librdkafka.
    """

    def __init__(self, address: str, own: tuple[str, ...]) -> None:
        parts = urlsplit(address)
        self.topic = parts.path.strip("/")
        if not parts.netloc or "@" in parts.netloc or not re.fullmatch(r"[\w.-]+", self.topic):
            raise InputError(
                "an address of Kafka is kafka://host:9092/topic; user names and passwords are configuration keys, as "
                "sasl.username and sasl.password, best in a file: ?config=FILE.",
                owner="keyed",
            )
        given = dict(parse_qsl(parts.query, keep_blank_values=True))
        self.own = {name: given.pop(name) for name in own if name in given}
        file = given.pop("config", None)
        self._config = ({} if file is None else _read_config(file)) | given
        for name in self._config:
            if name in _FIXED:
                raise InputError(f"the configuration key {name} is set by askwhen, and cannot be given.", owner="keyed")
        self._known = (*own, "config")
        self._problem = ""
        self._brokers = parts.netloc

    def consumer(self) -> Consumer:
        """A new consumer."""
        made: Consumer = self._made(Consumer, _CONSUMER, without=("transactional.id",))
        return made

    def producer(self, transactional_id: str | None = None) -> Producer:
        """A new idempotent producer, of transactions where an id is given."""
        more: dict[str, Any] = {"message.timeout.ms": 0}  # never left out, so that nothing is written out of order
        if transactional_id is not None:
            more = {"transactional.id": transactional_id}
        made: Producer = self._made(Producer, _PRODUCER | more, without=("transactional.id",))
        return made

    @property
    def transactional_id(self) -> str | None:
        """The id for transactions, where they were asked for."""
        return self._config.get("transactional.id")

    def partitions(self, consumer: Consumer, topic: str) -> list[int]:
        """The numbers of a topic's partitions."""
        with self.errors():
            about = consumer.list_topics(topic, timeout=TIMEOUT).topics[topic]
            if about.error is not None and about.error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise KafkaException(about.error)
            if about.error is not None or not about.partitions:
                near = perhaps(topic, consumer.list_topics(timeout=TIMEOUT).topics)
                raise InputError(f"the cluster has no topic {topic}{near}.", owner="keyed")
        return sorted(about.partitions)

    def ends(self, consumer: Consumer, place: TopicPartition) -> tuple[int, int]:
        """The first offset of a partition, and the one after its last."""
        with self.errors():
            found: tuple[int, int] = consumer.get_watermark_offsets(place, timeout=TIMEOUT)
        return found

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Raise StoreError for an error of Kafka in this block."""
        try:
            yield
        except (KafkaException, BufferError) as error:
            raise self.failure(_text(error)) from None  # the cause may contain secrets

    def failure(self, why: str = "") -> StoreError:
        """The error for a cluster that cannot be used; what a client has said last tells more than a timeout."""
        sentence = self._without_secrets(self._problem or why or f"it has not answered for {TIMEOUT:.0f} seconds")
        return StoreError(f"Kafka cannot be used: {sentence.rstrip('.')}.", owner="keyed")

    def _made(self, kind: type[Any], fixed: Mapping[str, Any], without: tuple[str, ...]) -> Any:
        given = {name: value for name, value in self._config.items() if name not in without}
        config = {"log_level": 0} | dict(fixed) | given
        config |= {name: fixed[name] for name in _FIXED if name in fixed}
        config |= {name: fixed[name] for name in without if name in fixed}
        config |= {"bootstrap.servers": self._brokers, "error_cb": self._note}
        try:
            return kind(config)
        except KafkaException as error:
            sentence = self._without_secrets(_text(error)).rstrip(".")
            unknown = [name for name in given if f'"{name}"' in sentence]
            near = perhaps(unknown[0], self._known) if unknown and "No such" in sentence else ""
            raise InputError(f"the configuration of Kafka is refused: {sentence}{near}.", owner="keyed") from None

    def _note(self, error: KafkaError) -> None:
        self._problem = error.str()

    def _without_secrets(self, sentence: str) -> str:
        for name, value in self._config.items():
            if value and _SECRET.search(name):
                sentence = sentence.replace(value, "***")
        return sentence


def _text(error: Exception) -> str:
    given = error.args[0] if error.args else error
    return str(given.str() if isinstance(given, KafkaError) else given)


def _read_config(file: str) -> dict[str, str]:
    """The lines ``key=value`` of a file; lines that begin with # are comments."""
    found: dict[str, str] = {}
    try:
        lines = Path(file).read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the configuration of Kafka in {file}: {error}.", owner="keyed") from None
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals:
            raise InputError(f"line {number} of {file} is not key=value.", owner="keyed")
        found[name.strip()] = value.strip()
    return found


def key_of(message_key: bytes | None) -> str | None:
    """The key of a message as text; bytes that are no UTF-8 as a backslash, x and their hexadecimal digits."""
    if message_key is None:
        return None
    try:
        return message_key.decode()
    except UnicodeDecodeError:
        return "\\x" + message_key.hex()


def bytes_of(key: str) -> bytes:
    """The inverse of ``key_of``."""
    if key.startswith("\\x"):
        with contextlib.suppress(ValueError):
            found = bytes.fromhex(key[2:])
            if key_of(found) == key:
                return found
    return key.encode()


def name_of(topic: str, number: int) -> str:
    """The name of a partition."""
    return f"{topic}-{number}"


def number_of(partition: str) -> int:
    """The number at the end of the name of a partition."""
    found = re.search(r"(\d+)$", partition)
    if found is None:
        raise InputError(
            f"the partition {partition} has no number at its end, which tells the partition of a topic.", owner="keyed"
        )
    return int(found[1])
