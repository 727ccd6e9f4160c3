"""Keyed streams: events per second and bytes per key, and what they cost for more keys and workers than there are here.

``python benchmarks/keyed.py`` takes some minutes; parts may be named: loop, kafka, feed, workers, keys, model.
``--full`` goes up to a million keys. Times are of the processor where one process works, since a disk that others use
says little, and of the clock where several do.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from scipy.optimize import nnls

import askwhen as aw
from askwhen.keyed import local_processes, partition_of, seed_of
from askwhen.keyed.decisions import read
from askwhen.keyed.job import Job, claim_worker, open_store
from askwhen.keyed.logs.folder import FolderLog
from askwhen.keyed.sampler_spec import SamplerSpec
from askwhen.keyed.stores.records import Counts
from askwhen.keyed.stores.sqlite_store import SqliteKeyedStore
from askwhen.keyed.worker import PartitionWorker

D, SEED = 20, 7
Event = tuple[str, Any, Any, Any]


def make(seed: int) -> aw.Sampler:
    return aw.Sampler(aw.Perceptron(), aw.MarginRule(0.3), seed=seed)


KIND = SamplerSpec.of(make(SEED), D, False)
KINDS = {"perceptron": KIND, "sparse default": SamplerSpec.of(aw.Sampler(seed=SEED), D, True)}
BATCH = 100_000


def drawn(keys: int, events: int, skew: str, seed: int = 0) -> np.ndarray:
    """The keys of events: all alike, or by Zipf's law, the k-th in proportion to 1/k."""
    rng = np.random.default_rng(seed)
    if skew == "uniform":
        return rng.integers(0, keys, events)
    weights = np.cumsum(1.0 / np.arange(1, keys + 1))
    return np.asarray(np.searchsorted(weights, rng.random(events) * weights[-1]))


def log_of(who: np.ndarray) -> list[Event]:
    """Instances of these keys, and the answer to each question right after it."""
    X = np.random.default_rng(1).standard_normal((len(who), D))
    samplers: dict[int, aw.Sampler] = {}
    found: list[Event] = []
    for x, number in zip(X, who.tolist(), strict=True):
        key = f"key {number}"
        sampler = samplers.get(number) or samplers.setdefault(number, make(seed_of(SEED, key)))
        ask = sampler.ask(x)
        found.append((key, x, None, None))
        if ask.query:
            label = 1.0 if x[number % D] > 0 else -1.0
            sampler.tell(ask, label)
            found.append((key, None, ask.round, label))
    return found


def write_parquet(path: Path, events: list[Event], sparse: bool = False) -> None:
    numbers = pa.map_(pa.int64(), pa.float64()) if sparse else pa.list_(pa.float64())
    kinds = (pa.string(), numbers, pa.int64(), pa.float64())
    if sparse:
        events = [(key, None if x is None else list(enumerate(x)), *rest) for key, x, *rest in events]
    columns = zip(*events, strict=True)
    arrays = [pa.array(list(column), kind) for column, kind in zip(columns, kinds, strict=True)]
    table = pa.table(dict(zip(("key", "x", "round", "label"), arrays, strict=True)))
    pyarrow.parquet.write_table(table, path, row_group_size=100_000)


def write_lines(path: Path, events: list[Event]) -> None:
    with path.open("w") as file:
        for key, x, number, label in events:
            event = {"key": key, "x": x.tolist()} if x is not None else {"key": key, "round": number, "label": label}
            file.write(json.dumps(event) + "\n")


def worker_on(
    folder: Path, name: str, cache: int, batch: int, sink: Any = None, kind: SamplerSpec = KIND
) -> PartitionWorker:
    store = SqliteKeyedStore(str(folder / f"store-{name}")).claim(name, kind.written())
    reader = FolderLog(str(folder)).reader(name, kind)
    return PartitionWorker(name, reader, store, kind, cache=cache, batch=batch, sink=sink)


def to_its_end(worker: PartitionWorker) -> float:
    """Events per second of the processor."""
    started, events = time.process_time(), 0
    while done := worker.step():
        events += done
    return events / (time.process_time() - started)


