"""The log in a database: versions, order, keys, one writer."""

import contextlib
import pathlib
import subprocess

import apsw
import psycopg
import pytest

from askwhen.service.errors import StoreError
from askwhen.service.store import Event, Snapshot, open_store, postgresql, sqlite
from askwhen.service.store.migrations import scripts
from askwhen.service.store.records import Delivered, Erasure, Message


@pytest.fixture
def store(address):
    store = open_store(address)
    yield store
    store.close()


@pytest.fixture
def file(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    yield store
    store.close()


def event(stream, seq, **given):
    return Event(stream, seq, float(seq), "answered", given.pop("question", None), given.pop("key", None), "{}")


def test_what_is_written_is_read_in_order(store):
    store.write([event(s, q) for q in range(1, 4) for s in (1, 2)], [])
    reader = store.reader()
    assert [each.seq for each in reader.events(1, 1, 10)] == [2, 3]
    assert [each.seq for each in reader.events(2, 0, 2)] == [1, 2]
    assert (reader.last(1), reader.last(7), reader.last_time()) == (3, 0, 3.0)
    assert reader.event(2, 3) == event(2, 3)
    assert reader.event(2, 4) is None
    reader.close()


def test_events_are_found_by_key_and_by_question(store):
    store.write([event(1, 1, key="i:a", question=0), event(1, 2, key="a:b", question=0), event(2, 1, key="i:a")], [])
    reader = store.reader()
    assert {each.seq for each in reader.by_keys(1, ["i:a", "a:b", "none"])} == {1, 2}
    assert [each.seq for each in reader.of_question(1, 0)] == [1, 2]
    assert reader.by_keys(1, [f"i:{i}" for i in range(2000)] + ["a:b"]) == [event(1, 2, key="a:b", question=0)]
    reader.close()


def test_a_batch_with_a_key_twice_is_refused_whole(store):
    store.write([event(1, 1, key="i:a")], [])
    with pytest.raises((apsw.ConstraintError, psycopg.errors.UniqueViolation)):
        store.write([event(1, 2), event(1, 3, key="i:a")], [])
    if store.quick:
        store.connection.execute("rollback")
    reader = store.reader()
    assert reader.last(1) == 1
    reader.close()


def test_the_last_two_snapshots_are_kept(store):
    for seq in (5, 9, 12):
        store.write([], [Snapshot(1, seq, "{}", b"b%d" % seq, b"m")])
    reader = store.reader()
    assert reader.snapshot(1) == Snapshot(1, 12, "{}", b"b12", b"m")
    assert reader.snapshot(2) is None
    rows = store.connection.execute("select seq from snapshots order by seq").fetchall()
    assert [seq for (seq,) in rows] == [9, 12]
    reader.close()


def test_contents_are_erased_with_older_snapshots(store):
    full = event(1, 1)._replace(kind="instance", row=b"row", shown=b"shown", subject="ann")
    store.write([full, full._replace(seq=2, subject="bob"), full._replace(stream=2)])
    for seq in (1, 2):
        store.write([], [Snapshot(1, seq, "{}", b"b", b"m"), Snapshot(2, seq, "{}", b"b", b"m")])
    reader = store.reader()
    assert (reader.of_subject(1, "ann"), reader.of_subject(2, "ann"), reader.of_subject(1, "cid")) == ([1], [1], [])
    assert (reader.with_contents(1, 0, 9, 9), reader.with_contents(1, 1, 9, 9)) == ([1, 2], [2])
    assert (reader.with_contents(1, 0, 1, 9), reader.with_contents(1, 0, 9, 1)) == ([1], [1])
    store.write([], [], [Erasure(1, [1])])
    assert reader.event(1, 1) == full._replace(row=None, shown=None, subject=None)
    assert (reader.with_contents(1, 0, 9, 9), reader.of_subject(1, "ann"), reader.of_subject(2, "ann")) == (
        [2],
        [],
        [1],
    )
    rows = store.connection.execute("select stream, seq from snapshots order by stream, seq").fetchall()
    assert [tuple(row) for row in rows] == [(1, 2), (2, 1), (2, 2)]
    store.scrub()
    reader.close()


def test_messages_wait_in_the_transaction_of_their_events(store):
    first, second = (Message(f"m{i}", "hook", float(i), 0.5, 0, "", "{}") for i in (1, 2))
    store.write([event(1, 1)], [], [first, second, first._replace(id="m0", hook="other")])
    reader = store.reader()
    assert [each.id for each in reader.messages()] == ["m0", "m1", "m2"]
    store.write([], [], [first._replace(due=None, attempts=3, problem="no answer"), Delivered(["m2"])])
    assert reader.messages("hook") == [first._replace(due=None, attempts=3, problem="no answer")]
    with pytest.raises((apsw.ConstraintError, psycopg.errors.UniqueViolation)):
        store.write([event(1, 1)], [], [second])
    if store.quick:
        store.connection.execute("rollback")
    assert [each.id for each in reader.messages("hook")] == ["m1"]
    reader.close()


def test_a_reader_cannot_write(store):
    reader = store.reader()
    with pytest.raises((apsw.ReadOnlyError, psycopg.errors.ReadOnlySqlTransaction)):
        reader._connection.execute("delete from events")
    reader.close()


def test_a_second_process_is_refused(store, address, monkeypatch):
    monkeypatch.setattr(postgresql, "PATIENCE", 0.2)
    with pytest.raises(StoreError, match=r"another process of askwhen serves .*; stop it first, or give its address"):
        open_store(address)


def test_a_database_of_a_later_version_is_refused(tmp_path):
    path = str(tmp_path / "log.db")
    open_store(path).close()
    with apsw.Connection(path) as connection:
        connection.execute("insert into versions values (99, '')")
        connection.execute("delete from versions where number = 99")
        connection.execute(f"insert into versions values ({len(scripts('sqlite')) + 1}, '')")
    connection.close()
    with pytest.raises(StoreError, match=f"the database has version {len(scripts('sqlite')) + 1}, of a later askwhen"):
        open_store(path)


def test_a_file_that_is_no_database_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "log.db").write_bytes(b"something else\n" * 100)
    with pytest.raises(StoreError, match="cannot be used"):
        open_store(str(tmp_path / "log.db"))
    with pytest.raises(StoreError, match="No such file"):
        open_store(str(tmp_path / "nowhere" / "log.db"))


