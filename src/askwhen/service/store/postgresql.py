"""The log in PostgreSQL. One server owns the database at a time: see :mod:`.lease_postgresql`."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import psycopg
from psycopg import sql

from ..errors import ServedError, StoreError
from . import listing_postgresql as listing
from .lease_postgresql import Lease, replaced
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

PATIENCE = 5.0
"""Seconds to wait for the end of a lease, which a server that was cut off has left behind."""

POLL = 0.1
"""Seconds between two tries."""

_COLUMNS = sql.SQL(", ".join(Event._fields))
_KEPT = 2
_EVENTS = """
    insert into events (stream, seq, time, kind, question, key, facts, row, shown, subject)
    select * from unnest(%s::bigint[], %s::bigint[], %s::float8[], %s::text[], %s::bigint[], %s::text[], %s::text[],
    %s::bytea[], %s::bytea[], %s::text[])
"""
_BACKLOG = """
    insert into backlog (stream, place, rank, time, key, subject, source, priority, row, shown, advice)
    select * from unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::float8[], %s::text[], %s::text[], %s::text[],
    %s::float8[], %s::bytea[], %s::bytea[], %s::text[])
"""
_SNAPSHOT = """
    insert into snapshots values (%s, %s, %s, %s, %s) on conflict (stream, seq) do update set
    about = excluded.about, books = excluded.books, model = excluded.model
"""
_MESSAGE = """
    insert into outbox values (%s, %s, %s, %s, %s, %s, %s) on conflict (id) do update set
    made = excluded.made, due = excluded.due, attempts = excluded.attempts, problem = excluded.problem
