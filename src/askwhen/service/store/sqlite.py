"""The log in an SQLite file.

One connection writes, in WAL mode with synchronous=FULL, so that a commit is on the disk when it returns. It is also
the only one that checkpoints: SQLite's automatic checkpoint swallows errors of fsync, so it is off, and ours raises
them.
Readers have connections of their own, which cannot write.

SQLite finds the WAL by the name of the database. So the file itself is locked, by whatever name it is opened; and where
one of the files is removed while the store is open, the next commit fails instead of being written to a removed file.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import apsw

from ...system.atomic_file import open_locked, try_lock
from ..errors import StoreError
from . import listing_sqlite as listing
from .listing import Found, Listed, Mark, Predicted, Wanted
from .migrations import missing
from .records import (
    ALL,
    PART,
    TABLES,
    Accepted,
    BacklogItem,
    Change,
    Delivered,
    Dropped,
    Event,
    Message,
    Part,
    Row,
    Snapshot,
    Taken,
)

CHECKPOINT_PAGES = 2_000
"""Pages of the WAL after which it is copied into the database (8 MB)."""

_KEPT = 2
_COLUMNS = ", ".join(Event._fields)
_WAITING = ", ".join(BacklogItem._fields)
_INSERT = {
    Event: f"insert into events ({_COLUMNS}) values ({', '.join('?' * len(Event._fields))})",
    Snapshot: "insert or replace into snapshots values (?, ?, ?, ?, ?)",
    Message: "insert or replace into outbox values (?, ?, ?, ?, ?, ?, ?)",
    BacklogItem: f"insert into backlog ({_WAITING}) values ({', '.join('?' * len(BacklogItem._fields))})",
}
_ERASE = "update events set row = null, shown = null, subject = null where stream = ? and seq = ?"
_SELECT = f"select {_COLUMNS} from events"
_BACKLOG = f"select {_WAITING} from backlog"
_OLDEST = (3, 51, 3)


class SqliteStore:
    """The only connection that writes to a file, which a lock on the file ensures.

    Parameters
    ----------
    path : str
        The file; made where there is none.
    vfs : str, optional
        The layer between SQLite and the disk, for tests that simulate power loss. Such a store has no lock and reads
        through the connection that writes.
    synchronous : str, default "full"
        For tests, which show that anything less loses rows.
    before : callable, optional
        Called with the version of an older database before it is changed.
    """

    quick = True
    errors: tuple[type[Exception], ...] = (apsw.Error, OSError)

    def __init__(
        self,
        path: str,
        vfs: str | None = None,
        synchronous: str = "full",
        before: Callable[[int], None] | None = None,
    ) -> None:
        check_version()
        self._path, self._vfs, self._before = path, vfs, before
        self._lock = contextlib.ExitStack() if vfs is not None else locked(path)
        self._files: dict[str, tuple[int, int] | None] = {}
        try:
            self.connection = apsw.Connection(path, vfs=vfs)
            if self.connection.readonly("main"):
                raise StoreError(f"{path} cannot be written.", owner="serve")
            self._prepare(synchronous)
        except apsw.Error as error:
            self.close()
            raise StoreError(f"{path} cannot be used: {error}.", owner="serve") from error
        except BaseException:
            self.close()
            raise

    def _prepare(self, synchronous: str) -> None:
        run = self.connection.execute
        if self._vfs is not None:
            run("pragma locking_mode = exclusive")  # before WAL, so that no shared memory is needed
        if run("pragma journal_mode = wal").get != "wal":
            raise StoreError(f"{self._path} cannot be used in WAL mode.", owner="serve")
        run(f"pragma synchronous = {synchronous}")
        run("pragma secure_delete = on")  # what is erased is overwritten
        self.connection.wal_autocheckpoint(0)
        self.connection.set_busy_timeout(10_000)
        self._pages, self._scrub = 0, False
        self.connection.set_wal_hook(self._note_pages)
        self._migrate()
        self.checkpoint()
        if self._vfs is None:
            name = os.path.realpath(self._path)
            self._files = {name + ending: _identity(name + ending) for ending in ("", "-wal", "-shm")}

    @property
    def missing(self) -> list[str]:
        """Files of the database that were removed or replaced since it was opened."""
        return [name for name, before in self._files.items() if _identity(name) != before]

    def check(self) -> None:
        """Raise an error where one of the files is missing; what is committed is saved first, where possible."""
        missing = self.missing
        if not missing:
            return
        if os.path.realpath(self._path) not in missing and not any(map(_has_content, missing)):
            # The WAL is still open, and no other process can have written one: a reader of ours may have made an
            # empty file in its place.
            with contextlib.suppress(apsw.BusyError):
                self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_FULL)
        raise StoreError(
            f"{missing[0]} was removed or replaced while the service runs; it stops, so that nothing is accepted "
            "that would be lost.",
            owner="serve",
        )

    def _migrate(self) -> None:
        run = self.connection.execute
        run("create table if not exists versions (number integer primary key, applied text not null) strict")
        applied = run("select count(*) from versions").get
        scripts = missing("sqlite", applied)
        if applied and scripts and self._before is not None:
            self._before(applied)
        run("begin immediate")
        try:
            for number, script in scripts:
                run(script)
                run("insert into versions values (?, datetime('now'))", (number,))
        except BaseException:
            run("rollback")
            raise
        run("commit")

    def _note_pages(self, _connection: Any, _name: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    def write(
        self, events: Sequence[Event], snapshots: Sequence[Snapshot] = (), changes: Sequence[Change] = ()
    ) -> None:
        """Write all of them or none, and copy the WAL into the database where it has grown long."""
        self.connection.execute("begin immediate")
        self._insert(events)
        for snapshot in snapshots:
            self._insert([snapshot])
            self._drop_snapshots(snapshot.stream, _KEPT)
        for change in changes:
            self._change(change)
        self.connection.execute("commit")
        self.check()
        if self._pages > CHECKPOINT_PAGES:
            self.checkpoint()
        if self._scrub:
            self._forget_wal()

    def watch(self, lost: Callable[[StoreError], None]) -> None:
        """Do nothing: the lock on the file is kept as long as this process lives."""

    def fill(self, parts: Iterable[Part]) -> None:
        """Write all parts or none."""
        self.connection.execute("begin immediate")
        try:
            for part in parts:
                self._insert(part)
        except BaseException:
            self.connection.execute("rollback")
            raise
        self.connection.execute("commit")
        self.checkpoint()

    def _insert(self, rows: Sequence[Row]) -> None:
        if rows:
            self.connection.executemany(_INSERT[type(rows[0])], rows)

    def _drop_snapshots(self, stream: int, newest: int) -> None:
        self.connection.execute(
            "delete from snapshots where stream = ? and seq not in "
            "(select seq from snapshots where stream = ? order by seq desc limit ?)",
            (stream, stream, newest),
        )

    def _change(self, change: Change) -> None:
        if isinstance(change, Message):
            self._insert([change])
        elif isinstance(change, Delivered):
            self.connection.executemany("delete from outbox where id = ?", [(each,) for each in change.ids])
        elif isinstance(change, Accepted):
            self._insert(change.items)
        elif isinstance(change, Taken):
            gone = [(change.stream, place) for place in change.places]
            self.connection.executemany("delete from backlog where stream = ? and place = ?", gone)
            if change.erased:
                listing.forget(self.connection, change.stream, [-place for place in change.places])
            self._scrub = self._scrub or change.erased
        elif isinstance(change, Dropped):
            self.connection.execute(
                "delete from events where stream = ? and seq <= ?", (change.stream, change.until)
            ).fetchall()
            for table in ("snapshots", "backlog"):
                self.connection.execute(f"delete from {table} where stream = ?", (change.stream,))
            listing.drop(self.connection, change.stream)
            self._scrub = True
        elif isinstance(change, (Listed, Predicted)):
            listing.write(self.connection, change)
        else:
            listing.erased(self.connection, change.stream, change.seqs)
            self.connection.executemany(_ERASE, [(change.stream, seq) for seq in change.seqs])
            self._drop_snapshots(change.stream, 1)
            self._scrub = True

    def _forget_wal(self) -> None:
        """Empty the WAL, which still has what was erased; while a reader uses it, wait for the next commit."""
        self.connection.set_busy_timeout(0)
        try:
            self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            self._pages, self._scrub = 0, False
        except apsw.BusyError:
            pass
        finally:
            self.connection.set_busy_timeout(10_000)

    @property
    def scrubbing(self) -> bool:
        """Whether a reader was in the way when the WAL was to be emptied."""
        return self._scrub

    def scrub(self) -> None:
        """Nothing: what is erased is overwritten at once, and the WAL emptied after the commit."""

    def checkpoint(self) -> None:
        """Copy the WAL into the database; errors are raised, but a reader in the way only shortens the copy."""
        self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        self._pages = 0

    def reader(self) -> SqliteReader:
        """A new read-only connection."""
        if self._vfs is not None:
            return SqliteReader(self.connection)
        found = apsw.Connection(self._path, flags=apsw.SQLITE_OPEN_READONLY)
        found.set_busy_timeout(10_000)
        return SqliteReader(found)

    def close(self) -> None:
        """Close the connection, which copies the rest of the WAL, and release the lock."""
        connection = getattr(self, "connection", None)
        if connection is not None:
            connection.close()
        self._lock.close()


class SqliteReader:
    """A read-only connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def events(self, stream: int, after: int, limit: int, kinds: Sequence[str] = ()) -> list[Event]:
        """The events of a stream after this one, in order."""
        wanted = f"and kind in ({', '.join('?' * len(kinds))})" if kinds else ""
        return self._events(f"stream = ? and seq > ? {wanted} order by seq limit ?", (stream, after, *kinds, limit))

    def event(self, stream: int, seq: int) -> Event | None:
        """One event."""
        return next(iter(self._events("stream = ? and seq = ?", (stream, seq))), None)

    def by_keys(self, stream: int, keys: Sequence[str]) -> list[Event]:
        """The events that have these keys."""
        # Without the hint SQLite reads the whole stream, where there are more than a few keys.
        return [Event(*row) for row in self._of_keys(f"{_SELECT} indexed by events_by_key", stream, keys)]

    def _of_keys(
        self, select: str, stream: int, keys: Sequence[Any], column: str = "key", order: str = ""
    ) -> Iterator[tuple[Any, ...]]:
        """The rows that have these keys, or these values of another column."""
        for first in range(0, len(keys), 512):
            part = keys[first : first + 512]
            places = 1 << (len(part) - 1).bit_length()  # few different statements, which SQLite keeps prepared
            wanted = [*part, *[part[0]] * (places - len(part))]
            condition = f"where stream = ? and {column} in ({', '.join('?' * places)})"
            yield from self._connection.execute(f"{select} {condition} {order}", (stream, *wanted))

    def of_question(self, stream: int, question: int) -> list[Event]:
        """All events about the instance of a round, in order."""
        return self._events("stream = ? and question = ? order by seq", (stream, question))

    def of_questions(self, stream: int, questions: Sequence[int]) -> list[Event]:
        """All events about the instances of these rounds."""
        select, order = f"{_SELECT} indexed by events_by_question", "order by question, seq"
        return [Event(*row) for row in self._of_keys(select, stream, questions, "question", order)]

    def last(self, stream: int) -> int:
        """The number of the last event of a stream."""
        found: int = self._connection.execute("select max(seq) from events where stream = ?", (stream,)).get or 0
        return found

    def last_time(self) -> float:
        """The latest time in all logs."""
        # Times never go back, so the last event of each stream has the latest of the stream.
        sql = (
            "with recursive streams(stream) as (select min(stream) from events union all "
            "select (select min(stream) from events where stream > streams.stream) from streams where stream not null) "
            "select max((select time from events where stream = streams.stream order by seq desc limit 1)) from streams"
        )
        return float(self._connection.execute(sql).get or 0.0)

    def snapshot(self, stream: int, before: int = ALL) -> Snapshot | None:
        """The newest snapshot of a stream."""
        sql = (
            "select stream, seq, about, books, model from snapshots where stream = ? and seq < ? "
            "order by seq desc limit 1"
        )
        row = self._connection.execute(sql, (stream, before)).fetchone()
        return None if row is None else Snapshot(*row)

    def of_subject(self, stream: int, subject: str) -> list[int]:
        """The event numbers of the instances with this subject."""
        sql = "select seq from events where stream = ? and subject = ? order by seq"
        return [seq for (seq,) in self._connection.execute(sql, (stream, subject))]

    def with_contents(self, stream: int, after: int, until: int, limit: int) -> list[int]:
        """The event numbers of the instances that have contents, after one event and up to another."""
        sql = (
            "select seq from events where stream = ? and seq > ? and seq <= ? and kind = 'instance' "
            "and row is not null order by seq limit ?"
        )
        return [seq for (seq,) in self._connection.execute(sql, (stream, after, until, limit))]

    def backlog_size(self, stream: int) -> tuple[int, int]:
        """Number of instances in the backlog of a stream, and the largest place."""
        count = "select count(*) from backlog indexed by backlog_by_rank where stream = ?"  # without the contents
        last = "select max(place) from backlog where stream = ?"
        run = self._connection.execute
        return run(count, (stream,)).get, run(last, (stream,)).get or 0

    def backlog(self, stream: int, after: int, limit: int) -> list[BacklogItem]:
        """Instances of the backlog after a place, in order."""
        sql = f"{_BACKLOG} where stream = ? and place > ? order by place limit ?"
        return [BacklogItem(*row) for row in self._connection.execute(sql, (stream, after, limit))]

    def backlog_by_rank(self, stream: int, limit: int) -> list[BacklogItem]:
        """The instances of the backlog with the smallest ranks, in order."""
        sql = f"{_BACKLOG} indexed by backlog_by_rank where stream = ? order by rank, place limit ?"
        return [BacklogItem(*row) for row in self._connection.execute(sql, (stream, limit))]

    def backlog_by_keys(self, stream: int, keys: Sequence[str]) -> list[BacklogItem]:
        """Instances of the backlog with these keys."""
        return [BacklogItem(*row) for row in self._of_keys(f"{_BACKLOG} indexed by backlog_by_key", stream, keys)]

    def backlog_places(
        self, stream: int, subject: str | None = None, source: str | None = None, before: float | None = None
    ) -> list[int]:
        """The places of instances of the backlog about a subject, from a source, or accepted before a time."""
        name, value = ("subject", subject) if subject is not None else ("source", source)
        condition = f"{name} = ?" if before is None else "time < ?"
        sql = f"select place from backlog where stream = ? and {condition} order by place"
        rows = self._connection.execute(sql, (stream, value if before is None else before))
        return [place for (place,) in rows]

    def backlog_sources(self, stream: int) -> list[tuple[str, int]]:
        """The sources of the instances in the backlog with their numbers, the last one first."""
        sql = "select source, count(*) from backlog where stream = ? and source is not null group by source"
        return list(self._connection.execute(f"{sql} order by max(place) desc", (stream,)))

    def mark(self, stream: int) -> Mark:
        """Up to where the listing of a stream is made."""
        return listing.mark(self._connection, stream)

    def listed_labels(self, stream: int) -> list[str]:
        """All labels that the listing has."""
        return listing.labels(self._connection, stream)

    def withdrawn(self, stream: int, limit: int) -> list[int]:
        """Items that the listing has as waiting, and that the backlog has not."""
        return listing.withdrawn(self._connection, stream, limit)

    def found(self, wanted: Wanted) -> list[Found] | None:
        """Items of the listing; None where too many would have to be sorted."""
        return listing.find(self._connection, wanted)

    def messages(self, hook: str | None = None) -> list[Message]:
        """The messages in the outbox, oldest first."""
        sql = f"select {', '.join(Message._fields)} from outbox where ? is null or hook = ? order by made, id"
        return [Message(*row) for row in self._connection.execute(sql, (hook, hook))]

    def _events(self, condition: str, values: Sequence[Any]) -> list[Event]:
        rows = self._connection.execute(f"{_SELECT} where {condition}", values)
        return [Event(*row) for row in rows]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


