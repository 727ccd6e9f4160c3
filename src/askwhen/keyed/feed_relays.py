"""Answers and delivered labels of a stream of the service, from its events to output logs."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

from .feed_outlet import FeedOutlet
from .feed_service import FedStream
from .stores.records import Counts, KeyedStore, PartitionStore

ANSWERS, DELIVERED = "answers", "delivered"
_KINDS = {ANSWERS: "told,corrected", DELIVERED: "instance,told,corrected"}
_EVENTS = 5_000
_PAUSE = 0.2
_TRIES = 20
"""Looks for the id of a question while instances are sent, before it is taken for one of another producer."""


def partition_name(what: str) -> str:
    """The name of an output under which its position is stored; its number tells the partition of a topic."""
    return f"service.{what}-0"


class QuestionIds:
    """The ids of questions, as they were stored with the decisions on their instances."""

    def __init__(self, store: KeyedStore, waits: bool) -> None:
        self._store, self._waits, self._tries = store, waits, 0

    def of(self, event: dict[str, Any]) -> str | None:
        """The id of an event's instance; None if another producer has sent it, LookupError if it may come soon."""
        given: str | None = event.get("id") or event["facts"].get("id")
        if given is None:
            for partition in self._store.partitions():
                found = self._store.sampler(partition, str(event["question"]))
                if found is not None:
                    self._tries = 0
                    return found.decode()
            self._tries += 1
            if self._waits and self._tries < _TRIES:
                raise LookupError
            self._tries = 0
        return given


class Relay:
    """Writes answers or delivered labels to an output."""

    def __init__(self, what: str, store: PartitionStore, address: str, service: FedStream, ids: QuestionIds) -> None:
        self._what, self._service, self._ids = what, service, ids
        self._outlet = FeedOutlet(partition_name(what), store, address)

    def step(self) -> int:
        """Write what the service has had since; the number of its events."""
        after = int(self._outlet.store.position or 0)
        events = self._service.events(after, _KINDS[self._what], _EVENTS)
        if not events:
            return 0
        make, lines, last, count = _answer if self._what == ANSWERS else _delivered, [], after, 0
        for number, kind, facts in events:
            try:
                line = make(kind, facts, self._ids)
            except LookupError:  # its decision is not committed yet
                break
            last, count = number, count + 1
            if line is not None:
                lines.append(line)
        if count:
            self._outlet.commit(str(last), Counts(count, len(lines)), lines)
        else:
            time.sleep(_PAUSE)
        return len(events)

    def close(self) -> None:
        """Close the store and the output."""
        self._outlet.close()


def _answer(kind: str, event: dict[str, Any], ids: QuestionIds) -> dict[str, Any]:
    """The line of an answer; a correction says so."""
    line = _line(event, ids) | {"label": event["facts"].get("label")}
    return line | ({"corrected": True} if kind == "corrected" else {})


def _delivered(kind: str, event: dict[str, Any], ids: QuestionIds) -> dict[str, Any] | None:
    """The line of a delivered label, or None where an event delivers none."""
    facts = event["facts"]
    if kind == "instance":
        is_certified = facts.get("expected") is not None and not facts["asked"] and not facts.get("withheld")
        return _line(event, ids) | {"label": facts["prediction"], "by": "model"} if is_certified else None
    return _line(event, ids) | {"label": facts.get("label"), "by": "people"} if facts.get("delivered") else None


def _line(event: dict[str, Any], ids: QuestionIds) -> dict[str, Any]:
    number, name = event["question"], ids.of(event)
    return {"key": str(number) if name is None else name, "id": name, "round": number}


class RelayThread:
    """Relays in a thread, while instances are sent."""

    def __init__(self, make: Callable[[], list[Relay]]) -> None:
        self._make, self._ended = make, threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Raise the error that has ended the thread, if any."""
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """End the thread."""
        self._ended.set()
        self._thread.join()

    def _work(self) -> None:
        try:
            with contextlib.ExitStack() as stack:
                relays = [stack.enter_context(contextlib.closing(each)) for each in self._make()]
                while not self._ended.is_set():
                    if not sum(relay.step() for relay in relays):
                        self._ended.wait(_PAUSE)
        except BaseException as error:
            self._error = error
