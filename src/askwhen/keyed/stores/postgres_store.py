"""Partitions in PostgreSQL, for workers on several machines.

As in :mod:`askwhen.keyed.stores.sqlite_store`: a claim adds one to the partition's fencing number, a commit locks its
row first and is refused if the number is no longer that of its claim. The tables are made in the first schema of the
search path, so that several streams may share a database.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import psycopg

from ..errors import CutOffError, StoreError
from .records import COUNTS, CUT_OFF, Commit, Counts, check_kind, missing

_AT_ONCE = 5_000
_LOCK = 7_219_350_861
_VERSIONS = (
    f"""
create table if not exists keyed_partitions (
    partition text primary key, fence bigint not null, kind text not null, position text not null, features bigint,
    {", ".join(f"{name} bigint not null" for name in COUNTS)}
);
create table if not exists keyed_samplers (
    partition text not null, key bytea not null, state bytea not null, primary key (partition, key)
);
create table if not exists keyed_decisions (
    partition text not null, first bigint not null, body bytea not null, primary key (partition, first)
);
create table if not exists keyed_numbers (name text primary key, number bigint not null);
""",
    "-- no table changes: long states of samplers may be compressed",
)


@contextlib.contextmanager
def _store_errors() -> Iterator[None]:
    """Raise StoreError for an error of the database in this block."""
    try:
        yield
    except psycopg.Error as error:
        sentence = " ".join(str(error).split())
        raise StoreError(f"the database cannot be used: {sentence}.", owner="keyed") from error


class PostgresKeyedStore:
    """The partitions of a database."""

    def __init__(self, address: str) -> None:
        self._address = address

    def claim(self, partition: str, kind: str) -> PostgresPartition:
        """Take a partition over from the worker that had it."""
        with _store_errors():
            return PostgresPartition(self._connected(), partition, kind)

    def partitions(self) -> list[str]:
        """The names of the stored partitions."""
        return [row[0] for row in self._rows("select partition from keyed_partitions order by partition")]

    def kind(self) -> str | None:
        """The description of the samplers, as it was written; None if the store is empty."""
        rows = self._rows("select kind from keyed_partitions limit 1")
        return rows[0][0] if rows else None

    def counts(self, partition: str) -> Counts:
        """The counts of a partition so far."""
        rows = self._rows(f"select {', '.join(COUNTS)} from keyed_partitions where partition = %s", partition)
        return Counts(*rows[0]) if rows else Counts()

    def features(self, partition: str) -> int | None:
        """Number of features of a partition's instances; None if it is not known yet."""
        rows = self._rows("select features from keyed_partitions where partition = %s", partition)
        return rows[0][0] if rows else None

    def samplers(self, partition: str) -> Iterator[tuple[str, bytes]]:
        """All samplers of a partition with their keys, ordered by key."""
        rows = self._rows("select key, state from keyed_samplers where partition = %s order by key", partition)
        yield from ((key.decode(), state) for key, state in rows)

    def sampler(self, partition: str, key: str) -> bytes | None:
        """The sampler of one key."""
        query = "select state from keyed_samplers where partition = %s and key = %s"
        rows = self._rows(query, partition, key.encode())
        return rows[0][0] if rows else None

    def keys(self, partition: str, most: int) -> list[str]:
        """At most so many keys of a partition."""
        query = "select key from keyed_samplers where partition = %s limit %s"
        return [bytes(row[0]).decode() for row in self._rows(query, partition, most)]

    def decisions(self, partition: str) -> list[tuple[int, bytes]]:
        """The stored decisions, with the number of the first event of each commit."""
        return self._rows("select first, body from keyed_decisions where partition = %s order by first", partition)

    def remember(self, name: str, number: int) -> None:
        """Store a number under a name."""
        changed = "on conflict (name) do update set number = excluded.number returning number"
        self._rows(f"insert into keyed_numbers values (%s, %s) {changed}", name, number)

    def recalled(self, name: str) -> int:
        """The number that was stored under a name, or 0."""
        rows = self._rows("select number from keyed_numbers where name = %s", name)
        return rows[0][0] if rows else 0

    def _connected(self) -> psycopg.Connection[Any]:
        connection = psycopg.connect(self._address, autocommit=True)
        try:
            with connection.transaction():
                _migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with _store_errors(), contextlib.closing(self._connected()) as connection:
            return connection.execute(query, values, binary=True).fetchall()