@contextlib.contextmanager
def all_rows(path: str) -> Iterator[Iterator[Part]]:
    """Everything in a file as of one moment, part by part, while others may write to it."""
    if not Path(path).is_file():
        raise StoreError(f"there is no database {path}.", owner="backup")
    try:
        with contextlib.closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            connection.set_busy_timeout(10_000)
            connection.execute("begin")
            missing("sqlite", connection.execute("select count(*) from versions").get)  # refuses a later version
            yield _parts(connection)
    except apsw.Error as error:
        raise StoreError(f"{path} cannot be read: {error}.", owner="backup") from error
    except UnicodeDecodeError as error:
        raise StoreError(
            f"{path} is damaged: a text in it is not valid UTF-8; restore a backup.", owner="backup"
        ) from error


def _check_columns(make: Any, columns: Sequence[str]) -> None:
    """Refuse a table that lacks columns which every version has."""
    lacking = [name for name in make._fields if name not in columns and name not in make._field_defaults]
    if lacking:
        raise StoreError(
            f"the database is damaged: a table has no column {lacking[0]}; restore a backup.", owner="backup"
        )


def _parts(connection: apsw.Connection) -> Iterator[Part]:
    for table, make in TABLES.items():
        there = {name for (name,) in connection.execute("select name from pragma_table_info(?)", (table,))}
        columns = [name for name in make._fields if name in there]
        if columns:  # older databases lack some tables
            _check_columns(make, columns)
            rows = connection.execute(f"select {', '.join(columns)} from {table} order by {', '.join(columns[:2])}")
            while found := [make(*row) for row in islice(rows, PART)]:
                yield found


