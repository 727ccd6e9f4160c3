"""``kill -9`` at random moments under load: what was acknowledged is there, once, and the model has the same bits."""

import contextlib
import json
import random
import signal
import time

import apsw
import numpy as np
import pytest

import askwhen as aw
from askwhen.service.domain.model import Model
from askwhen.service.events.kinds import Created, facts_of
from askwhen.service.events.settings import Settings
from askwhen.service.store import Event, backups, open_store
from askwhen.service.store.sqlite import SqliteStore
from tests.service import history
from tests.service.library import Library, bits
from tests.service.load import Crowd
from tests.service.nursery import Child, Nursery
from tests.service.power import Disk, Layer
from tests.service.receiver import Receiver, hangs_up
from tests.soak import times

LABELS = ["ham", "spam", "other"]

pytestmark = pytest.mark.xdist_group("service crashes")  # they share a server


@pytest.fixture(scope="module")
def nursery(tmp_path_factory):
    with Nursery(tmp_path_factory.mktemp("nursery") / "log") as nursery:
        yield nursery


def checked(address, crowd):
    """Read the database as it is after an orderly end, and compare it with what clients were told."""
    with contextlib.closing(open_store(address)) as store, contextlib.closing(store.reader()) as reader:
        fact = next(facts_of(e) for e in reader.events(0, 0, 100) if isinstance(facts_of(e), Created))
        events = reader.events(fact.stream, 0, 1 << 40)
        snapshot = reader.snapshot(fact.stream)
    history.check(events)
    by_key = {event.key: json.loads(event.facts) | {"q": event.question} for event in events if event.key}
    for id, said in crowd.instances.items():
        stored = by_key[f"i:{id}"]
        for name in ("round", "prediction", "margin", "probability", "asked", "why"):
            assert stored[name] == said[name], (id, name)
    for key, said in crowd.answers.items():
        stored = by_key[f"a:{key}"]
        assert (stored["q"], stored["slot"], stored["label"]) == (said["question"], said["slot"], said["label"])
    library = Library(fact.settings)
    library.follow(events)
    assert snapshot.seq == len(events)
    assert bits(library.sampler) == snapshot.model
    return events


def settings():
    return {
        "labels": LABELS,
        "budget": {"rate": 0.4},
        "seed": 5,
        "grace": 0.3,
        "slots": 2,
        "forget": 20.0,
        "lease": 2.0,
    }


def test_kills_at_random_moments_lose_nothing(nursery, tmp_path):
    rng = random.Random(1)
    address = str(tmp_path / "log.db")
    with Child(nursery, address) as server:
        with aw.Client(server.url) as client:
            client.create("mails", **settings(), advisers=["gpt", "rules"])
        crowd = Crowd(server.url, "mails", 3, 4, LABELS, advisers=["gpt", "rules"]).start()
        try:
            for _ in range(times(10, 200)):
                time.sleep(rng.uniform(0.02, 0.5))
                server.end(signal.SIGKILL)
                server.start()
            time.sleep(0.3)
        finally:
            crowd.stop()
        server.end(signal.SIGTERM)
    events = checked(address, crowd)
    assert len(crowd.instances) > times(50, 1000)
    assert len(crowd.answers) > times(20, 400)
    assert {"told", "answered", "leased", "advised"} <= {event.kind for event in events}
    assert sum(event.kind == "instance" and facts_of(event).advice is not None for event in events) > times(30, 600)
    connection = apsw.Connection(address)
    assert connection.execute("pragma integrity_check").get == "ok"
    connection.close()


