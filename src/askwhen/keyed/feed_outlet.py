"""The lines that a feed writes: stored with the position that they come from, and then published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from .job import open_sink
from .logs.protocols import DecisionSink
from .stores.records import Commit, Counts, PartitionStore


class FeedOutlet:
    """Commits lines with the position that they come from, and publishes them."""

    def __init__(self, partition: str, store: PartitionStore, address: str | None) -> None:
        self._partition, self.store, self._published = partition, store, 0
        self._sink: DecisionSink | None = None if address is None else open_sink(address)
        self.keeps_refused = self._sink is not None and self._sink.keeps_refused
        if self._sink is not None:
            waiting = store.decisions()  # of a process that was killed before it published them
            self._sink.begin(partition, store.counts, sum(body.count(b"\n") for _, body in waiting))
            for first, body in waiting:
                self._publish(self._sink, first, body)

    def commit(
        self,
        position: str,
        found: Counts,
        lines: Sequence[dict[str, Any]],
        ids: Sequence[tuple[str, bytes]] = (),
    ) -> None:
        """Store a position, what was found up to it and the ids of questions, and publish the lines."""
        first = self.store.counts.events
        body = msgspec.json.Encoder().encode_lines(lines) if self._sink is not None else b""
        total = Counts(*(before + now for before, now in zip(self.store.counts, found, strict=True)))
        self.store.commit(Commit(position, total, None, ids, first, body, self._published))
        if self._sink is not None and body:
            self._publish(self._sink, first, body)

    def _publish(self, sink: DecisionSink, first: int, body: bytes) -> None:
        sink.publish(self._partition, first, body)
        self._published = first + 1

    def close(self) -> None:
        """Close the store and the output."""
        self.store.close()
        if self._sink is not None:
            self._sink.close()
