"""Metrics for Prometheus, computed when they are scraped."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder

import askwhen

from ...domain.stream import ServiceStream
from ...runtime.coordinator import Coordinator
from ...runtime.histogram import Histogram
from ...use_cases.adviser_reports import AdviserReports
from ...use_cases.budgets import labels_left
from ..middleware.request_metrics import RequestCounts
from .accuracy_cache import AccuracyCache

Read = Callable[[ServiceStream], float | None]


class Metrics:
    """Makes all metrics. To add one, yield it from ``collect`` or add a row to a table of ``_of_streams``."""

    def __init__(
        self, coordinator: Coordinator, requests: RequestCounts, advisers: AdviserReports | None = None
    ) -> None:
        self._coordinator, self._requests = coordinator, requests
        self._cache = AccuracyCache(coordinator, AdviserReports() if advisers is None else advisers)

    async def written(
        self, accepted: str, streams: frozenset[int] | None = None, hidden: frozenset[int] = frozenset()
    ) -> tuple[bytes, str]:
        """All metrics as text, and its media type.

        ``streams`` limits them to streams with these numbers; those of the ``hidden`` ones are left out.
        """
        await self._cache.update()
        encode, media = choose_encoder(accepted)
        registry = CollectorRegistry()
        registry.register(_Collector(self, streams, hidden))
        if streams is None:
            ProcessCollector(registry=registry)
        return encode(registry), media

    async def close(self) -> None:
        """Stop updating."""
        await self._cache.close()

    def collect(self, streams: frozenset[int] | None, hidden: frozenset[int] = frozenset()) -> Iterator[Metric]:
        """The metrics of some streams; with None, of all streams but the hidden ones and of the service itself."""
        coordinator = self._coordinator
        found = [
            each
            for each in coordinator.by_number.values()
            if (streams is None or each.number in streams)
            and each.number not in hidden
            and (each.aside or each.summary().state != "archived")
        ]
        yield from self._of_streams(found)
        yield from self._accuracy(found)
        yield from self._advisers(found)
        if streams is not None:
            return
        about = ("version", "python")
        build: Any = GaugeMetricFamily("askwhen_build_info", "What runs", labels=about)
        build.add_metric([askwhen.__version__, platform.python_version()], 1)
        yield build
        yield from self._of_webhooks()
        yield from self._of_requests()
        yield _histogram(
            "askwhen_commit_duration_seconds", "Time that commits took", (), {(): coordinator.commits.times}
        )
        yield GaugeMetricFamily("askwhen_sse_clients", "Open streams of events", value=len(coordinator.subscribers))
        yield GaugeMetricFamily("askwhen_streams", "Streams, archived ones too", value=len(coordinator.by_number))

    def _of_streams(self, streams: list[ServiceStream]) -> Iterator[Metric]:
        now, cache = self._coordinator.clock.now(), self._cache
        summaries = {stream.number: stream.summary() for stream in streams}
        live = [stream for stream in streams if stream.number in cache.waiting and stream.loaded]
        counted: tuple[tuple[str, str, Read], ...] = (
            ("askwhen_rounds_total", "Instances predicted", lambda stream: summaries[stream.number].rounds),
            ("askwhen_questions_total", "Labels asked for", lambda stream: summaries[stream.number].asked),
            ("askwhen_labels_total", "Labels the model has learnt", lambda stream: summaries[stream.number].told),
            ("askwhen_forgotten_total", "Questions without a label", lambda stream: summaries[stream.number].forgotten),
        )
        seen: list[tuple[str, str, Read]] = [
            ("askwhen_waiting_questions", "Questions with a slot to fill", lambda each: cache.waiting[each.number][0]),
            (
                "askwhen_oldest_waiting_question_seconds",
                "For how long the oldest question has waited",
                lambda each: cache.waiting[each.number][1],
            ),
            (
                "askwhen_budget_left_labels",
                "Labels that may still be asked for, in all or in this period",
                lambda each: labels_left(each, now),
            ),
        ]
        for kind, metrics, of in ((CounterMetricFamily, counted, streams), (GaugeMetricFamily, seen, live)):
            for name, help, read in metrics:
                found: Any = kind(name, help, labels=["stream"])
                for stream in of:
                    value = read(stream)
                    if value is not None:
                        found.add_metric([stream.name], value)
                yield found
        aside: Any = GaugeMetricFamily(
            "askwhen_stream_set_aside", "1 where it takes no requests, since its model failed", labels=["stream"]
        )
        for stream in streams:
            aside.add_metric([stream.name], float(bool(stream.aside)))
        yield aside

    def _accuracy(self, streams: list[ServiceStream]) -> Iterator[Metric]:
        families = {
            "value": ("askwhen_accuracy_ratio", "Share of right predictions, from asked labels"),
            "low": (
                "askwhen_accuracy_low_ratio",
                "Lower end of its interval, 95 % at any time, however often you look",
            ),
            "high": ("askwhen_accuracy_high_ratio", "Upper end of its interval"),
        }
        for end, (name, help) in families.items():
            found: Any = GaugeMetricFamily(name, help, labels=["stream", "window"])
            for stream in streams:
                for window, ends in self._cache.accuracy.get(stream.number, {}).items():
                    if ends[end] is not None:
                        found.add_metric([stream.name, window], ends[end])
            yield found

    def _advisers(self, streams: list[ServiceStream]) -> Iterator[Metric]:
        families = {
            "value": (
                "askwhen_adviser_accuracy_ratio",
                "Share of an adviser's answers that are right, from asked labels",
            ),
            "low": ("askwhen_adviser_accuracy_low_ratio", "Lower end of its interval, 95 % at any time"),
            "high": ("askwhen_adviser_accuracy_high_ratio", "Upper end of its interval"),
        }
        for end, (name, help) in families.items():
            found: Any = GaugeMetricFamily(name, help, labels=["stream", "adviser"])
            for stream in streams:
                for each in self._cache.advisers.get(stream.number, []):
                    if each["overall"]["value"] is not None:
                        found.add_metric([stream.name, each["name"]], each["overall"][end])
            yield found

    def _of_webhooks(self) -> Iterator[Metric]:
        hooks = self._coordinator.webhooks
        waiting: Any = GaugeMetricFamily("askwhen_webhook_waiting_messages", "To be sent, or again", labels=["webhook"])
        failed: Any = CounterMetricFamily("askwhen_webhook_failures_total", "Attempts that failed", labels=["webhook"])
        for name in hooks.all:
            waiting.add_metric([name], hooks.waiting[name])
            failed.add_metric([name], hooks.failed[name])
        yield from (waiting, failed)

    def _of_requests(self) -> Iterator[Metric]:
        labels, times = ("route", "method", "status"), self._requests.times
        found: dict[tuple[str, ...], Histogram] = {
            (route, method, f"{status}xx"): each for (route, method, status), each in times.items()
        }
        total: Any = CounterMetricFamily("askwhen_http_requests_total", "Requests that were answered", labels=labels)
        for values, each in found.items():
            total.add_metric(values, each.count)
        yield total
        name = "askwhen_http_request_duration_seconds"
        yield _histogram(name, "Time until the reply began", labels, found)
        yield GaugeMetricFamily(
            "askwhen_http_requests_in_progress", "Requests that are being answered", value=self._requests.open
        )


class _Collector:
    """The metrics of some streams, as a registry wants them."""

    def __init__(self, metrics: Metrics, streams: frozenset[int] | None, hidden: frozenset[int]) -> None:
        self._metrics, self._streams, self._hidden = metrics, streams, hidden

    def describe(self) -> list[Metric]:
        """Nothing, so that the registry does not compute metrics when it is made."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Every metric."""
        return self._metrics.collect(self._streams, self._hidden)


def _histogram(name: str, help: str, labels: tuple[str, ...], found: Mapping[tuple[str, ...], Histogram]) -> Metric:
    made = HistogramMetricFamily(name, help, labels=labels)
    for values, each in found.items():
        made.add_metric(values, each.buckets(), each.sum)
    return made
