"""Where the log is kept: SQLite, or PostgreSQL. Knows no learner and no HTTP."""

from .records import Event, Reader, Snapshot, Store
from .urls import open_store

__all__ = ["Event", "Reader", "Snapshot", "Store", "open_store"]
