"""Numbers from the header of a file, which may say anything."""

from __future__ import annotations

from typing import Any

from ..contracts.learner import LARGEST_COUNT
from ..errors import SnapshotError

CONTRADICTION = "the snapshot's arrays contradict each other."

UNREADABLE = (KeyError, IndexError, TypeError, ValueError, OverflowError, AttributeError, MemoryError, RecursionError)
"""What a header raises that holds something else than expected; nothing has been changed by then."""


def count(value: Any, largest: int | None = LARGEST_COUNT) -> int:
    """A whole number from 0 to the largest."""
    if type(value) is not int or value < 0 or (largest is not None and value > largest):
        raise SnapshotError(f"the snapshot counts {value!r}, which is no count.", owner="load")
    return value


def flag(value: Any) -> bool:
    """True or False."""
    if type(value) is not bool:
        raise SnapshotError(f"the snapshot says {value!r} where True or False was expected.", owner="load")
    return value
