"""Which database an address means."""

from __future__ import annotations

from .rows import Store


def open_store(address: str) -> Store:
    """The store at an address: the name of a file, or postgresql://..."""
    if address.startswith(("postgresql://", "postgres://")):
        from .postgresql import PostgresqlStore

        return PostgresqlStore(address)
    from .sqlite import SqliteStore

    return SqliteStore(address.removeprefix("sqlite:///"))
