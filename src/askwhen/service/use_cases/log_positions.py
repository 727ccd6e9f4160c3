"""Places in the log of a stream: the instance of a round, and the last event before a time."""

from __future__ import annotations

from collections.abc import Callable

from ..events.kinds import Instance, facts_of
from ..store.records import Event, Reader


def of_round(reader: Reader, stream: int, round: int) -> Event | None:
    """The instance of a round, found by bisection, since rounds grow with the log."""

    def is_after(seq: int) -> bool:
        found = reader.events(stream, seq - 1, 1, ("instance",))
        return not found or round_of(found[0]) >= round

    seq = _first(1, reader.last(stream) + 1, is_after)
    found = next(iter(reader.events(stream, seq - 1, 1, ("instance",))), None)
    return found if found is not None and round_of(found) == round else None


def round_of(event: Event) -> int:
    """The round of an instance."""
    fact: Instance = facts_of(event)
    return fact.round


def last_before(reader: Reader, stream: int, time: float) -> int:
    """The last event before a time, 0 where there is none; by bisection, since times never go back."""

    def is_after(seq: int) -> bool:
        event = reader.event(stream, seq)
        return event is None or event.time >= time

    return _first(1, reader.last(stream) + 1, is_after) - 1


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The first number from ``low`` on for which a monotonic condition holds; ``high`` where there is none."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low
