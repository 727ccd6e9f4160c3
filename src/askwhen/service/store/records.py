"""The records of a store, and the protocol that every database implements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from ..errors import StoreError
from .listing import Found, Listed, Mark, Predicted, Wanted

ALL = 1 << 62
"""A number larger than that of any event."""


class Event(NamedTuple):
    """One line of the log of a stream.

    Events of a stream are numbered from 1 without gaps. ``question`` is the round of the question that the event is
    about, ``key`` makes a retry idempotent. ``facts`` are JSON; ``row`` is the instance as it was predicted on,
    ``shown`` what annotators see of it, ``subject`` the key of the client or person that it is about. These three are
    its contents, which can be erased.
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
    """Everything that follows from the log of a stream up to an event.

    ``about`` has the versions that made it, ``books`` the encoded ``StreamState``.
    """

    stream: int
    seq: int
    about: str
    books: bytes
    model: bytes


class Message(NamedTuple):
    """A message to a webhook: sent when it is ``due``; once that is None, only when an admin asks for it.

    ``problem`` is why the last attempt failed.
    """

    id: str
    hook: str
    made: float
    due: float | None
    attempts: int
    problem: str
    body: str


class BacklogItem(NamedTuple):
    """An instance that was accepted and waits for its decision.

    ``place`` is its number in the backlog of the stream, and ``rank`` orders instances that are shuffled. ``key``,
    ``row``, ``shown`` and ``subject`` are those of the event that decides it; ``time`` is when it was accepted, and
    ``source`` the file or program that it comes from. ``advice`` is that which came with it, as JSON.
    """

    stream: int
    place: int
    rank: int
    time: float
    key: str | None
    subject: str | None
    source: str | None
    priority: float
    row: bytes
    shown: bytes | None
    advice: str | None = None


class Accepted(NamedTuple):
    """Instances that go to the backlog."""

    items: Sequence[BacklogItem]


class Taken(NamedTuple):
    """Instances that leave the backlog of a stream; ``erased`` where their contents must be gone for good."""

    stream: int
    places: Sequence[int]
    erased: bool = False


class Erasure(NamedTuple):
    """Erase the contents of these events of a stream, and its older snapshots, which may have them, too."""

    stream: int
    seqs: Sequence[int]


class Dropped(NamedTuple):
    """Delete the log of a stream up to an event, and its snapshots and backlog."""

    stream: int
    until: int


class Delivered(NamedTuple):
    """Messages that are removed from the outbox."""

    ids: Sequence[str]


Row: TypeAlias = Event | Snapshot | Message | BacklogItem
Change: TypeAlias = Message | Erasure | Dropped | Delivered | Accepted | Taken | Listed | Predicted
"""What a transaction can do apart from adding events and snapshots. A message replaces the one with the same id."""

Part: TypeAlias = Sequence[Row]
"""Some rows of one table, of any streams."""

PART = 1_000
"""Number of rows that are copied at once."""

TABLES: dict[str, type[Any]] = {"events": Event, "snapshots": Snapshot, "outbox": Message, "backlog": BacklogItem}
"""All tables of a store. The first columns of a table are those of its first version, in their order."""


class Reader(Protocol):
    """A read-only connection; it sees committed rows."""

    def events(self, stream: int, after: int, limit: int, kinds: Sequence[str] = ()) -> list[Event]:
        """The events of a stream after this one, in order, of all kinds or of these."""

    def event(self, stream: int, seq: int) -> Event | None:
        """One event."""

    def by_keys(self, stream: int, keys: Sequence[str]) -> list[Event]:
        """The events that have these keys."""

    def of_question(self, stream: int, question: int) -> list[Event]:
        """All events about the instance of a round, in order."""

    def of_questions(self, stream: int, questions: Sequence[int]) -> list[Event]:
        """All events about the instances of these rounds, each round's in order."""

    def last(self, stream: int) -> int:
        """The number of the last event of a stream, 0 where there is none."""

    def last_time(self) -> float:
        """The latest time in all logs, 0 where there is none."""

    def snapshot(self, stream: int, before: int = ALL) -> Snapshot | None:
        """The newest snapshot of a stream, or the newest before one of them."""

    def of_subject(self, stream: int, subject: str) -> list[int]:
        """The event numbers of the instances with this subject that have contents."""

    def with_contents(self, stream: int, after: int, until: int, limit: int) -> list[int]:
        """The event numbers of the instances that have contents, after one event and up to another."""

    def backlog_size(self, stream: int) -> tuple[int, int]:
        """Number of instances in the backlog of a stream, and the largest place, 0 where there is none."""

    def backlog(self, stream: int, after: int, limit: int) -> list[BacklogItem]:
        """Instances of the backlog after a place, in order."""

    def backlog_by_rank(self, stream: int, limit: int) -> list[BacklogItem]:
        """The instances of the backlog with the smallest ranks, in order."""

    def backlog_by_keys(self, stream: int, keys: Sequence[str]) -> list[BacklogItem]:
        """Instances of the backlog with these keys."""

    def backlog_places(
        self, stream: int, subject: str | None = None, source: str | None = None, before: float | None = None
    ) -> list[int]:
        """The places of instances of the backlog about a subject, from a source, or accepted before a time."""

    def backlog_sources(self, stream: int) -> list[tuple[str, int]]:
        """The sources of the instances in the backlog with their numbers, the last one first."""

    def mark(self, stream: int) -> Mark:
        """Up to where the listing of a stream is made."""

    def listed_labels(self, stream: int) -> list[str]:
        """All labels that rows of the listing have, or that were predicted for them."""

    def withdrawn(self, stream: int, limit: int) -> list[int]:
        """Items that the listing has as waiting, and that the backlog has not: withdrawn, or decided since."""

    def found(self, wanted: Wanted) -> list[Found] | None:
        """Items of the listing; None where too many would have to be sorted."""

    def messages(self, hook: str | None = None) -> list[Message]:
        """The messages in the outbox, oldest first: of all webhooks, or of one."""

    def close(self) -> None:
        """Close the connection."""


class Store(Protocol):
    """The one connection that writes. Every error is final: the process stops."""

    errors: tuple[type[Exception], ...]
    """The exceptions that the database and its readers raise."""

    quick: bool
    """Whether reading a few rows is so fast that the event loop can wait for it."""

    def write(
        self, events: Sequence[Event], snapshots: Sequence[Snapshot] = (), changes: Sequence[Change] = ()
    ) -> None:
        """Write all of them or none; once this returns, they survive a loss of power."""

    def fill(self, parts: Iterable[Part]) -> None:
        """Write all parts or none, into an empty database."""

    def watch(self, lost: Callable[[StoreError], None]) -> None:
        """Call a function, in another thread, once another server owns the database."""

    @property
    def scrubbing(self) -> bool:
        """Whether erased contents are still in the write-ahead log; another commit removes them."""

    @property
    def missing(self) -> Sequence[str]:
        """Files of the database that were removed or replaced; the next commit fails where there are any."""

    def check(self) -> None:
        """Raise an error where a file of the database is missing; what is committed is saved first."""

    def scrub(self) -> None:
        """Remove erased contents from the files of the database, as far as possible; callable from any thread."""

    def reader(self) -> Reader:
        """A new read-only connection."""

    def close(self) -> None:
        """Close the connection that writes."""
