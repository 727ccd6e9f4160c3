"""A partition as an SQLite file: its samplers, its offset, and the decisions that are not in the output log yet.

WAL with synchronous=FULL, so that a commit is on the disk when it returns. A claim adds one to the fencing number, and
a commit is refused if that is no longer the number of its claim.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from ...system.atomic_file import whole_file
from ..errors import CutOffError, StoreError, damaged
from .records import COUNTS, CUT_OFF, Commit, Counts, check_claimed, check_kind, missing

_OLDEST = (3, 51, 3)  # earlier versions can lose a commit if a checkpoint meets another connection's write
_SMALLEST = 512  # bytes of a page
_CHECKPOINT_PAGES = 20_000
_SUFFIX = ".keyed"
_NUMBERS = "numbers.json"
PRIVATE = 0o600
"""The mode of a new file: keys are texts, and may be names of people."""
_VERSIONS = (
    f"""
create table if not exists partition (
    one integer primary key check (one = 1), fence integer not null, kind text not null, position text not null,
    features integer, {", ".join(f"{name} integer not null" for name in COUNTS)}
) strict;
create table if not exists samplers (key text primary key, state blob not null) strict, without rowid;
create table if not exists decisions (first integer primary key, body blob not null) strict;
""",
    "-- no table changes: long states of samplers may be compressed",
)


@contextlib.contextmanager
def _store_errors(partition: str) -> Iterator[None]:
    """Raise StoreError for an error of the file in this block."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError) as error:
        raise damaged(f"the store of partition {partition}", error) from error
    except (apsw.Error, OSError) as error:
        raise StoreError(f"the store of partition {partition} cannot be used: {error}.", owner="keyed") from error


def _opened(path: Path, flags: int) -> apsw.Connection:
    """A connection to a file; SQLite itself would take a file of a few bytes for an empty database."""
    if 0 < path.stat().st_size < _SMALLEST:
        raise apsw.NotADBError("the file is cut off")
    return apsw.Connection(str(path), flags=flags)


class SqliteKeyedStore:
    """The files of a directory, one for each partition."""

    def __init__(self, folder: str) -> None:
        if tuple(map(int, apsw.sqlite_lib_version().split("."))) < _OLDEST:
            raise StoreError(f"SQLite {apsw.sqlite_lib_version()} can lose commits; update apsw.", owner="keyed")
        self._folder = Path(folder)
        if self._folder.exists() and not self._folder.is_dir():
            raise StoreError(f"{folder} is not a directory.", owner="keyed")

    def claim(self, partition: str, kind: str) -> SqlitePartition:
        """Take a partition over from the worker that had it."""
        with _store_errors(partition):
            self._folder.mkdir(parents=True, exist_ok=True)
            return SqlitePartition(self._path(partition), partition, kind)

    def partitions(self) -> list[str]:
        """The names of the stored partitions."""
        return sorted(each.name.removesuffix(_SUFFIX) for each in self._folder.glob(f"*{_SUFFIX}"))

    def kind(self) -> str | None:
        """The description of the samplers, as it was written; None if the store is empty."""
        found = [
            row[0] for partition in self.partitions() for row in self._rows(partition, "select kind from partition")
        ]
        return found[0] if found else None

    def counts(self, partition: str) -> Counts:
        """The counts of a partition so far."""
        rows = self._rows(partition, f"select {', '.join(COUNTS)} from partition")
        return Counts(*rows[0]) if rows else Counts()

    def features(self, partition: str) -> int | None:
        """Number of features of a partition's instances; None if it is not known yet."""
        rows = self._rows(partition, "select features from partition")
        return rows[0][0] if rows else None

    def samplers(self, partition: str) -> Iterator[tuple[str, bytes]]:
        """All samplers of a partition with their keys, ordered by key."""
        yield from self._rows(partition, "select key, state from samplers order by key")

    def sampler(self, partition: str, key: str) -> bytes | None:
        """The sampler of one key."""
        rows = self._rows(partition, "select state from samplers where key = ?", key)
        return rows[0][0] if rows else None

    def keys(self, partition: str, most: int) -> list[str]:
        """At most so many keys of a partition."""
        return [row[0] for row in self._rows(partition, f"select key from samplers limit {most:d}")]

    def decisions(self, partition: str) -> list[tuple[int, bytes]]:
        """The stored decisions, with the number of the first event of each commit."""
        return self._rows(partition, "select first, body from decisions order by first")

    def remember(self, name: str, number: int) -> None:
        """Store a number under a name."""
        numbers = self._numbers() | {name: number}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with whole_file(self._folder / _NUMBERS) as file:
                Path(file.name).chmod(PRIVATE)
                file.write(json.dumps(numbers).encode())
        except OSError as error:
            raise StoreError(f"{self._folder} cannot be used: {error}.", owner="keyed") from error

    def recalled(self, name: str) -> int:
        """The number that was stored under a name, or 0."""
        return self._numbers().get(name, 0)

    def _numbers(self) -> dict[str, int]:
        path = self._folder / _NUMBERS
        try:
            found = json.loads(path.read_bytes()) if path.exists() else {}
            return {str(name): int(number) for name, number in found.items()}
        except (ValueError, TypeError, AttributeError) as error:
            raise StoreError(
                f"{path} is damaged ({error}): remove it, and answers are read again from the first.", owner="keyed"
            ) from error

    def _path(self, partition: str) -> Path:
        return self._folder / f"{partition}{_SUFFIX}"

    def _rows(self, partition: str, query: str, *values: str) -> list[Any]:
        """The rows of a query; none if the partition was never claimed."""
        if not self._path(partition).exists():
            return []
        with (
            _store_errors(partition),
            contextlib.closing(_opened(self._path(partition), apsw.SQLITE_OPEN_READONLY)) as connection,
        ):
            connection.set_busy_timeout(60_000)
            try:
                missing(_VERSIONS, connection.execute("pragma user_version").get)  # refuses a later version
                return connection.execute(query, values).fetchall()
            except apsw.SQLError as error:
                if "no such table" not in str(error):
                    raise
                return []  # its first worker has created the file and not yet its tables


