"""The interfaces of logs: where events come from, and where decisions go besides the store."""

from __future__ import annotations

from typing import Protocol

from ..events import EventBatch
from ..sampler_spec import SamplerSpec
from ..stores.records import Counts


class PartitionReader(Protocol):
    """Reads one partition of a log."""

    def read(self, position: str, most: int) -> tuple[EventBatch, str]:
        """At most so many events after a position, and the position after them."""


class EventLog(Protocol):
    """A partitioned log of events."""

    def partitions(self) -> list[str]:
        """The names of the partitions, in order."""

    def reader(self, partition: str, spec: SamplerSpec | None) -> PartitionReader:
        """The reader of a partition; without a spec, of texts that are not parsed."""

    def append(self, partition: str, lines: list[bytes]) -> None:
        """Add events, each a whole line of JSON, to the end of a partition."""


class DecisionSink(Protocol):
    """An output log of decisions."""

    @property
    def keeps_refused(self) -> bool:
        """Whether refusals include the texts of the events."""

    def begin(self, partition: str, counts: Counts, waiting: int) -> None:
        """Refuse an output log that belongs to another store.

        The store has seen events with these counts, and so many of its decisions will be published again.
        """

    def publish(self, partition: str, first: int, body: bytes) -> None:
        """Write what a commit decided; writing it again changes nothing."""

    def close(self) -> None:
        """Close connections and files."""
