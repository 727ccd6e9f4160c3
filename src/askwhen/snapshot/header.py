"""Validation of values in the header of a file, which may be damaged or forged."""

from __future__ import annotations

from typing import Any

from ..contracts.learner import LARGEST_COUNT
from ..errors import SnapshotError

CONTRADICTION = "the snapshot's arrays contradict each other."

UNREADABLE = (KeyError, IndexError, TypeError, ValueError, OverflowError, AttributeError, MemoryError, RecursionError)
"""Exceptions that reading an unexpected header may raise; nothing has been changed at that point."""


def count(value: Any, largest: int | None = LARGEST_COUNT) -> int:
    """A whole number from 0 to the largest."""
    if type(value) is not int or value < 0 or (largest is not None and value > largest):
        raise SnapshotError(f"the snapshot has {value!r} where a count was expected.", owner="load")
    return value


def flag(value: Any) -> bool:
    """True or False."""
    if type(value) is not bool:
        raise SnapshotError(f"the snapshot has {value!r} where True or False was expected.", owner="load")
    return value
