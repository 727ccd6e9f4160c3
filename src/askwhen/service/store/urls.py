"""Which database an address means."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from .records import Store


def is_postgresql(address: str) -> bool:
    """Whether an address is that of a PostgreSQL."""
    return address.startswith(("postgresql://", "postgres://"))


def looking(address: str) -> AbstractContextManager[Any]:
    """Everything at an address as it is at one moment, part by part: an iterator of ``Part``."""
    if is_postgresql(address):
        from . import postgresql

        return postgresql.looking(address)
    from . import sqlite

    return sqlite.looking(address.removeprefix("sqlite:///"))


def open_store(address: str, before: Callable[[int], None] | None = None) -> Store:
    """The store at an address: the name of a file, or postgresql://...

    ``before`` is called with the version of an older database before it is changed.
    """
    if is_postgresql(address):
        from .postgresql import PostgresqlStore

        return PostgresqlStore(address, before)
    from .sqlite import SqliteStore

    return SqliteStore(address.removeprefix("sqlite:///"), before=before)