"""
_ERASE = "update events set row = null, shown = null, subject = null where stream = %s and seq = any(%s)"
_VERSIONS = "create table if not exists versions (number integer primary key, applied timestamptz not null)"
_SERVED = "another process of askwhen serves this database; stop it first, or give its address with --server."
_SAFE = {"fsync": "on", "full_page_writes": "on"}


class PostgresqlStore:
    """The connection that writes.

    Parameters
    ----------
    address : str
        Of the database.
    before : callable, optional
        Called with the version of an older database before it is changed.
    patience : float, optional
        Seconds to wait for another server to end; by default ``PATIENCE``.
    """

    quick, scrubbing = False, False
    missing = ()
    errors: tuple[type[Exception], ...] = (psycopg.Error, OSError)

    def __init__(
        self, address: str, before: Callable[[int], None] | None = None, patience: float | None = None
    ) -> None:
        self._address, self._before, self._patience = address, before, PATIENCE if patience is None else patience
        try:
            self.connection = psycopg.connect(address, autocommit=True)
        except psycopg.Error as error:
            raise StoreError(f"PostgreSQL cannot be reached: {_text(error)}.", owner="serve") from error
        self._lease = Lease(address, self.connection)
        try:
            self._prepare()
        except StoreError:
            self.close()
            raise
        except psycopg.Error as error:
            self.close()
            raise StoreError(f"PostgreSQL cannot be used: {_text(error)}.", owner="serve") from error

    def _prepare(self) -> None:
        for name, wanted in _SAFE.items():
            if self._setting(name) != wanted:
                raise StoreError(f"PostgreSQL has {name} off, so a crash could lose answers.", owner="serve")
        if self._setting("synchronous_commit") == "off":
            raise StoreError(
                "PostgreSQL has synchronous_commit off, so a crash could lose answers; set it to on.",
                owner="serve",
            )
        if self._setting("server_encoding") != "UTF8":
            raise StoreError("the database must have the encoding UTF8.", owner="serve")
        if _first(self.connection.execute("select to_regclass('versions') is not null")):
            missing("postgresql", self._applied())  # refuses a later one before anything is changed
        end = time.monotonic() + self._patience
        while not self._lease.try_to_take(self._make_tables):
            if time.monotonic() > end:
                raise ServedError(_SERVED, owner="serve")
            time.sleep(POLL)
        self._lease.keep()
        applied = self._applied()
        scripts = missing("postgresql", applied)
        if scripts:
            if self._before is not None:
                self._before(applied)
            self._migrate(scripts)

    def _applied(self) -> int:
        self.connection.execute(_VERSIONS)
        return int(_first(self.connection.execute("select count(*) from versions")))

    def _make_tables(self) -> None:
        """Make the tables of an empty database."""
        if self._applied() == 0:
            self._migrate(missing("postgresql", 0))

    def _migrate(self, scripts: Sequence[tuple[int, str]]) -> None:
        with self.connection.transaction():
            if self._lease.number >= 0:
                self._lease.check()
            for number, script in scripts:
                self.connection.execute(script.encode())
                self.connection.execute("insert into versions values (%s, now())", (number,))

    def _setting(self, name: str) -> str:
        return str(_first(self.connection.execute("select current_setting(%s)", (name,))))

    def write(
        self, events: Sequence[Event], snapshots: Sequence[Snapshot] = (), changes: Sequence[Change] = ()
    ) -> None:
        """Write all of them or none; refused where another server has become the owner."""
        try:
            with self.connection.transaction():
                self._lease.check()
                self._insert(events)
                for snapshot in snapshots:
                    self._insert([snapshot])
                    self._drop_snapshots(snapshot.stream, _KEPT)
                for change in changes:
                    self._change(change)
        except psycopg.Error as error:
            if self._lease.is_replaced():  # the new owner has ended this connection
                raise replaced() from error
            raise

    def watch(self, lost: Callable[[StoreError], None]) -> None:
        """Call a function, in another thread, once another server owns the database."""
        self._lease.watch(lost)

    def fill(self, parts: Iterable[Part]) -> None:
        """Write all parts or none."""
        with self.connection.transaction():
            self._lease.check()
            for part in parts:
                self._insert(part)

    def _insert(self, rows: Sequence[Row]) -> None:
        if not rows:
            return
        if isinstance(rows[0], (Event, BacklogItem)):
            query = _EVENTS if isinstance(rows[0], Event) else _BACKLOG
            self.connection.execute(query, [list(column) for column in zip(*rows, strict=True)])
            return
        query = _SNAPSHOT if isinstance(rows[0], Snapshot) else _MESSAGE
        for row in rows:
            self.connection.execute(query, row)

    def _drop_snapshots(self, stream: int, newest: int) -> None:
        self.connection.execute(
            "delete from snapshots where stream = %s and seq not in "
            "(select seq from snapshots where stream = %s order by seq desc limit %s)",
            (stream, stream, newest),
        )

    def _change(self, change: Change) -> None:
        if isinstance(change, Message):
            self._insert([change])
        elif isinstance(change, Delivered):
            self.connection.execute("delete from outbox where id = any(%s)", (list(change.ids),))
        elif isinstance(change, Accepted):
            self._insert(change.items)
        elif isinstance(change, Taken):
            places = (change.stream, list(change.places))
            self.connection.execute("delete from backlog where stream = %s and place = any(%s)", places)
            if change.erased:
                listing.forget(self.connection, change.stream, [-place for place in change.places])
        elif isinstance(change, Dropped):
            until = (change.stream, change.until)
            self.connection.execute("delete from events where stream = %s and seq <= %s", until)
            for table in ("snapshots", "backlog"):
                delete = sql.SQL("delete from {} where stream = %s").format(sql.Identifier(table))
                self.connection.execute(delete, (change.stream,))
            listing.drop(self.connection, change.stream)
        elif isinstance(change, (Listed, Predicted)):
            listing.write(self.connection, change)
        else:
            listing.erased(self.connection, change.stream, change.seqs)
            self.connection.execute(_ERASE, (change.stream, list(change.seqs)))
            self._drop_snapshots(change.stream, 1)

    def check(self) -> None:
        """Do nothing: the files belong to the database server."""

    def scrub(self) -> None:
        """Free the space of what was erased, on a separate connection, since that may take a while."""
        with contextlib.suppress(psycopg.Error), psycopg.connect(self._address, autocommit=True) as connection:
            connection.execute("vacuum events, snapshots, backlog, listing")

    def reader(self) -> PostgresqlReader:
        """A new read-only connection."""
        try:
            return PostgresqlReader(psycopg.connect(self._address, autocommit=True))
        except psycopg.Error as error:
            raise StoreError(f"PostgreSQL cannot be reached: {_text(error)}.", owner="serve") from error

    def close(self) -> None:
        """Let another server take over, and close the connection."""
        self._lease.release()
        with contextlib.suppress(psycopg.Error):
            self.connection.close()


class PostgresqlReader:
    """A read-only connection."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        connection.execute("set default_transaction_read_only = on")

    def events(self, stream: int, after: int, limit: int, kinds: Sequence[str] = ()) -> list[Event]:
        """The events of a stream after this one, in order."""
        wanted = "and kind = any(%s)" if kinds else ""
        values = (stream, after, *([list(kinds)] if kinds else []), min(limit, 2**62))
        return self._events(f"stream = %s and seq > %s {wanted} order by seq limit %s", values)

    def event(self, stream: int, seq: int) -> Event | None:
        """One event."""
        return next(iter(self._events("stream = %s and seq = %s", (stream, seq))), None)

    def by_keys(self, stream: int, keys: Sequence[str]) -> list[Event]:
        """The events that have these keys."""
        return self._events("stream = %s and key = any(%s) order by seq", (stream, list(keys)))

    def of_question(self, stream: int, question: int) -> list[Event]:
        """All events about the instance of a round, in order."""
        return self._events("stream = %s and question = %s order by seq", (stream, question))

    def of_questions(self, stream: int, questions: Sequence[int]) -> list[Event]:
        """All events about the instances of these rounds."""
        return self._events("stream = %s and question = any(%s) order by question, seq", (stream, list(questions)))

    def last(self, stream: int) -> int:
        """The number of the last event of a stream."""
        return int(_first(self._connection.execute("select max(seq) from events where stream = %s", (stream,))) or 0)

    def last_time(self) -> float:
        """The latest time in all logs."""
        # Times never go back, so the last event of each stream has the latest of the stream.
        found = self._connection.execute(
            "with recursive streams(stream) as ((select min(stream) from events) union all "
            "select (select min(stream) from events where stream > streams.stream) from streams "
            "where stream is not null) "
            "select max((select time from events where stream = streams.stream order by seq desc limit 1)) from streams"
        )
        return float(_first(found) or 0.0)

    def snapshot(self, stream: int, before: int = ALL) -> Snapshot | None:
        """The newest snapshot of a stream."""
        query = (
            "select stream, seq, about, books, model from snapshots where stream = %s and seq < %s "
            "order by seq desc limit 1"
        )
        row = self._connection.execute(query, (stream, before), binary=True).fetchone()
        return None if row is None else Snapshot(*row)

    def of_subject(self, stream: int, subject: str) -> list[int]:
        """The event numbers of the instances with this subject."""
        return self._seqs("stream = %s and subject = %s order by seq", (stream, subject))

    def with_contents(self, stream: int, after: int, until: int, limit: int) -> list[int]:
        """The event numbers of the instances that have contents, after one event and up to another."""
        condition = "stream = %s and seq > %s and seq <= %s and kind = 'instance' and row is not null"
        return self._seqs(f"{condition} order by seq limit %s", (stream, after, until, limit))

    def _seqs(self, condition: str, values: Sequence[Any]) -> list[int]:
        query = sql.SQL("select seq from events where {}").format(sql.SQL(condition))
        return [seq for (seq,) in self._connection.execute(query, values).fetchall()]

    def backlog_size(self, stream: int) -> tuple[int, int]:
        """Number of instances in the backlog of a stream, and the largest place."""
        query = "select count(*), coalesce(max(place), 0) from backlog where stream = %s"
        row = self._connection.execute(query, (stream,)).fetchone()
        assert row is not None
        return row[0], row[1]

    def backlog(self, stream: int, after: int, limit: int) -> list[BacklogItem]:
        """Instances of the backlog after a place, in order."""
        return self._backlog("stream = %s and place > %s order by place limit %s", (stream, after, limit))

    def backlog_by_rank(self, stream: int, limit: int) -> list[BacklogItem]:
        """The instances of the backlog with the smallest ranks, in order."""
        return self._backlog("stream = %s order by rank, place limit %s", (stream, limit))

    def backlog_by_keys(self, stream: int, keys: Sequence[str]) -> list[BacklogItem]:
        """Instances of the backlog with these keys."""
        return self._backlog("stream = %s and key = any(%s) order by place", (stream, list(keys)))

    def backlog_places(
        self, stream: int, subject: str | None = None, source: str | None = None, before: float | None = None
    ) -> list[int]:
        """The places of instances of the backlog about a subject, from a source, or accepted before a time."""
        name, value = ("subject", subject) if subject is not None else ("source", source)
        condition = f"{name} = %s" if before is None else "time < %s"
        query = sql.SQL("select place from backlog where stream = %s and {} order by place")
        values = (stream, value if before is None else before)
        return [place for (place,) in self._connection.execute(query.format(sql.SQL(condition)), values).fetchall()]

    def _backlog(self, condition: str, values: Sequence[Any]) -> list[BacklogItem]:
        columns = sql.SQL(", ".join(BacklogItem._fields))
        query = sql.SQL("select {} from backlog where {}").format(columns, sql.SQL(condition))
        return [BacklogItem(*row) for row in self._connection.execute(query, values, binary=True).fetchall()]

    def backlog_sources(self, stream: int) -> list[tuple[str, int]]:
        """The sources of the instances in the backlog with their numbers, the last one first."""
        query = "select source, count(*) from backlog where stream = %s and source is not null group by source"
        return list(self._connection.execute(f"{query} order by max(place) desc", (stream,)))

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
        query = sql.SQL("select {} from outbox where %s::text is null or hook = %s order by made, id")
        columns = sql.SQL(", ".join(Message._fields))
        return [Message(*row) for row in self._connection.execute(query.format(columns), (hook, hook)).fetchall()]

    def _events(self, condition: str, values: Sequence[Any]) -> list[Event]:
        query = sql.SQL("select {} from events where {}").format(_COLUMNS, sql.SQL(condition))
        return [Event(*row) for row in self._connection.execute(query, values, binary=True).fetchall()]

    def close(self) -> None:
        """Close the connection."""
        with contextlib.suppress(psycopg.Error):
            self._connection.close()


