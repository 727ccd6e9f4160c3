"""The public functions of keyed streams: play a log, and look at the sampler of a key."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..data.files import perhaps
from ..errors import InputError
from ..sampler import Sampler
from ..system.extras import needs_extra
from ..validation import check_count, check_flag
from . import local_processes
from .errors import damaged
from .job import Job, NewPartitions, open_log, open_sink, open_store, play_partitions, total_counts
from .local_processes import ProgressCallback
from .logs.protocols import EventLog
from .sampler_pool import SamplerPool
from .sampler_spec import SamplerSpec
from .seeds import partition_of
from .stores.records import Counts, reading_kind

_MOST_SUGGESTED = 10_000
"""Number of keys of a partition that are compared with an unknown one for a suggestion."""


@dataclass(frozen=True)
class Played:
    """The result of a keyed stream.

    Attributes
    ----------
    counts : Counts
        Of all events that the store has ever seen: instances, questions, answers, unsolicited labels, questions that
        were dropped, and events that were refused.
    partitions : list of str
        The names of the partitions.
    deaths : int
        Number of workers that died and were started again.
    """

    counts: Counts
    partitions: list[str]
    deaths: int


# More than eight arguments: this is the public call, and each of them is documented by name.
def run(
    source: str,
    store: str,
    sampler: Sampler,
    *,
    out: str | None = None,
    workers: int = 0,
    cluster: str | None = None,
    features: int | None = None,
    sparse: bool = False,
    cache: int = 10_000,
    batch: int = 100_000,
    follow: bool = False,
    questions: str | None = None,
    token: str | None = None,
    start: str | None = None,
    watch: ProgressCallback | None = None,
) -> Played:
    r"""Play a partitioned log of events, with a sampler for each key.

    Killed at any moment and called again, it goes on, and ends as if it had never been killed, bit for bit.

    Parameters
    ----------
    source : str
        The log: a directory of partitions, ``redis://host:6379/0?streams=clicks:`` for streams with this prefix, or a
        topic, ``kafka://host:9092/clicks``, with ``?answers=TOPIC`` for a second one, of answers, or a stream of NATS
        JetStream, ``nats://host:4222/CLICKS``.
    store : str
        A directory, for an SQLite file of each partition, or ``postgresql://...`` for workers on several machines.
    sampler : Sampler
        A new one with a seed: every key gets a sampler like it, whose seed is derived from this one's and the key. One
        with a ``schema`` takes events whose x has named values, ``{"price": 2.5, "city": "Rome"}``.
    out : str, optional
        An output log for decisions, a directory, Redis, Kafka or NATS; without one, they stay in the store.
    workers : int, default 0
        Number of worker processes; 0 works in this process.
    cluster : str, optional
        A Ray cluster whose actors are the workers: ``host:port``, "auto" for the one that this machine belongs to, or
        "local" for one that is started here, on loopback and with a token.
    features : int, optional
        Number of features; by default that of the first instance. Sparse instances need it.
    sparse : bool, default False
        Whether x is an object that maps indices to numbers, ``{"3": 0.5}``, and not a list. Instances of several kinds
        always are: a sampler with ``kinds`` says how many features there are.
    cache : int, default 10000
        Number of samplers that a worker holds in memory; those of all other keys are in the store.
    batch : int, default 100000
        Largest number of events of a partition in a commit.
    follow : bool, default False
        Whether to wait for more events at the end of the log, for ever.
    questions : str, optional
        A stream of the labelling service, ``http://127.0.0.1:8300/streams/NAME``, which asks about everything that it
        is sent. Questions go there as well as to ``out``, which must be given, and the answers are appended to the
        log: at the start, and with ``follow`` as they arrive.
    token : str, optional
        A producer's token for that service.
    start : str, optional
        Where to begin to read a partition of Kafka or NATS that has no stored offset, or whose offset has expired:
        "earliest", "latest", or a time as in "2026-01-31T12:00:00Z". By default the first is read from its beginning,
        and the second stops the work.
    watch : callable, optional
        Called with the number of events committed so far, and the partition of the last ones.

    Examples
    --------
    >>> import json, pathlib, askwhen as aw
    >>> pathlib.Path("log").mkdir()
    >>> events = [{"key": "ann", "x": [1.0, 0.5]}, {"key": "ann", "round": 0, "label": 1}, {"key": "bob", "x": [2, 1]}]
    >>> _ = pathlib.Path("log/one.ndjson").write_text("".join(json.dumps(event) + "\n" for event in events))
    >>> found = aw.keyed.run("log", "store", aw.Sampler(aw.Perceptron(), aw.Always(), seed=7))
    >>> found.counts.instances, found.counts.answers
    (2, 1)
    >>> aw.keyed.sampler("store", "ann").updates
    1
    """
    check_count("keyed", "cache", cache)
    check_count("keyed", "batch", batch)
    check_flag("keyed", "follow", follow)
    if workers:
        check_count("keyed", "workers", workers)
    source, store, out = os.fspath(source), os.fspath(store), None if out is None else os.fspath(out)
    spec = SamplerSpec.of(sampler, features, sparse).as_stored(open_store(store).kind())
    job = Job(source, store, out, spec.written(), int(cache), int(batch), bool(follow), questions, token, start)
    log = open_log(source, start)
    partitions = log.partitions()
    if out is not None:
        open_sink(out).close()  # refuses a wrong address before anything is claimed
    _check_disjoint(source=source, store=store, out=out)
    with _importing_answers(job, spec, log):
        deaths = _play(job, log, partitions, int(workers), cluster, watch)
    return Played(total_counts(job, partitions), partitions, deaths)


def _check_disjoint(**given: str | None) -> None:
    """Refuse directories of which one is in another: what is written to one would be read from the other."""
    folders = {name: Path(each).resolve() for name, each in given.items() if each is not None and "://" not in each}
    for one, other in itertools.permutations(folders, 2):
        if folders[one].is_relative_to(folders[other]):
            raise InputError(f"{one} is {given[one]}, which is in {other}, {given[other]}.", owner="keyed")
    source, out = given["source"] or "", given["out"] or ""
    if "://" in source and _topic(source) == _topic(out):
        raise InputError("out is the log that is read: decisions would be taken for events.", owner="keyed")


def _topic(address: str) -> str:
    """An address without configuration, except that streams of Redis are named there."""
    return address if address.startswith(("redis", "unix")) else address.partition("?")[0]


def _play(
    job: Job,
    log: EventLog,
    partitions: list[str],
    workers: int,
    cluster: str | None,
    watch: ProgressCallback | None,
) -> int:
    """Play all partitions, here or elsewhere; the number of workers that died."""
    if cluster is not None:
        from . import actors

        return actors.run(job, partitions, workers or 1, cluster, watch)
    new = NewPartitions(True, log, partitions) if job.follow else None
    if workers:
        return local_processes.run(job, partitions, workers, watch, new)
    play_partitions(job, partitions, _counting(watch), new)
    return 0


@contextlib.contextmanager
def _importing_answers(job: Job, spec: SamplerSpec, log: EventLog) -> Iterator[None]:
    """Import answers to the log once, and again during this block if the job follows the log."""
    if job.questions is None:
        yield
        return
    if job.out is None:
        raise InputError("questions need an output log too, for all decisions: give out.", owner="keyed")
    with needs_extra("keyed", "a stream of questions", "keyed"):
        from .service_questions import AnswerImporter

    importer = AnswerImporter(job.questions, job.token, spec, log, open_store(job.store))
    try:
        importer.import_new()
        if job.follow:
            importer.follow()
        yield
    finally:
        importer.close()


def _counting(watch: ProgressCallback | None) -> Callable[[str, int], None]:
    """A callback for single commits that reports their sum."""
    done = 0

    def on_commit(partition: str, events: int) -> None:
        nonlocal done
        done += events
        if watch is not None:
            watch(done, partition)

    return on_commit


def sampler(store: str, key: str) -> Sampler:
    """The sampler of a key, as a copy of what is stored.

    Parameters
    ----------
    store : str
        The directory or the address of the store.
    key : str
        The key.
    """
    opened = open_store(store)
    kind = opened.kind()
    if kind is not None:
        names = opened.partitions()
        likely = f"part-{partition_of(key, len(names))}"
        for partition in sorted(names, key=lambda name: name != likely):
            found = opened.sampler(partition, key)
            if found is not None:
                with reading_kind():
                    known = SamplerSpec.read(kind)
                d = opened.features(partition)
                if d is None:
                    raise damaged(f"the store of partition {partition}", "it has samplers but no number of features")
                restored = SamplerPool(known, d).restore(key, found).sampler
                if known.schema is not None:
                    restored.engine.give_schema(known.schema)
                return restored
    keys = (each for partition in opened.partitions() for each in opened.keys(partition, _MOST_SUGGESTED))
    raise InputError(f"{store} has no sampler of key {key!r}{perhaps(key, keys)}.", owner="keyed")
