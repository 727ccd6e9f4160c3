"""What a store keeps, and what it must do, whatever the database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

ALL = 1 << 62
"""More than there are events."""


class Event(NamedTuple):
    """One line of the log of a stream.

    Events of a stream are numbered from 1 without gaps. ``question`` is the round of the question that the event is
    about, ``key`` what makes a retry idempotent. ``facts`` are JSON; ``row`` is the instance as it was predicted on,
    ``shown`` what a person sees of it, ``subject`` the key of whoever it is about. These three are its contents, which
    can be erased.
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
    subject: str | None = None


class Snapshot(NamedTuple):
    """Everything that follows from the log of a stream up to an event: ``about`` says what made it."""

    stream: int
    seq: int
    about: str
    books: bytes
    model: bytes


class Message(NamedTuple):
    """What a webhook is to be told: to be tried when it is ``due``, or, once that is None, never again by itself.

    ``problem`` is what became of the last attempt.
    """

    id: str
    hook: str
    made: float
    due: float | None
    attempts: int
    problem: str
    body: str


class Erasure(NamedTuple):
    """The contents of these events of a stream go, and with them the older snapshots, which may have them too."""

    stream: int
    seqs: Sequence[int]


class Delivered(NamedTuple):
    """Messages that are done with."""

    ids: Sequence[str]


Row: TypeAlias = Event | Snapshot | Message
Change: TypeAlias = Message | Erasure | Delivered
"""What a transaction does beside adding events and snapshots. A message takes the place of the one with its id."""

Part: TypeAlias = Sequence[Row]
"""Some rows of one table, of any streams."""

PART = 1_000
"""So many rows are copied at once."""

TABLES: dict[str, type[Any]] = {"events": Event, "snapshots": Snapshot, "outbox": Message}
"""Everything that a store keeps. The first columns of a table are those of its first version, in their order."""


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

    def of_subject(self, stream: int, subject: str) -> list[int]:
        """The numbers of the instances that are about somebody, and have contents."""

    def with_contents(self, stream: int, after: int, until: int, limit: int) -> list[int]:
        """The numbers of the instances that have contents, after one event and up to another."""

    def messages(self, hook: str | None = None) -> list[Message]:
        """What webhooks are to be told, oldest first: all of them, or one."""

    def close(self) -> None:
        """Give the connection back."""


class Store(Protocol):
    """One connection that writes. Every error of it is final: whoever owns the store stops."""

    errors: tuple[type[Exception], ...]
    """What the database and its readers raise where it fails."""

    quick: bool
    """Whether a look at a few rows is so fast that the event loop can wait for it."""

    def write(
        self, events: Sequence[Event], snapshots: Sequence[Snapshot] = (), changes: Sequence[Change] = ()
    ) -> None:
        """Write all of them or none; once this returns, no loss of power takes them away."""

    def fill(self, parts: Iterable[Part]) -> None:
        """Write all parts or none, into a database that has nothing."""

    @property
    def scrubbing(self) -> bool:
        """Whether something that was erased is still in the database's log, and goes with another commit."""

    @property
    def missing(self) -> Sequence[str]:
        """The files of the database that were taken away; the next commit fails where there are any."""

    def check(self) -> None:
        """Raise an error where a file of the database was taken away; what is committed is saved first."""

    def scrub(self) -> None:
        """Let what was erased be gone from the database's files, as far as one can; from any thread."""

    def reader(self) -> Reader:
        """A new connection that only reads."""

    def close(self) -> None:
        """Close the connection that writes."""