def _migrate(connection: psycopg.Connection[Any]) -> None:
    """Apply the migration scripts that are missing."""
    run = connection.execute
    run("select pg_advisory_xact_lock(%s)", (_LOCK,))  # only one process at a time may migrate
    run("create table if not exists keyed_versions (number integer primary key, applied timestamptz not null)")
    (applied,) = run("select count(*) from keyed_versions").fetchone() or (0,)
    for number, script in enumerate(missing(_VERSIONS, applied), applied + 1):
        run(script)
        run("insert into keyed_versions values (%s, now())", (number,))


class PostgresPartition:
    """A partition, claimed by one worker; see :class:`askwhen.keyed.stores.records.PartitionStore`."""

    def __init__(self, connection: psycopg.Connection[Any], name: str, kind: str) -> None:
        self._connection, self._name = connection, name
        with connection.transaction():
            zeros = ", 0" * len(COUNTS)
            connection.execute(
                f"insert into keyed_partitions values (%s, 0, %s, '', null{zeros}) on conflict do nothing",
                (name, kind),
            )
            taken: Any = connection.execute(
                "update keyed_partitions set fence = fence + 1 where partition = %s"
                f" returning kind, fence, position, features, {', '.join(COUNTS)}",
                (name,),
            )
            known, self._fence, self.position, self.features, *counts = taken.fetchone()
            check_kind(known, kind)
        self.counts = Counts(*counts)

    def load(self, keys: list[str]) -> dict[str, bytes]:
        """The samplers of these keys; unknown keys are left out."""
        query = "select key, state from keyed_samplers where partition = %s and key = any(%b)"
        found: dict[str, bytes] = {}
        with _store_errors():
            for first in range(0, len(keys), _AT_ONCE):
                wanted = [key.encode() for key in keys[first : first + _AT_ONCE]]
                rows = self._connection.execute(query, (self._name, wanted), binary=True)
                found.update((bytes(key).decode(), bytes(state)) for key, state in rows)
        return found

    def commit(self, commit: Commit) -> None:
        """Store all of it or nothing."""
        with _store_errors(), self._connection.transaction():
            self._commit(commit)
        self.position, self.counts, self.features = commit.position, commit.counts, commit.features

    def _commit(self, commit: Commit) -> None:
        run = self._connection.execute
        sets = ", ".join(f"{name} = %s" for name in ("position", "features", *COUNTS))
        changed = run(
            f"update keyed_partitions set {sets} where partition = %s and fence = %s",
            (commit.position, commit.features, *commit.counts, self._name, self._fence),
        )
        if changed.rowcount != 1:
            raise CutOffError(CUT_OFF.format(self._name), owner="keyed")
        samplers = sorted(commit.samplers)
        for first in range(0, len(samplers), _AT_ONCE):
            part = samplers[first : first + _AT_ONCE]
            run(
                "insert into keyed_samplers select %s, key, state"
                " from unnest(%b::bytea[], %b::bytea[]) as new(key, state)"
                " on conflict (partition, key) do update set state = excluded.state",
                (self._name, [key.encode() for key, _ in part], [state for _, state in part]),
            )
        run("delete from keyed_decisions where partition = %s and first < %s", (self._name, commit.published))
        if commit.decisions:
            run("insert into keyed_decisions values (%s, %s, %b)", (self._name, commit.first, commit.decisions))

    def decisions(self) -> list[tuple[int, bytes]]:
        """The stored decisions, with the number of the first event of each commit."""
        query = "select first, body from keyed_decisions where partition = %s order by first"
        with _store_errors():
            return self._connection.execute(query, (self._name,), binary=True).fetchall()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
