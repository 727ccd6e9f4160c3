"""Counts of a stream that can be shown without its model, for streams that are set aside or not in memory."""

from __future__ import annotations

import msgspec


class StreamSummary(msgspec.Struct):
    """Counts of a stream, as they were when its model was last in memory.

    ``state`` is "active", "paused" or "archived"; ``erased`` is the event up to which all contents are erased.
    """

    name: str
    state: str = "active"
    rounds: int = 0
    asked: int = 0
    told: int = 0
    forgotten: int = 0
    waiting: int = 0
    disputed: int = 0
    corrected: int = 0
    updates: int = 0
    erased: int = 0
