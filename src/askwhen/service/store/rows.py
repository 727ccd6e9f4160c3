"""What a store keeps, and what it must do, whatever the database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

ALL = 1 << 62
"""More than there are events."""


class Event(NamedTuple):
    """One line of the log of a stream.

    Events of a stream are numbered from 1 without gaps. ``question`` is the round of the question that the event is
    about, ``key`` what makes a retry idempotent. ``facts`` are JSON; ``row`` is the instance as it was predicted on,
    ``shown`` what a person sees of it.
    """

    stream: int
    seq: int
    time: float
    kind: str
    question: int | None
    key: str | None
    facts: str
    row: bytes | None = None
    shown: bytes | None = None


class Snapshot(NamedTuple):
    """Everything that follows from the log of a stream up to an event: ``about`` says what made it."""

    stream: int
    seq: int
    about: str
    books: bytes
    model: bytes


Part = tuple[Sequence[Event], Sequence[Snapshot]]
"""Some events and some snapshots, of any streams."""

PART = 1_000
"""So many rows are copied at once."""


class Reader(Protocol):
    """A connection that only reads; sees what is committed."""

    def events(self, stream: int, after: int, limit: int, kinds: Sequence[str] = ()) -> list[Event]:
        """The events of a stream after this one, in order, of all kinds or of these."""

    def event(self, stream: int, seq: int) -> Event | None:
        """One event."""

    def by_keys(self, stream: int, keys: Sequence[str]) -> list[Event]:
        """The events that these keys made."""

    def of_question(self, stream: int, question: int) -> list[Event]:
        """Everything that happened to one question, in order."""

    def last(self, stream: int) -> int:
        """The number of the last event of a stream, 0 where there is none."""

    def last_time(self) -> float:
        """The latest time in all logs, 0 where there is none."""

    def snapshot(self, stream: int, before: int = ALL) -> Snapshot | None:
        """The newest snapshot of a stream, or the newest before one of them."""

    def close(self) -> None:
        """Give the connection back."""


class Store(Protocol):
    """One connection that writes. Every error of it is final: whoever owns the store stops."""

    quick: bool
    """Whether a look at a few rows is so fast that the event loop can wait for it."""

    def write(self, events: Sequence[Event], snapshots: Sequence[Snapshot]) -> None:
        """Write all of them or none; once this returns, no loss of power takes them away."""

    def fill(self, parts: Iterable[Part]) -> None:
        """Write all parts or none, into a database that has nothing."""

    def reader(self) -> Reader:
        """A new connection that only reads."""

    def close(self) -> None:
        """Close the connection that writes."""
