"""Which database an address means."""

from __future__ import annotations

from .rows import Store
from .sqlite import SqliteStore


def open_store(address: str) -> Store:
    """The store at an address: the name of a file, or postgresql://..."""
    return SqliteStore(address.removeprefix("sqlite:///"))
