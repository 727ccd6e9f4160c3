"""One server owns a PostgreSQL database; another one takes over, and the former can change nothing."""

import threading
import time

import psycopg
import pytest

from askwhen.service.errors import ServedError, StoreError
from askwhen.service.store import Event, lease_postgresql, open_store
from askwhen.service.store.migrations import scripts
from askwhen.service.store.postgresql import PostgresqlStore


def event(seq):
    return Event(1, seq, 0.0, "paused", None, None, "{}")


def expire(database):
    """Let the lease end, as if the owner had not renewed it."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("update lease set until = clock_timestamp() - interval '1 second'")


def stop_renewing(store):
    """Freeze the part of an owner that renews its lease."""
    store._lease._ended.set()
    store._lease._keeper.join()


@pytest.fixture
def database(cluster):
    return cluster.database()


def test_the_lease_of_a_living_owner_is_renewed_and_is_free_at_once_when_it_ends(database, monkeypatch):
    monkeypatch.setattr(lease_postgresql, "LEASE", 0.4)
    monkeypatch.setattr(lease_postgresql, "RENEWAL", 0.1)
    first = open_store(database)
    with pytest.raises(ServedError, match="another process of askwhen serves this database"):
        open_store(database, patience=1.5)
    first.close()
    second = open_store(database, patience=0.0)
    second.close()


def test_a_killed_owner_is_followed_without_waiting_for_its_lease(database, monkeypatch):
    monkeypatch.setattr(lease_postgresql, "LEASE", 1000.0)
    first = open_store(database)
    stop_renewing(first)
    first.connection.close()  # what the end of a process does
    second = open_store(database)
    second.write([event(1)])
    second.close()


def test_a_frozen_owner_is_followed_and_cannot_write_when_it_wakes(database):
    lost = []
    first = open_store(database)
    first.watch(lost.append)
    stop_renewing(first)
    first.write([event(1)])
    expire(database)
    second = open_store(database)
    with pytest.raises(StoreError, match="another server owns the database now"):
        first.write([event(2)])
    with pytest.raises(StoreError, match="another server owns the database now"):
        first.fill([[event(2)]])
    first.close()
    second.write([event(2)])
    with pytest.raises(ServedError):
        open_store(database, patience=0.3)  # closing the former owner did not release the lease of the second
    reader = second.reader()
    assert reader.last(1) == 2
    reader.close()
    second.close()


def test_an_owner_that_does_not_write_notices_that_it_was_followed(database):
    lost, noticed = [], threading.Event()
    first = open_store(database)
    first.watch(lambda error: (lost.append(error), noticed.set()))
    expire(database)
    second = None
    while second is None:  # the first one renews its lease meanwhile
        try:
            second = open_store(database, patience=0.0)
        except ServedError:
            expire(database)
    assert noticed.wait(30.0)
    assert "another server owns the database now" in str(lost[0])
    again = []
    first.watch(again.append)
    assert len(again) == 1
    first.close()
    second.close()


def test_a_commit_of_a_frozen_owner_is_undone(database):
    """Frozen between two statements of a commit, it still holds the lock by which it keeps others away."""
    first = open_store(database)
    stop_renewing(first)
    going_on, frozen = threading.Event(), threading.Event()

    def parts():
        yield [event(1)]
        frozen.set()
        assert going_on.wait(60.0)
        yield [event(2)]

    failed = []

    def fill():
        try:
            first.fill(parts())
        except psycopg.Error as error:
            failed.append(error)

    thread = threading.Thread(target=fill)
    thread.start()
    assert frozen.wait(30.0)
    with pytest.raises(ServedError):
        open_store(database, patience=1.5)  # its lease is valid: the commit may take as long as it needs
    expire(database)
    second = open_store(database, patience=30.0)
    going_on.set()
    thread.join()
    assert failed
    reader = second.reader()
    assert reader.last(1) == 0
    reader.close()
    with pytest.raises(StoreError, match="another server owns the database now"):
        first.write([event(1)])
    first.close()
    second.close()


def test_a_server_of_an_older_version_keeps_a_new_one_away_and_cannot_go_on_after_it(database):
    with psycopg.connect(database, autocommit=True) as older:
        older.execute("create table versions (number integer primary key, applied timestamptz not null)")
        for number, script in scripts("postgresql"):
            older.execute(script)
            older.execute("insert into versions values (%s, now())", (number,))
        older.execute("select pg_advisory_lock(%s)", (lease_postgresql._LOCK,))
        (mine,) = older.execute("update owner set number = number + 1 returning number").fetchone()
        with pytest.raises(ServedError):
            open_store(database, patience=0.3)
    store = open_store(database)
    with psycopg.connect(database, autocommit=True) as older:
        assert older.execute("select 1 from owner where number = %s", (mine,)).fetchone() is None
        assert older.execute("select pg_try_advisory_lock(%s)", (lease_postgresql._LOCK,)).fetchone()[0]
        older.execute("update owner set number = number + 1")
    with pytest.raises(StoreError, match="another server owns the database now"):
        store.write([event(1)])
    store.close()


def test_of_many_that_wait_one_becomes_the_owner(database):
    first = open_store(database)
    stores, refused = [], []

    def wait():
        try:
            stores.append(PostgresqlStore(database, patience=3.0))
        except ServedError as error:
            refused.append(error)

    threads = [threading.Thread(target=wait) for _ in range(5)]
    for each in threads:
        each.start()
    time.sleep(0.5)
    first.close()
    for each in threads:
        each.join()
    assert (len(stores), len(refused)) == (1, 4)
    stores[0].write([event(1)])
    stores[0].close()