def locked(path: str) -> contextlib.ExitStack:
    """Lock a database until the returned stack is closed; a missing file is made.

    One lock is on a file next to it, as earlier versions have it, and one on the file itself, which may have other
    names.
    """
    with contextlib.ExitStack() as stack:
        try:
            lock = open_locked(f"{os.path.realpath(path)}.lock", 0o600)  # no other user may hold it
            if lock is None:
                raise _served(path)
            stack.enter_context(lock)
            file = stack.enter_context(os.fdopen(os.open(path, os.O_RDONLY | os.O_CREAT, 0o600), "rb"))
        except OSError as error:
            raise StoreError(f"{path} cannot be opened: {error.strerror}.", owner="serve") from error
        if not try_lock(file):
            raise _served(path)
        _check_one_name(path, os.fstat(file.fileno()).st_nlink)
        return stack.pop_all()


def _check_one_name(path: str, names: int) -> None:
    """Refuse a database with several names: SQLite finds its write-ahead log by the name that it is opened with.

    After a crash the log next to another name would be ignored, and replayed over later changes the next time.
    """
    if names > 1:
        raise StoreError(
            f"{path} has {names} names (hard links), so the last commits might not be found; remove the "
            "others, or serve a copy.",
            owner="serve",
        )
    here = os.path.realpath(path)
    if not here.endswith(_mounts().get(here, here)):
        raise StoreError(
            f"{path} is mounted by itself, so its write-ahead log would not be next to it; mount its directory.",
            owner="serve",
        )


