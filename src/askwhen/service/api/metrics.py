"""Counts of the desk for Prometheus, read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import choose_encoder

from ..desk import Desk
from ..stream import Stream


class Counts:
    """Reads the desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def collect(self) -> Iterator[Any]:
        """Every metric, a line for each stream."""
        desk = self._desk
        told: tuple[tuple[str, str, Callable[[Stream], int]], ...] = (
            ("askwhen_rounds_total", "Instances predicted", lambda stream: stream.state.round),
            ("askwhen_questions_total", "Labels asked for", lambda stream: stream.books.kept.asked),
            ("askwhen_labels_total", "Labels the model was told", lambda stream: stream.books.kept.told),
            ("askwhen_forgotten_total", "Questions without a label", lambda stream: stream.books.kept.forgotten),
        )
        for name, said, read in told:
            counter: Any = CounterMetricFamily(name, said, labels=["stream"])
            for stream in desk.numbers.values():
                counter.add_metric([stream.name], read(stream))
            yield counter
        waiting: Any = GaugeMetricFamily("askwhen_waiting_questions", "Questions with a free slot", labels=["stream"])
        for stream in desk.numbers.values():
            waiting.add_metric([stream.name], stream.books.waiting)
        yield waiting
        yield CounterMetricFamily("askwhen_commits_total", "Batches committed", value=desk.commits.batches)
        yield CounterMetricFamily("askwhen_commit_seconds_total", "Time in commits", value=desk.commits.seconds)
        yield GaugeMetricFamily("askwhen_event_listeners", "Open streams of events", value=desk.watching)


def written(desk: Desk) -> tuple[bytes, str]:
    """All counts as text, and its media type."""
    registry = CollectorRegistry()
    registry.register(Counts(desk))
    encode, media = choose_encoder("")
    return encode(registry), media