@contextlib.contextmanager
def all_rows(address: str) -> Iterator[Iterator[Part]]:
    """Everything in a database as of one moment, part by part, while others may write to it."""
    try:
        with psycopg.connect(address) as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True
            missing("postgresql", _first(connection.execute("select count(*) from versions")))  # refuses a later one
            yield _parts(connection)
    except psycopg.Error as error:
        raise StoreError(f"PostgreSQL cannot be read: {_text(error)}.", owner="backup") from error


def _parts(connection: psycopg.Connection[Any]) -> Iterator[Part]:
    for table, make in TABLES.items():
        there = connection.execute("select attname from pg_attribute where attrelid = to_regclass(%s)", (table,))
        names = {name for (name,) in there}
        columns = [sql.Identifier(name) for name in make._fields if name in names]
        if not columns:  # older databases lack some tables
            continue
        query = sql.SQL("select {} from {} order by {}").format(
            sql.SQL(", ").join(columns), sql.Identifier(table), sql.SQL(", ").join(columns[:2])
        )
        with connection.cursor(f"all_{table}", binary=True) as cursor:
            cursor.execute(query)
            while rows := cursor.fetchmany(PART):
                yield [make(*row) for row in rows]


def _first(cursor: psycopg.Cursor[Any]) -> Any:
    row = cursor.fetchone()
    assert row is not None
    return row[0]


def _text(error: psycopg.Error) -> str:
    return " ".join(str(error).split()).rstrip(".")
