"""The records of a store besides samplers, and the interfaces of stores."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from ...contracts.sampler import Parts
from ..errors import StoreError, damaged

COUNTS = ("events", "instances", "questions", "answers", "volunteered", "forgotten", "refused")


class Counts(NamedTuple):
    """The numbers of events, by what became of them.

    Attributes
    ----------
    events : int
        All events.
    instances, questions : int
        Instances that were predicted, and of these the ones that were asked about.
    answers, volunteered, forgotten : int
        Answers to questions, unsolicited labels, and questions that were dropped.
    refused : int
        Events that were refused.
    """

    events: int = 0
    instances: int = 0
    questions: int = 0
    answers: int = 0
    volunteered: int = 0
    forgotten: int = 0
    refused: int = 0


class Commit(NamedTuple):
    """The changes of a batch of events, which are stored in one transaction.

    ``first`` is the number of its first event, under which its decisions are stored; decisions of events before
    ``published`` are in the output log, and are removed from the store.
    """

    position: str
    counts: Counts
    features: int | None
    samplers: Iterable[tuple[str, bytes]]
    first: int
    decisions: bytes
    published: int


class PartitionStore(Protocol):
    """One partition of a store, claimed by one worker."""

    position: str
    counts: Counts
    features: int | None

    def load(self, keys: list[str]) -> dict[str, bytes]:
        """The samplers of these keys; unknown keys are left out."""

    def commit(self, commit: Commit) -> None:
        """Store all of it or nothing; CutOffError if another worker has claimed the partition meanwhile."""

    def decisions(self) -> list[tuple[int, bytes]]:
        """The stored decisions, with the number of the first event of each commit."""

    def close(self) -> None:
        """Close the connection."""


class KeyedStore(Protocol):
    """A store of partitions: a folder of SQLite files, or PostgreSQL."""

    def claim(self, partition: str, kind: str) -> PartitionStore:
        """Take a partition over from the worker that had it; ``kind`` describes the samplers."""

    def partitions(self) -> list[str]:
        """The names of the stored partitions."""

    def kind(self) -> str | None:
        """The description of the samplers, as it was written; None if the store is empty."""

    def counts(self, partition: str) -> Counts:
        """The counts of a partition so far."""

    def features(self, partition: str) -> int | None:
        """Number of features of a partition's instances; None if it is not known yet."""

    def samplers(self, partition: str) -> Iterator[tuple[str, bytes]]:
        """All samplers of a partition with their keys, ordered by key."""

    def sampler(self, partition: str, key: str) -> bytes | None:
        """The sampler of one key."""

    def keys(self, partition: str, most: int) -> list[str]:
        """At most so many keys of a partition."""

    def decisions(self, partition: str) -> list[tuple[int, bytes]]:
        """The stored decisions of a partition, with the number of the first event of each commit."""

    def remember(self, name: str, number: int) -> None:
        """Store a number under a name."""

    def recalled(self, name: str) -> int:
        """The number that was stored under a name, or 0."""


def missing(scripts: Sequence[str], applied: int) -> Sequence[str]:
    """The migration scripts that a store lacks, by its version: the number of scripts that were applied.

    A later version is refused. A script is never changed once it is released. The version also stands for the layout of
    the bytes of samplers: if that changes, a script has to convert or remove those that are stored.
    """
    if applied > len(scripts):
        raise StoreError(
            f"the store has version {applied}, of a later askwhen; this one knows versions up to {len(scripts)}.",
            owner="keyed",
        )
    return scripts[applied:]


CUT_OFF = "another worker has taken over partition {}; what this one did last was not committed."


def check_kind(known: str, kind: str) -> None:
    """Refuse a store of samplers with other parameters, with a message that names the differences."""
    if known != kind:
        with reading_kind():
            one = _named(json.loads(known))
        other = _named(json.loads(kind))
        differs = [
            f"{name} {one.get(name)} there and {other[name]} here" for name in other if one.get(name) != other[name]
        ]
        sentence = f"the store holds samplers of another kind, or with another seed: {'; '.join(differs)}."
        raise StoreError(sentence, owner="keyed")


@contextlib.contextmanager
def reading_kind() -> Iterator[None]:
    """Raise StoreError if the stored description of samplers cannot be read."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise damaged("the description of the samplers in the store", error) from error


def check_claimed(position: object, features: object, numbers: Sequence[object]) -> None:
    """Refuse the stored offset and counts of a partition if their types are wrong: the file is damaged."""
    if not isinstance(position, str) or not isinstance(features, int | None):
        raise damaged("the offset of a partition in the store", f"{position!r}, {features!r}")
    if not all(isinstance(each, int) and each >= 0 for each in numbers):
        raise damaged("the counts of a partition in the store", f"{list(numbers)}")


def _named(facts: dict[str, Any]) -> dict[str, Any]:
    """A description of samplers with its parts by their names, so that a difference is that of one part."""
    return dict(zip(Parts._fields, facts["parts"], strict=True)) | {k: v for k, v in facts.items() if k != "parts"}
