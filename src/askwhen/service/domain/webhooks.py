"""Who wants to be told of what, and what they are told. Never the contents of an instance."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from ..events.kinds import Answered, Fact, Instance, WebhookAlarm, WebhookMade, WebhookRemoved, WebhookStopped, facts_of
from ..store.records import Event, Message

OPENED, ANSWERED, SWITCHED, SPENT, BELOW, TEST = (
    "question.opened",
    "question.answered",
    "switch.detected",
    "budget.spent",
    "accuracy.below",
    "test",
)
KINDS = (OPENED, ANSWERED, SWITCHED, SPENT, BELOW)

MOST_HOOKS, MOST_WAITING = 100, 50_000
"""Of all webhooks, and of the messages of one that wait; what comes then is counted and not kept."""

_OF_EVENTS = ("instance", "answered")


class Webhook(msgspec.Struct):
    """A webhook: ``streams`` by number, or None for all; ``accuracy`` the bound; ``stopped`` why nothing is sent."""

    hook: str
    url: str
    secret: str
    kinds: frozenset[str]
    streams: frozenset[int] | None
    accuracy: float | None
    stopped: str = ""
    dropped: int = 0
    low: set[int] = msgspec.field(default_factory=set)

    def wants(self, stream: int, kind: str) -> bool:
        """Whether it is to be told of such a thing."""
        return kind in self.kinds and (self.streams is None or stream in self.streams)


class Webhooks:
    """All webhooks, as the log of the service says; how many messages of each wait, and how many attempts failed."""

    def __init__(self) -> None:
        self.all: dict[str, Webhook] = {}
        self.waiting: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()

    def apply(self, fact: Fact) -> None:
        """A webhook was made, removed, stopped, or has seen an accuracy cross its bound."""
        if isinstance(fact, WebhookMade):
            streams = None if fact.streams is None else frozenset(fact.streams)
            self.all[fact.hook] = Webhook(
                fact.hook, fact.url, fact.secret, frozenset(fact.kinds), streams, fact.accuracy
            )
        elif isinstance(fact, WebhookRemoved):
            self.all.pop(fact.hook, None)
            self.waiting.pop(fact.hook, None)
        elif isinstance(fact, WebhookStopped):
            self.all[fact.hook].stopped = fact.why
        elif isinstance(fact, WebhookAlarm):
            low = self.all[fact.hook].low
            (low.add if fact.low else low.discard)(fact.stream)

    def messages(self, name: str, events: Sequence[Event]) -> list[Message]:
        """What is to be sent of events of a stream, which are about to be committed."""
        if not self.all:
            return []
        found: list[Message] = []
        for event in events:
            if event.kind in _OF_EVENTS:
                for kind, data in _said(event):
                    found += self._told(kind, event, {"stream": name} | data)
        return found

    def _told(self, kind: str, event: Event, data: dict[str, Any]) -> Iterator[Message]:
        for hook in self.all.values():
            if hook.wants(event.stream, kind):
                if hook.stopped or self.waiting[hook.hook] >= MOST_WAITING:
                    hook.dropped += 1
                else:
                    yield message(hook.hook, kind, event.stream, event.seq, event.time, data)


def _said(event: Event) -> Iterable[tuple[str, dict[str, Any]]]:
    """What an event says to webhooks."""
    fact = facts_of(event)
    if isinstance(fact, Answered):
        given = {"question": event.question, "annotator": fact.annotator, "label": fact.label}
        yield ANSWERED, given | {"unsure": fact.label is None}
    elif isinstance(fact, Instance):
        facts = {"round": fact.round, "id": None if event.key is None else event.key[2:]}
        if fact.asked:
            names = ("prediction", "margin", "probability", "certainty", "priority")
            yield OPENED, {"question": fact.round} | facts | {name: getattr(fact, name) for name in names}
        if fact.switched:
            yield SWITCHED, facts
        if fact.spent:
            yield SPENT, facts


def message(hook: str, kind: str, stream: int, seq: int, time: float, data: dict[str, Any]) -> Message:
    """What a webhook is told; the same thing has the same id, so that a receiver can drop what comes twice."""
    named = hashlib.blake2b(f"{hook} {kind} {stream} {seq}".encode(), digest_size=16).hexdigest()
    moment = datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    body = msgspec.json.encode({"type": kind, "timestamp": moment, "data": data}).decode()
    return Message(f"msg_{named}", hook, time, time, 0, "", body)
