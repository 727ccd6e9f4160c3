"""The description of a run, as text that goes to other processes and machines, and the loop of a worker."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from .. import encoders
from ..errors import AskwhenError, InputError
from ..system.extras import needs_extra
from .logs.folder import FolderLog, FolderSink
from .logs.protocols import DecisionSink, EventLog
from .logs.starts import check_start
from .sampler_spec import SamplerSpec
from .stores.records import Counts, KeyedStore
from .worker import PartitionWorker

_PAUSE = 0.2
LOOK_AGAIN = 10.0
"""Seconds between two looks for new partitions."""
_REDIS = ("redis://", "rediss://", "unix://")
_KAFKA, _NATS = "kafka://", "nats://"
_LOGS = "a log is a directory, redis://..., kafka://... or nats://..."


@dataclass(frozen=True)
class Job:
    """The addresses of a log, a store and an output log, the :class:`.SamplerSpec` as text, and options of workers."""

    source: str
    store: str
    out: str | None
    kind: str
    cache: int
    batch: int
    follow: bool
    questions: str | None = None
    token: str | None = None
    start: str | None = None

    def written(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Job:
        """The inverse of ``written``."""
        return cls(**json.loads(text))


def open_log(address: str, start: str | None = None) -> EventLog:
    """The log at an address; ``start`` is where to begin without a stored offset, and where one has expired."""
    if start is not None:
        check_start(start)
    if address.startswith(_KAFKA):
        with needs_extra("kafka", "a log in Kafka", "keyed"):
            from .logs.kafka_topics import KafkaLog

        return KafkaLog(address, start)
    if address.startswith(_NATS):
        with needs_extra("nats", "a log in NATS", "keyed"):
            from .logs.nats_streams import NatsLog

        return NatsLog(address, start)
    if start is not None:
        raise InputError(
            "--from (start=) is for Kafka and NATS; other logs are read from their beginnings.", owner="keyed"
        )
    if address.startswith(_REDIS):
        with needs_extra("keyed", "a log in Redis", "keyed"):
            from .logs.redis_streams import RedisLog

        return RedisLog(address)
    return FolderLog(_folder(address))


def open_sink(address: str) -> DecisionSink:
    """The output log at an address: a directory, Redis, Kafka or NATS."""
    if address.startswith(_KAFKA):
        with needs_extra("kafka", "a log in Kafka", "keyed"):
            from .logs.kafka_decisions import KafkaSink

        return KafkaSink(address)
    if address.startswith(_NATS):
        with needs_extra("nats", "a log in NATS", "keyed"):
            from .logs.nats_decisions import NatsSink

        return NatsSink(address)
    if address.startswith(_REDIS):
        with needs_extra("keyed", "a log in Redis", "keyed"):
            from .logs.redis_streams import RedisSink

        return RedisSink(address)
    return FolderSink(_folder(address))


def _folder(address: str) -> str:
    if "://" in address:  # what comes after a question mark may be a secret
        raise InputError(f"{_LOGS}, got {address.partition('?')[0]!r}.", owner="keyed")
    return address


def open_store(address: str) -> KeyedStore:
    """The store at an address: a directory of SQLite files, or PostgreSQL."""
    if address.startswith(("postgresql://", "postgres://")):
        with needs_extra("keyed", "a store in PostgreSQL", "keyed"):
            from .stores.postgres_store import PostgresKeyedStore

        return PostgresKeyedStore(address)
    if "://" in address:
        raise InputError(f"a store is a directory or postgresql://..., got {address!r}.", owner="keyed")
    with needs_extra("keyed", "a store of SQLite files", "keyed"):
        from .stores.sqlite_store import SqliteKeyedStore

    return SqliteKeyedStore(address)


def claim_worker(job: Job, partition: str) -> PartitionWorker:
    """A worker that has claimed a partition."""
    spec = SamplerSpec.read(job.kind)
    if spec.schema is not None and spec.schema.encoder is not None:
        encoders.find(spec.schema.encoder._asdict())  # refuses now what would refuse every event
    reader = open_log(job.source, job.start).reader(partition, spec)
    store = open_store(job.store).claim(partition, job.kind)
    sink = None if job.out is None else open_sink(job.out)
    if job.questions is not None:
        assert sink is not None, "run refuses questions without an output log"
        with needs_extra("keyed", "a stream of questions", "keyed"):
            from .service_questions import QuestionSink

        sink = QuestionSink(job.questions, job.token, sink, patient=job.follow)
    shows = job.questions is not None
    return PartitionWorker(partition, reader, store, spec, cache=job.cache, batch=job.batch, sink=sink, shows=shows)


class NewPartitions:
    """Finds partitions that a log has got since, at most every ten seconds, where the job follows it."""

    def __init__(self, follows: bool, log: EventLog, known: Sequence[str]) -> None:
        self._follows, self._log, self._known = follows, log, set(known)
        self._looked = time.monotonic()

    def find(self) -> list[str]:
        """The names of new partitions, each of them once."""
        if not self._follows or time.monotonic() - self._looked < LOOK_AGAIN:
            return []
        self._looked = time.monotonic()
        with contextlib.suppress(AskwhenError):  # the readers tell if the log cannot be read
            found = [name for name in self._log.partitions() if name not in self._known]
            self._known.update(found)
            return found
        return []


def play_partitions(
    job: Job,
    partitions: Sequence[str],
    on_commit: Callable[[str, int], None],
    new: NewPartitions | None = None,
) -> None:
    """Play partitions in turns, to their ends, or without end if the job follows them.

    ``on_commit`` is called with the name of a partition and the number of its events that were committed just now;
    ``new`` finds further partitions.
    """
    share = replace(job, cache=max(job.cache // len(partitions), 1))
    workers = {partition: claim_worker(share, partition) for partition in partitions}
    try:
        while True:
            done = 0
            for partition, worker in workers.items():
                events = worker.step()
                done += events
                if events:
                    on_commit(partition, events)
            if not done and not job.follow:
                return
            workers |= {partition: claim_worker(share, partition) for partition in (new.find() if new else ())}
            if not done:
                time.sleep(_PAUSE)
    finally:
        for worker in workers.values():
            worker.close()


def total_counts(job: Job, partitions: Sequence[str]) -> Counts:
    """The counts of all partitions so far."""
    store = open_store(job.store)
    counts = [store.counts(partition) for partition in partitions]
    return Counts(*(sum(column) for column in zip(*counts, strict=True)))
