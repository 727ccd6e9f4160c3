"""Instances of a log into a stream of the labelling service; its decisions, answers and delivered labels out again.

What ``run`` does with samplers, this does with a service: a position of the log and the decisions of the events up to
it are stored in one transaction, and then the decisions are published. Every instance has an id, its own or one that
follows from its place in the log, so that the service decides it once, however often it is sent. Answers and delivered
labels are read by the numbers of the service's events, and stored and published in the same way.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from ..contracts.sampler import Parts
from ..errors import InputError
from ..validation import check_count, check_flag
from .feed_outlet import FeedOutlet
from .feed_relays import ANSWERS, DELIVERED, QuestionIds, Relay, RelayThread, partition_name
from .feed_service import FedStream
from .job import NewPartitions, open_log, open_store
from .logs.protocols import PartitionReader
from .stores.records import Counts, KeyedStore, PartitionStore

_PAUSE = 0.2


class Fed(NamedTuple):
    """The result of feeding a stream, of all times with this store.

    Attributes
    ----------
    sent, asked, refused : int
        Instances that the service has decided, those of them that it asks people about, and events that it refused.
    answers, delivered : int
        Answers and delivered labels that were written.
    partitions : list of str
        The partitions of the log.
    """

    sent: int
    asked: int
    refused: int
    answers: int
    delivered: int
    partitions: list[str]


# More than eight arguments: this is the public call, and each of them is documented by name.
def feed(
    source: str,
    stream: str,
    store: str,
    *,
    decisions: str | None = None,
    answers: str | None = None,
    delivered: str | None = None,
    token: str | None = None,
    batch: int = 2_000,
    follow: bool = False,
    start: str | None = None,
    watch: Callable[[int, str], None] | None = None,
) -> Fed:
    """Send the instances of a log to a stream of the labelling service, and write what comes of them to logs.

    Killed at any moment and called again, it goes on: the service decides every instance once, and outputs get every
    line once, as those of :func:`run` do.

    Parameters
    ----------
    source : str
        The log, as for :func:`run`. Each event is an instance as the service takes it, ``{"x": [0.5, 1], "id": "17"}``.
    stream : str
        A stream of the service, ``http://127.0.0.1:8300/streams/NAME``.
    store : str
        A directory or ``postgresql://...``, where positions are stored, for this log and this stream.
    decisions, answers, delivered : str, optional
        Output logs: what the service decides on each instance, the labels that people give, and on a stream with a
        promise the labels that it delivers.
    token : str, optional
        A producer's token.
    batch : int, default 2000
        Largest number of instances between two commits.
    follow : bool, default False
        Whether to wait for more at the end, for ever, and also for a service that is away or a stream that is paused.
    start : str, optional
        Where to begin in Kafka and NATS, as for :func:`run`.
    watch : callable, optional
        Called with the number of instances so far, and the partition of the last ones.
    """
    check_count("feed", "batch", batch)
    check_flag("feed", "follow", follow)
    given = {ANSWERS: answers, DELIVERED: delivered}
    outputs = [each for each in (decisions, answers, delivered) if each is not None]
    if len({each.partition("?")[0] for each in (source, *outputs)}) <= len(outputs):
        raise InputError("the log and the outputs must be different ones.", owner="feed")
    with contextlib.closing(FedStream(stream, token, follow)) as service:
        service.check()
        made = _Feed(source, start, stream, open_store(store), decisions, given, service, batch)
        made.run(follow, watch)
    return made.result()


class _Feed:
    """All partitions and outputs of a feed."""

    def __init__(
        self,
        source: str,
        start: str | None,
        stream: str,
        store: KeyedStore,
        decisions: str | None,
        given: dict[str, str | None],
        service: FedStream,
        batch: int,
    ) -> None:
        self._log, self._store, self._service = open_log(source, start), store, service
        self._decisions, self._given, self._batch = decisions, given, batch
        self._kind = json.dumps({"parts": ["a feed"] * len(Parts._fields), "stream": stream}, sort_keys=True)
        self._partitions = self._log.partitions()

    def run(self, follow: bool, watch: Callable[[int, str], None] | None) -> None:
        """Send and write everything, without end where the log is followed."""
        new, done = NewPartitions(follow, self._log, self._partitions), 0
        with contextlib.ExitStack() as stack:
            feeders = {name: stack.enter_context(contextlib.closing(self._feeder(name))) for name in self._partitions}
            relaying = RelayThread(lambda: self._relays(waits=True)) if follow and any(self._given.values()) else None
            if relaying is not None:
                stack.enter_context(contextlib.closing(relaying))
            while True:
                moved = 0
                for name, each in feeders.items():
                    moved += (now := each.step())
                    done += now
                    if now and watch is not None:
                        watch(done, name)
                if relaying is not None:
                    relaying.check()
                for name in new.find():
                    feeders[name] = stack.enter_context(contextlib.closing(self._feeder(name)))
                if not moved and not follow:
                    break
                if not moved:
                    time.sleep(_PAUSE)
            for relay in self._relays():
                with contextlib.closing(relay):
                    while relay.step():
                        pass

    def result(self) -> Fed:
        """The counts of all times."""
        counts = [self._store.counts(name) for name in self._partitions]
        fields = ("instances", "questions", "refused")
        sent, asked, refused = (sum(getattr(each, name) for each in counts) for name in fields)
        answers, delivered = (self._store.counts(partition_name(what)).instances for what in (ANSWERS, DELIVERED))
        return Fed(sent, asked, refused, answers, delivered, self._partitions)

    def _feeder(self, partition: str) -> _Feeder:
        claimed = self._store.claim(partition, self._kind)
        return _Feeder(
            partition, claimed, self._decisions, self._log.reader(partition, None), self._service, self._batch
        )

    def _relays(self, waits: bool = False) -> list[Relay]:
        return [
            Relay(
                what,
                self._store.claim(partition_name(what), self._kind),
                address,
                self._service,
                QuestionIds(self._store, waits),
            )
            for what, address in self._given.items()
            if address is not None
        ]


class _InstanceId(msgspec.Struct, gc=False):
    id: Any = None


_IDS = msgspec.json.Decoder(_InstanceId)


class _Feeder:
    """Sends the instances of one partition."""

    def __init__(
        self,
        partition: str,
        store: PartitionStore,
        decisions: str | None,
        reader: PartitionReader,
        service: FedStream,
        batch: int,
    ) -> None:
        self._partition, self._reader, self._service, self._batch = partition, reader, service, batch
        self._outlet = FeedOutlet(partition, store, decisions)

    def step(self) -> int:
        """Send and commit the next instances; their number."""
        store = self._outlet.store
        batch, position = self._reader.read(store.position, self._batch)
        if not batch.keys:
            if position != store.position:
                self._outlet.commit(position, Counts(), [])
            return 0
        assert batch.texts is not None, "logs without texts are refused by their readers"
        bodies: list[bytes | str] = []
        for number, text in enumerate(batch.texts, store.counts.events):
            bodies.append(_body(text, f"{self._partition}/{number}"))
        replies = iter(self._service.decide([each for each in bodies if isinstance(each, bytes)]))
        lines: list[dict[str, Any]] = []
        ids: dict[str, bytes] = {}
        asked = refused = 0
        for number, (key, body) in enumerate(zip(batch.keys, bodies, strict=True)):
            reply: dict[str, Any] = {"error": {"detail": body}} if isinstance(body, str) else next(replies)
            if "error" in reply:
                refused += 1
                line = {"key": key, "refused": reply["error"].get("detail"), "event": store.counts.events + number}
                line |= {"given": batch.texts[number]} if self._outlet.keeps_refused else {}
            else:
                if reply.get("asked"):
                    asked += 1
                    ids[str(reply["round"])] = reply["id"].encode()
                line = {"key": key or reply["id"]} | {name: reply[name] for name in reply if name != "again"}
            lines.append(line)
        count = len(lines)
        self._outlet.commit(position, Counts(count, count - refused, asked, 0, 0, 0, refused), lines, list(ids.items()))
        return count

    def close(self) -> None:
        """Close the store and the output."""
        self._outlet.close()


def _body(text: bytes | None, name: str) -> bytes | str:
    """An instance as one line, with an id; or why it is not one."""
    try:
        found = _IDS.decode(text or b"")
        if found.id is not None and text is not None and b"\n" not in text:
            return text
        values = msgspec.json.decode(text or b"")
        return msgspec.json.encode(values if found.id is not None else {**values, "id": name})
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        return f"this is not an instance: {error}."