def loop(folder: Path, keys: int = 10_000, events: int = 150_000, trials: int = 3) -> None:
    """The worker of a partition beside a plain loop over the same samplers, all of them in memory.

    They take turns: each plays a part of the events, then each the next, so that a load that changes meets all of them.
    """
    first = log_of(np.arange(keys))
    rest = log_of(np.concatenate([np.arange(keys), drawn(keys, trials * events, "uniform")]))[len(first) :]
    size = -(-len(rest) // trials)
    parts = [rest[at : at + size] for at in range(0, len(rest), size)]
    samplers = {f"key {number}": make(seed_of(SEED, f"key {number}")) for number in range(keys)}

    def play(part: list[Event]) -> float:
        started = time.process_time()
        for key, x, number, label in part:
            if x is not None:
                samplers[key].ask(x)
            else:
                samplers[key].tell(number, label)
        return len(part) / (time.process_time() - started)

    play(first)
    writers = {"parquet": write_parquet, "ndjson": write_lines}
    at_work: dict[tuple[str, int], PartitionWorker] = {}
    for name, batch in itertools.product(writers, (20_000, BATCH)):
        log = folder / f"{name}-{batch}"
        log.mkdir()
        writers[name](log / f"0.{name}", first)
        at_work[name, batch] = worker_on(folder, log.name, 2 * keys, batch)
        to_its_end(at_work[name, batch])  # every key is in memory, and everything is compiled
    plain, rates = 0.0, dict.fromkeys(at_work, 0.0)
    for trial, part in enumerate(parts, 1):
        plain = max(plain, play(part))
        for (name, batch), worker in at_work.items():
            writers[name](folder / f"{name}-{batch}" / f"{trial}.{name}", part)
            rates[name, batch] = max(rates[name, batch], to_its_end(worker))
    print(f"\nA plain loop over {keys:,} samplers in memory, and the worker of a partition with its store\n")
    print("| log | events in a commit | loop, events/s | worker | of the loop |\n|---|---:|---:|---:|---:|")
    for (name, batch), rate in rates.items():
        at_work[name, batch].close()
        print(f"| {name} | {batch:,} | {plain:,.0f} | {rate:,.0f} | {rate / plain:.2f} |", flush=True)


BROKERS = """
import sys
from confluent_kafka import Producer
client = Producer({"bootstrap.servers": "none", "test.mock.num.brokers": 3, "log_level": 0})
print(",".join(f"{each.host}:{each.port}" for each in client.list_topics().brokers.values()), flush=True)
sys.stdin.read()
"""


def kafka(folder: Path, keys: int = 2_000, events: int = 15_000, trials: int = 3) -> None:
    """The worker of a partition with its log and decisions in Kafka, beside one with folders, on the same events.

    The brokers are librdkafka's own, in a process of their own; a partition of theirs holds 5 MB. Both workers are
    fresh, and each trial plays other partitions.
    """
    import confluent_kafka

    command = [sys.executable, "-c", BROKERS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as brokers:
        assert brokers.stdout is not None
        there = brokers.stdout.readline().strip()
        writer = confluent_kafka.Producer({"bootstrap.servers": there, "compression.type": "zstd", "linger.ms": 100})
        best: dict[str, list[float]] = {"folders": [0.0, 0.0], "kafka": [0.0, 0.0]}
        for trial in range(trials + 1):  # the first one only compiles
            log = folder / f"kafka-{trial}"
            log.mkdir()
            part = log_of(drawn(keys, events, "uniform", trial))
            write_lines(log / "part-0.ndjson", part)
            writer.list_topics(f"decisions-{trial}")
            for line in (log / "part-0.ndjson").read_bytes().splitlines():
                writer.produce(f"clicks-{trial}", line, partition=0)
            assert writer.flush(60) == 0
            addresses = {
                "folders": (str(log), str(folder / f"out-{trial}"), "part-0"),
                "kafka": (f"kafka://{there}/clicks-{trial}", f"kafka://{there}/decisions-{trial}", f"clicks-{trial}-0"),
            }
            for name, (source, out, partition) in addresses.items():
                job = Job(source, str(folder / f"{name}-{trial}"), out, KIND.written(), 2 * keys, BATCH, False)
                worker = claim_worker(job, partition)
                started, clock, done = time.process_time(), time.monotonic(), 0
                while step := worker.step():
                    done += step
                rates = done / (time.process_time() - started), done / (time.monotonic() - clock)
                worker.close()
                assert done == len(part), "the partition has lost some"
                if trial:
                    best[name] = [max(pair) for pair in zip(best[name], rates, strict=True)]
        brokers.kill()
    print("\nA partition with its log and decisions in Kafka, beside one with folders\n")
    print("| log | events/s of the processor | of folders | events/s by the clock | of folders |")
    print("|---|---:|---:|---:|---:|")
    for name, (cpu, clock) in best.items():
        shares = [f"{rate / most:.2f}" for rate, most in zip((cpu, clock), best["folders"], strict=True)]
        print(f"| {name} | {cpu:,.0f} | {shares[0]} | {clock:,.0f} | {shares[1]} |")


def feed(folder: Path, events: int = 20_000, trials: int = 3) -> None:
    """A feed from a folder, with decisions to another one, beside a client that sends the same NDJSON and waits.

    Both send to a service in a process of its own, each to a stream of its own, by the clock and in turns.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    command = [sys.executable, "-m", "askwhen", "serve", "--db", str(folder / "a.db"), "--port", url.rpartition(":")[2]]
    X = np.random.default_rng(1).standard_normal((events, D)).round(3)
    lines = [json.dumps({"x": x.tolist(), "id": str(number)}) for number, x in enumerate(X)]
    (folder / "instances").mkdir()
    (folder / "instances" / "a.ndjson").write_text("\n".join(lines) + "\n")
    best = {"a client": 0.0, "a feed": 0.0}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as service:
        client = aw.Client(url, retries=12)
        for trial in range(trials + 1):  # the first one only compiles
            for name in best:
                stream = f"{name[2:]}{trial}"
                settings = {"algorithm": "perceptron-ss", "letters": {"a": 0.3}, "raw": True}
                client.create(stream, labels=["no", "yes"], seed=1, **settings)
                started = time.monotonic()
                if name == "a feed":
                    stores = str(folder / f"fed-{trial}"), str(folder / f"decided-{trial}")
                    aw.keyed.feed(str(folder / "instances"), f"{url}/streams/{stream}", stores[0], decisions=stores[1])
                else:
                    for first in range(0, events, 500):
                        body = ("\n".join(lines[first : first + 500]) + "\n").encode()
                        headers = {"Content-Type": "application/x-ndjson"}
                        client.send("POST", f"/v1/streams/{stream}/instances", content=body, headers=headers)
                if trial:
                    best[name] = max(best[name], events / (time.monotonic() - started))
        client.close()
        service.terminate()
    print("\nInstances to the service, from a client and from a feed\n")
    print("| sent by | instances/s | of a client |\n|---|---:|---:|")
    for name, rate in best.items():
        print(f"| {name} | {rate:,.0f} | {rate / best['a client']:.2f} |")


def workers(folder: Path, events: int = 200_000) -> None:
    """One process and two, with a file for each of four partitions, beside two that only count.

    All by the clock, and the processor's seconds of all processes; those that count are of no use but to say what a
    second process gets from this machine at that moment.
    """
    print("\nOne process and two, with a file for each of four partitions\n")
    print("| keys | skew | one, events/s | two | two to one | two that count, to one | seconds of one | of two |")
    print("|---:|---|---:|---:|---:|---:|---:|---:|")
    for keys, skew in ((4_000, "uniform"), (4_000, "zipf"), (100_000, "uniform")):
        _workers(folder / f"{keys}-{skew}", keys, skew, events)


def _workers(folder: Path, keys: int, skew: str, events: int) -> None:
    parts: list[list[Event]] = [[] for _ in range(4)]
    for event in log_of(drawn(keys, events, skew)):
        parts[partition_of(event[0], 4)].append(event)
    source = folder / "parts"
    source.mkdir(parents=True)
    for number, part in enumerate(parts):
        write_parquet(source / f"part-{number}.parquet", part)
    names = [f"part-{number}" for number in range(4)]
    found: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    counted: list[float] = []
    for trial in range(3):
        counted.append(counting(2) / counting(1))
        for number in (1, 2):
            store = folder / f"with-{number}-{trial}"
            job = Job(str(source), str(store), None, KIND.written(), 40_000, 10_000, False)
            moments: list[tuple[float, int]] = []
            before = os.times()
            local_processes.run(job, names, number, partial(_note, moments))
            after = os.times()
            # Between the first commits and the last, so that imports do not count.
            first, last = moments[len(moments) // 4], moments[-1]
            seconds = after.children_user + after.children_system - before.children_user - before.children_system
            found[number].append(((last[1] - first[1]) / (last[0] - first[0]), seconds))
            shutil.rmtree(store)
    one, two = (max(rate for rate, _ in found[number]) for number in (1, 2))
    cost = [float(np.median([seconds for _, seconds in found[number]])) for number in (1, 2)]
    print(
        f"| {keys:,} | {skew} | {one:,.0f} | {two:,.0f} | {two / one:.2f} | {max(counted):.2f} "
        f"| {cost[0]:.1f} | {cost[1]:.1f} |",
        flush=True,
    )


def counting(number: int, seconds: float = 2.0) -> float:
    """How far so many processes count together in this time, with nothing but a processor."""
    code = f"import time\nend, n = time.time() + {seconds}, 0\nwhile time.time() < end: n += 1\nprint(n)"
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(number)]
    return float(sum(int(each.communicate()[0]) for each in running))


def _note(moments: list[tuple[float, int]], done: int, _last: str) -> None:
    moments.append((time.perf_counter(), done))


class Answers:
    """An output log whose questions are answered in the next piece of the input."""

    keeps_refused = False

    def __init__(self) -> None:
        self.waiting: list[Event] = []

    def begin(self, _partition: str, _counts: Counts, _waiting: int) -> None:
        """Nothing is waiting: the stores are new."""

    def publish(self, _partition: str, _first: int, body: bytes) -> None:
        """Answer at random, since speed does not depend on it."""
        for each in read(body):
            if each["query"]:
                self.waiting.append((each["key"], None, each["round"], 1.0 if each["round"] % 2 else -1.0))

    def close(self) -> None:
        """Nothing is open."""


def measured(folder: Path, name: str, keys: int, skew: str, cache: int, events: int) -> dict[str, float]:
    """Events per second with so many keys in the store, most of them cold; every question is answered soon."""
    kind, batch = KINDS[name], BATCH
    part = folder / f"{name}-{keys}-{skew}-{cache}"
    part.mkdir()
    X = np.random.default_rng(3).standard_normal((1000, D))
    answers = Answers()
    worker = worker_on(folder, part.name, cache, batch, answers, kind)
    who = drawn(keys, events, skew)
    seconds, played = 0.0, 0
    every = np.random.default_rng(2).permutation(keys)
    for number, chosen in enumerate((every, who)):
        for first in range(0, len(chosen), batch):
            piece = answers.waiting
            answers.waiting = []
            piece += [(f"key {key}", X[key % 1000], None, None) for key in chosen[first : first + batch].tolist()]
            write_parquet(part / f"{number}-{first:09d}.parquet", piece, kind.sparse)
            started, done = time.process_time(), 0
            while step := worker.step():
                done += step
            if number:
                seconds, played = seconds + time.process_time() - started, played + done
    worker.close()
    store = folder / f"store-{part.name}"
    sizes = [len(state) for _, state in open_store(str(store)).samplers(part.name)]
    disk = sum(file.stat().st_size for file in store.iterdir()) / keys
    shutil.rmtree(part)
    shutil.rmtree(store)
    missed, stored = simulated(who, cache, batch, every)
    rate, size = played / seconds, float(np.mean(sizes))
    return {"rate": rate, "bytes": size, "disk": disk, "missed": missed, "stored": stored}


def simulated(who: np.ndarray, cache: int, batch: int, before: np.ndarray) -> tuple[float, float]:
    """How many samplers an event reads from the store and writes to it, on average: the cache, without samplers."""
    held: dict[int, None] = dict.fromkeys(before[-cache:].tolist())
    missed = stored = 0
    for first in range(0, len(who), batch):
        part = dict.fromkeys(who[first : first + batch].tolist())
        stored += len(part)
        for key in part:
            if key in held:
                del held[key]
            else:
                missed += 1
                if len(held) >= cache:
                    del held[next(iter(held))]
            held[key] = None
    return missed / len(who), stored / len(who)


def keys(folder: Path, most: int = 100_000, events: int = 200_000) -> dict[str, list[dict[str, float]]]:
    """Events per second against keys, skew and cache, for each kind of sampler."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in KINDS}
    print("\nEvents a second and bytes a key\n")
    print("| sampler | keys | skew | cache | events/s | bytes a key | of the file | read an event | written an event |")
    print("|---|---:|---|---:|---:|---:|---:|---:|---:|")
    settings = [("uniform", 10_000), ("zipf", 10_000), ("uniform", 1_000), ("zipf", 1_000)]
    for name, number in itertools.product(KINDS, (1_000, 10_000, 100_000, 1_000_000)):
        if number > (most if name == "perceptron" else most // 10):  # a million of the default take long
            continue
        for skew, cache in settings if name == "perceptron" and number < 1_000_000 else settings[:2]:
            each = measured(folder, name, number, skew, cache, events if name == "perceptron" else events // 4)
            found[name].append(each)
            figures = "{rate:,.0f} | {bytes:,.0f} | {disk:,.0f} | {missed:.2f} | {stored:.2f}".format(**each)
            print(f"| {name} | {number:,} | {skew} | {cache:,} | {figures} |", flush=True)
    return found


def model(found: dict[str, list[dict[str, float]]], workers: int = 1_000, keys: int = 10**9) -> None:
    """A fit of seconds per event = play + read * missed + write * stored, and what follows for more keys and workers.

    Assumed: events are spread over workers by a hash of the key; each has a core, a disk and a store of its own, so
    that costs are those of its share of the keys; an index grows by a level for every hundredfold, which the fit
    cannot see; the store of a share is in the page cache, or every read costs one more read of a disk (``disk``).
    """
    print("\nMicroseconds of an event, fitted\n")
    print("| sampler | play | read | write | off on average | at most |\n|---|---:|---:|---:|---:|---:|")
    fits: dict[str, np.ndarray] = {}
    for name, rows in found.items():
        A = np.array([[1.0, each["missed"], each["stored"]] for each in rows])
        rates = np.array([each["rate"] for each in rows])
        fits[name], _ = nnls(A * rates[:, None], np.ones(len(rates)))  # the smallest relative errors
        errors = 100 * abs(A @ fits[name] * rates - 1.0)
        figures = " | ".join(f"{1e6 * cost:.1f}" for cost in fits[name])
        print(f"| {name} | {figures} | {errors.mean():.0f} % | {errors.max():.0f} % |")
    share, cache, disk = keys // workers, 10_000, 100e-6
    print(f"\n{keys:,} keys on {workers:,} workers, by the model\n")
    print("| sampler | skew | each, events/s | all | each, where a read waits for a disk | GB of store each |")
    print("|---|---|---:|---:|---:|---:|")
    for (name, costs), skew in itertools.product(fits.items(), ("uniform", "zipf")):
        missed, stored = simulated(drawn(share, 500_000, skew), cache, BATCH, np.arange(share)[::-1])
        one = costs @ [1.0, missed, stored]
        harmonic = np.log(keys) + np.euler_gamma
        largest = max(1.0 / workers, 1.0 / harmonic if skew == "zipf" else 0.0)  # of all events, the busiest worker's
        slow, size = one + missed * disk, share * found[name][-1]["disk"] / 1e9
        print(f"| {name} | {skew} | {1 / one:,.0f} | {1 / (one * largest):,.0f} | {1 / slow:,.0f} | {size:.1f} |")


PARTS: dict[str, Callable[..., Any]] = {
    "loop": loop,
    "kafka": kafka,
    "feed": feed,
    "workers": workers,
    "keys": keys,
    "model": model,
}


def main() -> None:
    wanted = [word for word in sys.argv[1:] if word in PARTS] or list(PARTS)
    most = 1_000_000 if "--full" in sys.argv else 100_000
    folder = Path(tempfile.mkdtemp(prefix="keyed-"))
    try:
        for name in ("loop", "kafka", "feed", "workers"):
            if name in wanted:
                PARTS[name](folder)
        if {"keys", "model"} & set(wanted):
            found = keys(folder, most)
            if "model" in wanted:
                model(found)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
