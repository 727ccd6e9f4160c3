"""The log in PostgreSQL.

One server owns the database at a time: it holds an advisory lock as long as its connection lives, and has a number
that grows with every owner. Every commit checks that number, so that a server which lost its connection without
noticing, and was followed by another, cannot write any more.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import psycopg
from psycopg import sql

from ..errors import StoreError
from .migrations import missing
from .rows import ALL, PART, Event, Part, Snapshot

PATIENCE = 5.0
"""Seconds to wait for the lock: PostgreSQL takes a moment to see that a process was killed."""

_LOCK = 0x61736B7768656E  # "askwhen"
_COLUMNS = sql.SQL("stream, seq, time, kind, question, key, facts, row, shown")
_KEPT = 2
_INSERT = """
    insert into events (stream, seq, time, kind, question, key, facts, row, shown)
    select * from unnest(%s::bigint[], %s::bigint[], %s::float8[], %s::text[], %s::bigint[], %s::text[], %s::text[],
    %s::bytea[], %s::bytea[])
"""
_SERVED = "another process of askwhen serves this database; stop it first, or give its address with --server."
_SAFE = {"fsync": "on", "full_page_writes": "on"}


class PostgresqlStore:
    """The connection that writes."""

    quick = False

    def __init__(self, address: str) -> None:
        self._address = address
        try:
            self.connection = psycopg.connect(address, autocommit=True)
        except psycopg.Error as error:
            raise StoreError(f"PostgreSQL cannot be reached: {_said(error)}.", owner="serve") from error
        try:
            self._prepare()
        except StoreError:
            self.connection.close()
            raise
        except psycopg.Error as error:
            self.connection.close()
            raise StoreError(f"PostgreSQL cannot be used: {_said(error)}.", owner="serve") from error

    def _prepare(self) -> None:
        run = self.connection.execute
        for name, wanted in _SAFE.items():
            if self._setting(name) != wanted:
                raise StoreError(f"PostgreSQL has {name} off, so that a crash could lose answers.", owner="serve")
        if self._setting("synchronous_commit") == "off":
            raise StoreError(
                "PostgreSQL has synchronous_commit off, so that a crash could lose answers; set it to on.",
                owner="serve",
            )
        if self._setting("server_encoding") != "UTF8":
            raise StoreError("the database must have the encoding UTF8.", owner="serve")
        end = time.monotonic() + PATIENCE
        while not _first(run("select pg_try_advisory_lock(%s)", (_LOCK,))):
            if time.monotonic() > end:
                raise StoreError(_SERVED, owner="serve")
            time.sleep(0.05)
        with self.connection.transaction():
            run("create table if not exists versions (number integer primary key, applied timestamptz not null)")
            applied = _first(run("select count(*) from versions"))
            for number, script in missing("postgresql", applied):
                run(script.encode())
                run("insert into versions values (%s, now())", (number,))
        self._number = _first(run("update owner set number = number + 1 returning number"))

    def _setting(self, name: str) -> str:
        return str(_first(self.connection.execute("select current_setting(%s)", (name,))))

    def write(self, events: Sequence[Event], snapshots: Sequence[Snapshot] = ()) -> None:
        """Write all of them or none; refused where another server owns the database by now."""
        with self.connection.transaction():
            self._insert(events, snapshots)

    def fill(self, parts: Iterable[Part]) -> None:
        """Write all parts or none."""
        with self.connection.transaction():
            for events, snapshots in parts:
                self._insert(events, snapshots)

    def _insert(self, events: Sequence[Event], snapshots: Sequence[Snapshot]) -> None:
        run = self.connection.execute
        owned = run("select 1 from owner where number = %s for share", (self._number,)).fetchone()
        if owned is None:
            raise StoreError("another server owns the database by now.", owner="serve")
        if events:
            run(_INSERT, [list(column) for column in zip(*events, strict=True)])
        for snapshot in snapshots:
            run(
                "insert into snapshots values (%s, %s, %s, %s, %s) on conflict (stream, seq) do update set "
                "about = excluded.about, books = excluded.books, model = excluded.model",
                snapshot,
            )
            run(
                "delete from snapshots where stream = %s and seq not in "
                "(select seq from snapshots where stream = %s order by seq desc limit %s)",
                (snapshot.stream, snapshot.stream, _KEPT),
            )

    def reader(self) -> PostgresqlReader:
        """A new connection that only reads."""
        try:
            return PostgresqlReader(psycopg.connect(self._address, autocommit=True))
        except psycopg.Error as error:
            raise StoreError(f"PostgreSQL cannot be reached: {_said(error)}.", owner="serve") from error

    def close(self) -> None:
        """Close the connection, which gives the lock back."""
        with contextlib.suppress(psycopg.Error):
            self.connection.close()


class PostgresqlReader:
    """A connection that only reads."""

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
        """The events that these keys made."""
        return self._events("stream = %s and key = any(%s) order by seq", (stream, list(keys)))

    def of_question(self, stream: int, question: int) -> list[Event]:
        """Everything that happened to one question, in order."""
        return self._events("stream = %s and question = %s order by seq", (stream, question))

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

    def _events(self, condition: str, values: Sequence[Any]) -> list[Event]:
        query = sql.SQL("select {} from events where {}").format(_COLUMNS, sql.SQL(condition))
        return [Event(*row) for row in self._connection.execute(query, values, binary=True).fetchall()]

    def close(self) -> None:
        """Close the connection."""
        with contextlib.suppress(psycopg.Error):
            self._connection.close()


@contextlib.contextmanager
def looking(address: str) -> Iterator[Iterator[Part]]:
    """Everything in a database as it is at one moment, part by part, whoever writes to it meanwhile."""
    try:
        with psycopg.connect(address) as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True
            applied = _first(connection.execute("select count(*) from versions"))
            if missing("postgresql", applied):
                raise StoreError("the database is of an older askwhen; serve it once with this one.", owner="backup")
            yield _parts(connection)
    except psycopg.Error as error:
        raise StoreError(f"PostgreSQL cannot be read: {_said(error)}.", owner="backup") from error


def _parts(connection: psycopg.Connection[Any]) -> Iterator[Part]:
    for table, make in (("events", Event), ("snapshots", Snapshot)):
        columns = sql.SQL(", ".join(make._fields))
        query = sql.SQL("select {} from {} order by stream, seq").format(columns, sql.Identifier(table))
        with connection.cursor(f"all_{table}", binary=True) as cursor:
            cursor.execute(query)
            while rows := cursor.fetchmany(PART):
                made: list[Any] = [make(*row) for row in rows]
                yield (made, []) if table == "events" else ([], made)


def _first(cursor: psycopg.Cursor[Any]) -> Any:
    row = cursor.fetchone()
    assert row is not None
    return row[0]


def _said(error: psycopg.Error) -> str:
    return " ".join(str(error).split()).rstrip(".")