class SqlitePartition:
    """A file, claimed by one worker; see :class:`askwhen.keyed.stores.records.PartitionStore`."""

    def __init__(self, path: Path, name: str, kind: str) -> None:
        self._name = name
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, PRIVATE))
        self._connection = _opened(path, apsw.SQLITE_OPEN_READWRITE)
        self._connection.set_busy_timeout(60_000)
        run = self._connection.execute
        run("pragma journal_mode = wal")
        run("pragma synchronous = full")
        run("pragma cache_size = -65536")
        self._connection.wal_autocheckpoint(0)  # automatic checkpoints would swallow errors of the disk
        self._pages = 0
        self._connection.set_wal_hook(self._note_pages)
        with self._connection:
            for script in missing(_VERSIONS, run("pragma user_version").get):
                run(script)
            run(f"pragma user_version = {len(_VERSIONS)}")
            run(f"insert or ignore into partition values (1, 0, ?, '', null{', 0' * len(COUNTS)})", (kind,))
            (known,) = run("select kind from partition").fetchone() or ("",)
            check_kind(known, kind)
            run("update partition set fence = fence + 1")
            row = run(f"select fence, position, features, {', '.join(COUNTS)} from partition").fetchone()
        if row is None:
            raise damaged(f"the store of partition {name}", "it has no offset")
        self._fence, self.position, self.features = row[:3]
        check_claimed(self.position, self.features, [self._fence, *row[3:]])
        self.counts = Counts(*row[3:])

    def _note_pages(self, _connection: object, _name: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    def load(self, keys: list[str]) -> dict[str, bytes]:
        """The samplers of these keys; unknown keys are left out."""
        text = json.dumps(sorted(keys))
        query = "select samplers.key, state from json_each(?) each cross join samplers on samplers.key = each.value"
        with _store_errors(self._name):
            return dict(self._connection.execute(query, (text,)))

    def commit(self, commit: Commit) -> None:
        """Store all of it or nothing."""
        with _store_errors(self._name):
            self._commit(commit)

    def _commit(self, commit: Commit) -> None:
        run = self._connection.execute
        run("begin immediate")
        try:
            sets = ", ".join(f"{name} = ?" for name in ("position", "features", *COUNTS))
            run(
                f"update partition set {sets} where fence = ?",
                (commit.position, commit.features, *commit.counts, self._fence),
            )
            if self._connection.changes() != 1:
                raise CutOffError(CUT_OFF.format(self._name), owner="keyed")
            self._connection.executemany("insert or replace into samplers values (?, ?)", sorted(commit.samplers))
            run("delete from decisions where first < ?", (commit.published,))
            if commit.decisions:
                run("insert into decisions values (?, ?)", (commit.first, commit.decisions))
        except BaseException:
            if self._connection.in_transaction:  # a full disk has ended it already
                run("rollback")
            raise
        run("commit")
        self.position, self.counts, self.features = commit.position, commit.counts, commit.features
        if self._pages > _CHECKPOINT_PAGES:
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            self._pages = 0

    def decisions(self) -> list[tuple[int, bytes]]:
        """The stored decisions, with the number of the first event of each commit."""
        with _store_errors(self._name):
            found: Any = self._connection.execute("select first, body from decisions order by first").fetchall()
            return list(found)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
