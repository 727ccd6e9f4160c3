"""The webhooks of the service, and the messages that they are sent. Never the contents of an instance."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from ..events.kinds import Fact, WebhookAlarm, WebhookMade, WebhookRemoved, WebhookStopped, facts_of
from ..store.records import Event, Message
from .notices import due
from .webhook_kinds import ALL, KINDS

MOST_HOOKS, MOST_WAITING = 100, 50_000
"""Number of webhooks, and of messages that wait for one of them; further messages are counted and dropped."""

MOST_OWN, MOST_OF_PEOPLE = 5, 500
"""Number of webhooks that a person may make for themselves, and of all people together."""

_CAUSES = frozenset(kind.event for kind in ALL)


class Webhook(msgspec.Struct):
    """A webhook: ``streams`` by number, or None for all; ``accuracy`` the bound; ``stopped`` why nothing is sent.

    One with an ``owner`` was made by that person for themselves, and last ``tested`` at a time.

    With a ``template`` it is for people; ``raised`` are the other alarms that were sent and whose cause is still there.
    """

    hook: str
    url: str
    secret: str
    kinds: frozenset[str]
    streams: frozenset[int] | None
    accuracy: float | None
    stopped: str = ""
    dropped: int = 0
    low: set[int] = msgspec.field(default_factory=set)
    template: str = ""
    digest: float = 0.0
    quiet: str = ""
    zone: str = ""
    oldest: float | None = None
    raised: set[tuple[str, int]] = msgspec.field(default_factory=set)
    owner: str = ""
    roles: list[str] = []
    is_by_token: bool = False
    tested: float = -math.inf

    def wants(self, stream: int, kind: str) -> bool:
        """Whether it subscribes to messages of this kind about this stream."""
        return kind in self.kinds and (self.streams is None or stream in self.streams)

    def message(self, kind: str, stream: int, seq: int, time: float, data: dict[str, Any]) -> Message:
        """A message to it, and when that is due."""
        made = message(self.hook, kind, stream, seq, time, data)
        return made._replace(due=due(time, self.digest, self.quiet, self.zone)) if self.template else made


class Webhooks:
    """All webhooks, as the log of the service has made them, with counts of waiting messages and failed attempts.

    Parameters
    ----------
    may_see : callable, optional
        Whether the owner of a webhook may still see a stream, given its number.
    """

    def __init__(self, may_see: Callable[[Webhook, int], bool] = lambda _hook, _stream: True) -> None:
        self._may_see = may_see
        self.all: dict[str, Webhook] = {}
        self.waiting: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()

    def apply(self, fact: Fact) -> None:
        """Apply the creation, removal, stop or alarm of a webhook; other facts change nothing."""
        if isinstance(fact, WebhookMade):
            streams = None if fact.streams is None else frozenset(fact.streams)
            self.all[fact.hook] = Webhook(
                fact.hook,
                fact.url,
                fact.secret,
                frozenset(fact.kinds),
                streams,
                fact.accuracy,
                template=fact.template,
                digest=fact.digest,
                quiet=fact.quiet,
                zone=fact.zone,
                oldest=fact.oldest,
                owner=fact.owner,
                roles=fact.roles,
                is_by_token=fact.is_by_token,
            )
        elif isinstance(fact, WebhookRemoved):
            self.all.pop(fact.hook, None)
            self.waiting.pop(fact.hook, None)
        elif isinstance(fact, WebhookStopped):
            self.all[fact.hook].stopped = fact.why
        elif isinstance(fact, WebhookAlarm):
            hook = self.all[fact.hook]
            if fact.kind:
                (hook.raised.add if fact.low else hook.raised.discard)((fact.kind, fact.stream))
            else:
                (hook.low.add if fact.low else hook.low.discard)(fact.stream)

    def wants(self, hook: Webhook, stream: int, kind: str) -> bool:
        """Whether a webhook is sent messages of this kind about this stream."""
        return hook.wants(stream, kind) and (not hook.owner or self._may_see(hook, stream))

    def messages(self, name: str, events: Sequence[Event]) -> list[Message]:
        """The messages about events of a stream that are about to be committed."""
        if not self.all:
            return []
        found: list[Message] = []
        for event in events:
            if event.kind in _CAUSES:
                fact = facts_of(event)
                for kind in ALL:
                    data = kind.data(event, fact) if kind.event == event.kind else None
                    if data is not None:
                        found += self._messages(kind.name, event, {"stream": name} | data)
        return found

    def _messages(self, kind: str, event: Event, data: dict[str, Any]) -> Iterator[Message]:
        for hook in self.all.values():
            if self.wants(hook, event.stream, kind):
                if hook.stopped or self.waiting[hook.hook] >= MOST_WAITING:
                    hook.dropped += 1
                else:
                    yield hook.message(kind, event.stream, event.seq, event.time, data)


def message(hook: str, kind: str, stream: int, seq: int, time: float, data: dict[str, Any]) -> Message:
    """A message to a webhook. The same cause gives the same id, so that receivers can drop duplicates.

    Ids begin with the number of the event: messages of the same moment are in the order of their ids.
    """
    named = hashlib.blake2b(f"{hook} {kind} {stream} {seq}".encode(), digest_size=12).hexdigest()
    moment = datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    body = msgspec.json.encode({"type": kind, "timestamp": moment, "data": data}).decode()
    place = KINDS.index(kind) if kind in KINDS else 0  # one event may cause messages of several kinds
    return Message(f"msg_{seq:016x}{place:02x}_{named}", hook, time, time, 0, "", body)