def test_the_settings_are_the_safe_ones(file):
    run = file.connection.execute
    assert (run("pragma journal_mode").get, run("pragma synchronous").get) == ("wal", 2)
    assert run("pragma wal_autocheckpoint").get == 0


def test_the_log_is_copied_out_of_the_wal(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "CHECKPOINT_PAGES", 20)
    store = open_store(str(tmp_path / "log.db"))
    for i in range(200):
        store.write([event(1, i + 1)._replace(row=bytes(3000))], [])
    assert (tmp_path / "log.db-wal").stat().st_size < 60 * 4096
    assert (tmp_path / "log.db").stat().st_size > 100 * 3000
    store.close()


def test_an_old_sqlite_is_refused(monkeypatch):
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.40.1")
    with pytest.raises(StoreError, match=r"SQLite 3\.40\.1 can lose committed rows"):
        sqlite.check_version()


def test_both_databases_have_the_same_versions():
    assert [number for number, _ in scripts("sqlite")] == [number for number, _ in scripts("postgresql")]


def test_unsafe_settings_of_postgresql_are_refused(cluster):
    database = cluster.database()
    try:
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            cluster.restart("-c", f"{setting}=off")
            with pytest.raises(StoreError, match=f"PostgreSQL has {setting} off, so a crash could lose answers"):
                open_store(database)
    finally:
        cluster.restart()


def test_a_server_that_was_followed_by_another_cannot_write(cluster):
    database = cluster.database()
    first = open_store(database)
    first.write([event(1, 1)], [])
    with psycopg.connect(database, autocommit=True) as other:
        other.execute("select pg_advisory_unlock_all()")
        other.execute("update owner set number = number + 1")
    with pytest.raises(StoreError, match="another server owns the database now"):
        first.write([event(1, 2)], [])
    reader = first.reader()
    assert reader.last(1) == 1
    reader.close()
    first.close()