def _mounts() -> dict[str, str]:
    """Mount points, where the system lists them, each with its path on the mounted file system."""
    try:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return {}
    words = [[_unescaped(word) for word in line.split(" ")] for line in lines]
    return {each[4]: each[3] for each in words}


def _unescaped(word: str) -> str:
    """A path of mountinfo, which writes blanks, tabs, line ends and backslashes as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), word)


def _served(path: str) -> StoreError:
    message = f"another process of askwhen serves {path}; stop it first, or give its address with --server."
    return StoreError(message, owner="serve")


def _has_content(name: str) -> bool:
    return Path(name).exists() and Path(name).stat().st_size > 0


def _identity(name: str) -> tuple[int, int] | None:
    """The device and the inode of a file; None where it does not exist."""
    try:
        found = os.stat(name)  # noqa: PTH116, called three times in each commit: a Path takes longer than the system
    except OSError:
        return None
    return found.st_dev, found.st_ino


def check_version() -> None:
    """Refuse versions of SQLite that can lose committed rows when a checkpoint meets a write."""
    version = tuple(map(int, apsw.sqlite_lib_version().split(".")))
    if version < _OLDEST:
        raise StoreError(
            f"SQLite {apsw.sqlite_lib_version()} can lose committed rows; install the wheel of apsw, "
            f"which brings a newer one than {'.'.join(map(str, _OLDEST))}.",
            owner="serve",
        )
