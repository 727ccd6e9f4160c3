"""Opens the database that an address names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from .records import Part, Reader, Store


def is_postgresql(address: str) -> bool:
    """Whether an address is that of a PostgreSQL."""
    return address.startswith(("postgresql://", "postgres://"))


def all_rows(address: str) -> AbstractContextManager[Iterator[Part]]:
    """All rows at an address as of one moment: an iterator of ``Part``."""
    if is_postgresql(address):
        from . import postgresql

        return postgresql.all_rows(address)
    from . import sqlite

    return sqlite.all_rows(address.removeprefix("sqlite:///"))


def open_store(address: str, before: Callable[[int], None] | None = None, patience: float | None = None) -> Store:
    """The store at an address: the name of a file, or postgresql://...

    ``before`` is called with the version of an older database before it is changed. ``patience`` is the number of
    seconds to wait for another server of a PostgreSQL to end.
    """
    if is_postgresql(address):
        from .postgresql import PostgresqlStore

        return PostgresqlStore(address, before, patience)
    from .sqlite import SqliteStore

    return SqliteStore(address.removeprefix("sqlite:///"), before=before)


def open_reader(address: str) -> Reader:
    """A read-only connection to the PostgreSQL at an address, which another server may own."""
    import psycopg

    from .postgresql import PostgresqlReader

    return PostgresqlReader(psycopg.connect(address, autocommit=True))