def test_a_database_that_is_not_there_is_refused_in_a_sentence(cluster):
    with pytest.raises(StoreError, match="PostgreSQL cannot be reached: .*does not exist"):
        open_store(cluster.address("nowhere"))


def test_the_store_of_the_service_waits_for_the_disk(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    said = {name: store.connection.execute(f"pragma {name}").get for name in ("synchronous", "journal_mode")}
    checkpoints = store.connection.execute("pragma wal_autocheckpoint").get
    store.close()
    assert (said, checkpoints) == ({"synchronous": 2, "journal_mode": "wal"}, 0)


def test_a_file_is_locked_by_whatever_name(tmp_path):
    with contextlib.closing(open_store(str(tmp_path / "log.db"))) as store:
        store.write([event(1, 1)])
        (tmp_path / "linked.db").hardlink_to(tmp_path / "log.db")
        with pytest.raises(StoreError, match=r"another process of askwhen serves .*linked.db; stop it first"):
            open_store(str(tmp_path / "linked.db"))
        store.write([event(1, 2)])
    assert (tmp_path / "log.db.lock").stat().st_mode & 0o777 == 0o600  # nobody else can hold the lock
    for name in ("log.db", "linked.db"):  # each name would have a write-ahead log of its own
        with pytest.raises(StoreError, match=rf"{name} has 2 names \(hard links\)"):
            open_store(str(tmp_path / name))
    (tmp_path / "log.db").unlink()
    with contextlib.closing(open_store(str(tmp_path / "linked.db"))) as store:
        assert store.reader().last(1) == 2


def test_a_file_that_is_mounted_by_itself_is_refused(tmp_path):
    one, other = tmp_path / "one.db", tmp_path / "other folder" / "other.db"
    open_store(str(one)).close()
    other.parent.mkdir()
    other.touch()
    if subprocess.run(["mount", "--bind", one, other], capture_output=True).returncode != 0:
        pytest.skip("this user may not mount a file")
    try:
        with pytest.raises(StoreError, match=r"other.db is mounted by itself.*; mount its directory"):
            open_store(str(other))
    finally:
        subprocess.run(["umount", "--lazy", other], check=True)
    open_store(str(one)).close()


@pytest.mark.parametrize("ending", ["-wal", "-shm"])
def test_a_file_that_vanishes_stops_the_store_and_loses_nothing(tmp_path, ending):
    path = tmp_path / "log.db"
    store = open_store(str(path))
    for seq in range(1, 5):
        store.write([event(1, seq)])
    pathlib.Path(f"{path}{ending}").unlink()
    assert store.missing == [f"{path}{ending}"]
    with pytest.raises(StoreError, match=f"log.db{ending} was removed or replaced while the service runs; it stops"):
        store.write([event(1, 5)])
    copy = tmp_path / "copy.db"  # what is there if the process ends at once
    copy.write_bytes(path.read_bytes())
    store.close()
    with contextlib.closing(open_store(str(copy))) as again:
        assert again.reader().last(1) >= 4


def test_a_database_that_is_replaced_is_not_written_to(tmp_path):
    path = tmp_path / "log.db"
    store = open_store(str(path))
    store.write([event(1, 1)])
    (tmp_path / "other.db").write_bytes(b"of somebody else")
    (tmp_path / "other.db").replace(path)
    with pytest.raises(StoreError, match="was removed or replaced"):
        store.write([event(1, 2)])
    assert path.read_bytes() == b"of somebody else"
    store.close()


def test_a_new_database_is_its_owners_only(tmp_path):
    with contextlib.closing(open_store(str(tmp_path / "log.db"))) as store:
        store.write([event(1, 1)])
        for ending in ("", "-wal", "-shm"):
            assert (tmp_path / f"log.db{ending}").stat().st_mode & 0o777 == 0o600
