"""Backups: all rows of a database as of one moment, in a separate file, with a checksum.

A backup is an SQLite database with one more table, which describes it. It can be restored into SQLite or PostgreSQL,
whichever it came from, and can be made while the service runs.
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
from ...system.atomic_file import sync_folder
from ..errors import StoreError
from . import open_store
from .records import Event, Part, Row, Snapshot
from .sqlite import SqliteStore
from .urls import all_rows, is_postgresql

_TABLE = "create table backup (about text not null) strict"


class Contents(NamedTuple):
    """Counts and digest of a backup or a restored database."""

    streams: int
    events: int
    snapshots: int
    digest: str


class CountedParts:
    """Passes parts on, and counts and hashes them."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts, self._digest = parts, hashlib.sha256()
        self._streams: set[int] = set()
        self._counts: Counter[type[Row]] = Counter()

    def __iter__(self) -> Iterator[Part]:
        encode = msgspec.msgpack.Encoder().encode
        for part in self._parts:
            for row in part:
                # Hash an event without a subject as before events had subjects, so that old backups stay valid.
                self._digest.update(encode(row[:-1] if isinstance(row, Event) and row.subject is None else tuple(row)))
                if isinstance(row, Event) and not isinstance(row.stream, int):
                    raise StoreError("the database is damaged: an event has no stream.", owner="backup")
                if isinstance(row, Event) and row.stream > 0:
                    self._streams.add(row.stream)
            self._counts[type(part[0])] += len(part)
            yield part

    def contents(self) -> Contents:
        """Counts and digest so far."""
        events, snapshots = self._counts[Event], self._counts[Snapshot]
        return Contents(len(self._streams), events, snapshots, self._digest.hexdigest())


def backup(db: str, path: str) -> Contents:
    """Copy everything into a new file, which is complete or not made at all."""
    target = Path(path)
    if target.exists():
        raise InputError(f"{path} exists already; give another name.", owner="backup", parameter="path")
    if not target.parent.is_dir():
        raise InputError(f"there is no directory {target.parent}.", owner="backup", parameter="path")
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with all_rows(db) as parts, contextlib.closing(SqliteStore(str(temporary))) as store:
            counting = CountedParts(parts)
            store.fill(counting)
            found = counting.contents()
            about = {"askwhen": askwhen.__version__, "made": datetime.now(UTC).isoformat(timespec="seconds")}
            store.connection.execute(_TABLE)
            store.connection.execute("insert into backup values (?)", (json.dumps(about | found._asdict()),))
            store.connection.execute("pragma journal_mode = delete")  # a single file, readable on a read-only medium
        temporary.replace(target)
        sync_folder(target.parent)
    finally:
        for left in target.parent.glob(f"{glob.escape(temporary.name)}*"):
            left.unlink()
    return found


def checked(path: str) -> Contents:
    """The contents of a backup; refused where they do not match its description."""
    if not Path(path).is_file():
        raise InputError(f"there is no file {path}.", owner="restore", parameter="path")
    try:
        with contextlib.closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            about: dict[str, Any] = json.loads(connection.execute("select about from backup").get)
    except (apsw.Error, TypeError, ValueError) as error:
        raise StoreError(f"{path} is not a backup of askwhen.", owner="restore") from error
    with all_rows(path) as parts:
        counting = CountedParts(parts)
        for _ in counting:
            pass
    found = counting.contents()
    if any(about.get(name) != value for name, value in found._asdict().items()):
        raise StoreError(f"{path} is damaged: its contents do not match its description.", owner="restore")
    return found


def restore(path: str, db: str) -> Contents:
    """Restore a backup into an empty database, in one transaction."""
    wanted = checked(path)
    _fill(path, db)
    return wanted


def migrate(source: str, target: str) -> Contents:
    """Copy a database into an empty one, in one transaction."""
    return _fill(source, target)


def _fill(source: str, target: str) -> Contents:
    if not is_postgresql(target) and not Path(target).absolute().parent.is_dir():
        raise InputError(f"there is no directory for {target}.", owner="restore", parameter="db")
    if _is_used(target):
        raise InputError(f"{_name(target)} has streams already; give an empty database.", owner="restore")
    is_new = not is_postgresql(target) and not Path(target).exists()
    with all_rows(source) as parts:
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
    """Whether a database has rows; reading does not upgrade an older one."""
    if not is_postgresql(address) and not Path(address).exists():
        return False
    try:
        with all_rows(address) as parts:
            return next(iter(parts), None) is not None
    except StoreError:
        return False  # not a database of askwhen yet; opening it reports what is wrong


def _name(address: str) -> str:
    """An address without a password."""
    return "the database" if is_postgresql(address) else address
