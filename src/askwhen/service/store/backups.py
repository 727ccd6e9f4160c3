"""Backups: everything that a database has at one moment, in a file of its own, with a checksum.

A backup is an SQLite database like any other, with one more table that says what is in it, so that it can be restored
into SQLite or PostgreSQL, whichever it came from. It is made while the service runs.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import msgspec

import askwhen

from ...errors import InputError
from ...system.whole_file import sync_folder
from ..errors import StoreError
from . import open_store
from .records import Event, Part, Row, Snapshot
from .sqlite import SqliteStore
from .urls import is_postgresql, looking

_TABLE = "create table backup (about text not null) strict"


class Contents(NamedTuple):
    """What a backup or a restored database has."""

    streams: int
    events: int
    snapshots: int
    digest: str


class CountedParts:
    """Passes parts on, and counts and digests them."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts, self._digest = parts, hashlib.sha256()
        self._streams: set[int] = set()
        self._counts: Counter[type[Row]] = Counter()

    def __iter__(self) -> Iterator[Part]:
        encode = msgspec.msgpack.Encoder().encode
        for part in self._parts:
            for row in part:
                # An event without a subject counts as it did when events had none, so that old backups stay good.
                self._digest.update(encode(row[:-1] if isinstance(row, Event) and row.subject is None else tuple(row)))
                if isinstance(row, Event) and not isinstance(row.stream, int):
                    raise StoreError("the database is damaged: an event has no stream.", owner="backup")
                if isinstance(row, Event) and row.stream > 0:
                    self._streams.add(row.stream)
            self._counts[type(part[0])] += len(part)
            yield part

    def contents(self) -> Contents:
        """What came so far."""
        events, snapshots = self._counts[Event], self._counts[Snapshot]
        return Contents(len(self._streams), events, snapshots, self._digest.hexdigest())


def backup(db: str, path: str) -> Contents:
    """Copy everything into a file, which is whole or not there."""
    target = Path(path)
    if target.exists():
        raise InputError(f"{path} is there already; give another name.", owner="backup", parameter="path")
    if not target.parent.is_dir():
        raise InputError(f"there is no folder {target.parent}.", owner="backup", parameter="path")
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with looking(db) as parts, contextlib.closing(SqliteStore(str(temporary))) as store:
            counting = CountedParts(parts)
            store.fill(counting)
            found = counting.contents()
            about = {"askwhen": askwhen.__version__, "made": datetime.now(UTC).isoformat(timespec="seconds")}
            store.connection.execute(_TABLE)
            store.connection.execute("insert into backup values (?)", (json.dumps(about | found._asdict()),))
            store.connection.execute("pragma journal_mode = delete")  # one file, which can be read where none is made
        temporary.replace(target)
        sync_folder(target.parent)
    finally:
        for left in target.parent.glob(f"{glob.escape(temporary.name)}*"):
            left.unlink()
    return found


def checked(path: str) -> Contents:
    """What a backup says it has; refused where that is not what it has."""
    if not Path(path).is_file():
        raise InputError(f"there is no file {path}.", owner="restore", parameter="path")
    try:
        with contextlib.closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            about: dict[str, Any] = json.loads(connection.execute("select about from backup").get)
    except (apsw.Error, TypeError, ValueError) as error:
        raise StoreError(f"{path} is no backup of askwhen.", owner="restore") from error
    with looking(path) as parts:
        counting = CountedParts(parts)
        for _ in counting:
            pass
    found = counting.contents()
    if any(about.get(name) != value for name, value in found._asdict().items()):
        raise StoreError(f"{path} is damaged: it has not what it says.", owner="restore")
    return found


def restore(path: str, db: str) -> Contents:
    """Put a backup into a database that has nothing, in one transaction."""
    wanted = checked(path)
    _fill(path, db)
    return wanted


def migrate(source: str, target: str) -> Contents:
    """Copy a database into another one that has nothing, in one transaction."""
    return _fill(source, target)


def _fill(source: str, target: str) -> Contents:
    if not is_postgresql(target) and not Path(target).absolute().parent.is_dir():
        raise InputError(f"there is no folder for {target}.", owner="restore", parameter="db")
    if _is_used(target):
        raise InputError(f"{_name(target)} has streams already; give an empty database.", owner="restore")
    is_new = not is_postgresql(target) and not Path(target).exists()
    with looking(source) as parts:
        counting = CountedParts(parts)
        try:
            with contextlib.closing(open_store(target)) as store:
                store.fill(counting)
        except BaseException:
            for ending in ("", "-wal", "-shm", ".lock") if is_new else ():
                Path(target + ending).unlink(missing_ok=True)
            raise
    return counting.contents()


def _is_used(address: str) -> bool:
    """Whether a database has something; an older one is not changed by that look."""
    if not is_postgresql(address) and not Path(address).exists():
        return False
    try:
        with looking(address) as parts:
            return next(iter(parts), None) is not None
    except StoreError:
        return False  # none of ours yet; whoever opens it says what is wrong


def _name(address: str) -> str:
    """An address without a password."""
    return "the database" if is_postgresql(address) else address
