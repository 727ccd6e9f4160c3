"""Which database an address means."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from .rows import Store


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


def open_store(address: str) -> Store:
    """The store at an address: the name of a file, or postgresql://..."""
    if is_postgresql(address):
        from .postgresql import PostgresqlStore

        return PostgresqlStore(address)
    from .sqlite import SqliteStore

    return SqliteStore(address.removeprefix("sqlite:///"))
