"""Stores the log in SQLite or PostgreSQL. Nothing here depends on learners or HTTP."""

from .records import Event, Reader, Snapshot, Store
from .urls import open_store

__all__ = ["Event", "Reader", "Snapshot", "Store", "open_store"]