def test_years_of_restarts_lose_nothing_and_stay_small(nursery, tmp_path):
    """Ends in order and kills by turns, with webhooks, erasures, and a backup while all that goes on."""
    address, pause = str(tmp_path / "log.db"), times(1.5, 20.0)
    with Receiver() as receiver, Child(nursery, address, ["127.0.0.0/8"]) as server:
        with aw.Client(server.url) as client:
            given = settings() | {"slots": 1}  # disputed questions would wait for a reviewer, and grow in number
            client.create("mails", **given)
            client.create("short", **given, erase=2.0)
            client.send("POST", "/v1/webhooks", json={"url": receiver.url, "kinds": ["question.opened"]})
        crowds = [
            Crowd(server.url, name, 2, 3, LABELS, seed=i, pause=0.02) for i, name in enumerate(("mails", "short"))
        ]
        for crowd in crowds:
            crowd.start()
        sizes = []
        try:
            for turn in range(times(4, 30)):
                receiver.answers = [500, hangs_up] * 3
                time.sleep(pause)
                sizes.append(private_memory(server.pid))
                if turn == 1:
                    backups.backup(address, str(tmp_path / "some.backup"))
                server.end(signal.SIGTERM if turn % 2 else signal.SIGKILL)
                server.start()
            time.sleep(0.5)
        finally:
            for crowd in crowds:
                crowd.stop()
        asked = {said["round"] for said in crowds[0].instances.values() if said["asked"]}
        end = time.monotonic() + 300.0
        while time.monotonic() < end and not asked <= told_of(receiver, "mails"):
            time.sleep(0.1)
        assert asked <= told_of(receiver, "mails")
        time.sleep(3.0)  # what is two seconds old is erased
        server.end(signal.SIGTERM)
    checked(address, crowds[0])
    with contextlib.closing(open_store(address)) as store, contextlib.closing(store.reader()) as reader:
        played = [e for e in reader.events(2, 0, 1 << 40) if e.kind == "instance"]
        assert len(played) >= len(crowds[1].instances) > times(50, 5_000)
        assert all(e.row is None and e.shown is None for e in played)
    assert backups.checked(str(tmp_path / "some.backup")).streams == 2
    print(f"memory in MB: {[round(size / 1e6) for size in sizes]}")
    third = len(sizes) // 3
    assert sorted(sizes[-third:])[third // 2] < 1.1 * sorted(sizes[third : 2 * third])[third // 2] + 2e6


def told_of(receiver, stream):
    """The rounds of a stream of which a receiver was told."""
    said = [each["data"] for each in list(receiver.told)]
    return {each["round"] for each in said if each["stream"] == stream}


def private_memory(pid):
    """What a process has for itself, in bytes: it was forked, and shares the rest."""
    with open(f"/proc/{pid}/smaps_rollup") as lines:
        found = dict(line.split(":") for line in lines if ":" in line and "kB" in line)
    return 1024 * sum(int(found[name].split()[0]) for name in ("Private_Dirty", "Private_Clean"))


def test_kills_of_the_server_and_of_the_database_lose_nothing(nursery, cluster):
    rng = random.Random(2)
    address = cluster.database()
    with Child(nursery, address) as server:
        with aw.Client(server.url) as client:
            client.create("mails", **settings())
        crowd = Crowd(server.url, "mails", 3, 4, LABELS).start()
        try:
            for turn in range(times(3, 50)):
                time.sleep(rng.uniform(0.05, 0.5))
                if turn % 2:
                    server.end(signal.SIGKILL)
                else:
                    cluster.stop("immediate")
                    server.end(0)  # it ends by itself
                    cluster.start()
                end = time.monotonic() + 120.0
                while True:  # the lock of a killed server is free once PostgreSQL sees its end
                    try:
                        server.start()
                        break
                    except AssertionError:
                        assert time.monotonic() < end
            end = time.monotonic() + 120.0
            while len(crowd.instances) <= 20 and time.monotonic() < end:  # a busy machine had no time for them
                time.sleep(0.3)
        finally:
            crowd.stop()
        server.end(signal.SIGTERM)
    checked(address, crowd)
    assert len(crowd.instances) > 20


def test_a_wal_cut_at_any_byte_gives_a_prefix():
    """What a torn write leaves behind: the log is whole up to some event, and begins the same."""
    layer = Layer("askwhen-cut")
    try:
        layer.disk = Disk()
        store = SqliteStore("log", layer.name)
        events = [Event(1, i + 1, 0.0, "paused", None, None, "{}", bytes(300)) for i in range(5)]
        for event in events:
            store.write([event], [])
        database, wal = (bytes(layer.disk.files[name].now) for name in ("log", "log-wal"))
        layer.disk.gone = True
        store.connection.close(force=True)
        assert len(wal) > 20_000
        last = 0
        for size in range(0, len(wal) + 1, times(61, 1)):
            layer.disk = Disk({"log": database, "log-wal": wal[:size]})
            store = SqliteStore("log", layer.name)
            found = store.reader().events(1, 0, 100)
            layer.disk.gone = True
            store.connection.close(force=True)
            assert found == events[: len(found)]
            assert len(found) >= last
            last = len(found)
        assert last >= 4
    finally:
        layer.unregister()


def test_a_snapshot_cut_at_any_byte_is_refused():
    given = Settings(labels=LABELS[:2], seed=1, algorithm="perceptron")
    model = Model(given)
    for i in range(20):
        ask = model.ask(np.array([float(i), 1.0]), 0.0).ask
        model.tell(ask.round, LABELS[i % 2])
    content = model.dump()()
    assert bits(Model.load(given, content).sampler) == content
    for size in range(0, len(content), times(37, 1)):
        with pytest.raises(aw.SnapshotError):
            Model.load(given, content[:size])
