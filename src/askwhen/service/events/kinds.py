"""What can happen on a stream, as facts. A kind of event is never changed once it is released; new ones may come."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import msgspec

from ..errors import StoreError
from ..store.records import Event
from .settings import Settings


class Fact(msgspec.Struct, omit_defaults=True):
    """The facts of an event.

    ``event_kinds`` are the kinds of events that have them, as they are written to the log: a class may be renamed, a
    kind never.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ()

    @property
    def event_kind(self) -> str:
        """The kind of event that has these facts, where there is one."""
        (kind,) = self.event_kinds
        return kind


class Instance(Fact):
    """A round was played: what was predicted and decided, by which coin, and why.

    ``played`` is the sampler's round; ``spent`` says that in this round the budget was found to be spent.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("instance",)
    round: int
    prediction: str | None
    margin: float
    probability: float
    coin: float
    asked: bool
    why: str
    played: int
    certainty: float | None = None
    uncertainty: float | None = None
    level: int = 0
    priority: float = 0.0
    switched: bool = False
    spent: bool = False


class Leased(Fact):
    """Somebody holds a slot of a question until then, on one of their devices if it said which."""

    event_kinds: ClassVar[tuple[str, ...]] = ("leased",)
    slot: int
    annotator: str
    until: float
    device: str = ""


class Released(Fact):
    """Somebody gave a slot back."""

    event_kinds: ClassVar[tuple[str, ...]] = ("released",)
    slot: int
    annotator: str


class Answered(Fact):
    """A slot was filled; without a label, somebody was unsure. ``lead`` is how many seconds it took."""

    event_kinds: ClassVar[tuple[str, ...]] = ("answered",)
    slot: int
    annotator: str
    label: str | None = None
    lead: float | None = None


class Skipped(Fact):
    """Somebody will never see this question again."""

    event_kinds: ClassVar[tuple[str, ...]] = ("skipped",)
    annotator: str


class Undone(Fact):
    """An answer was taken back, and its slot is held for another one until then; ``told`` if the model knew it."""

    event_kinds: ClassVar[tuple[str, ...]] = ("undone",)
    slot: int
    annotator: str
    until: float
    told: bool = False


class Disputed(Fact):
    """All slots are filled, and the answers do not decide."""

    event_kinds: ClassVar[tuple[str, ...]] = ("disputed",)


class Reviewed(Fact):
    """A reviewer decided; without a label, that the question has none."""

    event_kinds: ClassVar[tuple[str, ...]] = ("reviewed",)
    annotator: str
    label: str | None = None


class Told(Fact):
    """The model was told a label."""

    event_kinds: ClassVar[tuple[str, ...]] = ("told",)
    label: str


class Forgotten(Fact):
    """The model was told that no label will come, and why."""

    event_kinds: ClassVar[tuple[str, ...]] = ("forgotten",)
    why: str


class Corrected(Fact):
    """What is held to be the label after the model was told another; None where there is none any more."""

    event_kinds: ClassVar[tuple[str, ...]] = ("corrected",)
    label: str | None = None


class Volunteered(Fact):
    """Somebody said what the label of an instance is that no question waits for, or took that back: without a label.

    ``instance`` is its event. The model learns the first label of a round, which ``learnt`` says; what comes later is
    held to be right, and a replay learns that.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("volunteered",)
    instance: int
    annotator: str
    label: str | None = None
    learnt: bool = False


class Received(Fact):
    """Another tool said what somebody's label of an instance is, or that they took it back; it waits to be told.

    ``source`` and ``annotation`` say which label of theirs that is, ``instance`` is the event of the instance, and
    ``at`` when they said it, by their own clock: the latest is what they hold to be right, however late it comes.
    ``gone`` is final.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("received",)
    source: str
    annotation: str
    at: float
    instance: int = 0
    annotator: str = ""
    label: str | None = None
    lead: float | None = None
    gone: bool = False


class Handled(Fact):
    """What became of something that was received, by its number."""

    event_kinds: ClassVar[tuple[str, ...]] = ("handled",)
    received: int
    outcome: str


class Renamed(Fact):
    """The stream has another name."""

    event_kinds: ClassVar[tuple[str, ...]] = ("renamed",)
    name: str


class Changed(Fact):
    """The stream was paused, resumed or archived."""

    event_kinds: ClassVar[tuple[str, ...]] = ("paused", "resumed", "archived")
    by: str = ""


class SettingsChanged(Fact):
    """Some settings of the stream are others from here on: their new values, those of the view by their names in it."""

    event_kinds: ClassVar[tuple[str, ...]] = ("settings changed",)
    changes: dict[str, Any]
    by: str = ""


class Replayed(Fact):
    """The model was made again from the corrected log: a snapshot with the same number has it."""

    event_kinds: ClassVar[tuple[str, ...]] = ("replayed",)
    by: str = ""
    labels: int = 0


class Erased(Fact):
    """The contents of so many instances were erased; ``until`` where that is all up to an event."""

    event_kinds: ClassVar[tuple[str, ...]] = ("erased",)
    by: str
    instances: int
    until: int = 0


class WentOn(Fact):
    """The model went on from an older snapshot, without the rounds since, and why."""

    event_kinds: ClassVar[tuple[str, ...]] = ("went on",)
    why: str
    rounds: int


class Created(Fact):
    """A stream was made. In the log of the service."""

    event_kinds: ClassVar[tuple[str, ...]] = ("created",)
    stream: int
    name: str
    settings: Settings


class TokenMade(Fact):
    """A token was made, for some streams by their numbers or for all; only its hash is kept. In the service's log."""

    event_kinds: ClassVar[tuple[str, ...]] = ("token made",)
    token: str
    name: str
    digest: str
    roles: list[str]
    streams: list[int] | None = None
    expires: float | None = None


class TokenRevoked(Fact):
    """A token is not valid any more. In the log of the service."""

    event_kinds: ClassVar[tuple[str, ...]] = ("token revoked",)
    token: str


class WebhookMade(Fact):
    """A webhook was made, for some streams by their numbers or for all. In the log of the service."""

    event_kinds: ClassVar[tuple[str, ...]] = ("webhook made",)
    hook: str
    url: str
    secret: str
    kinds: list[str]
    streams: list[int] | None = None
    accuracy: float | None = None


class WebhookRemoved(Fact):
    """A webhook is told nothing any more. In the log of the service."""

    event_kinds: ClassVar[tuple[str, ...]] = ("webhook removed",)
    hook: str


class WebhookStopped(Fact):
    """Nothing is sent to a webhook for now, and why; or, without a reason, it goes on. In the log of the service."""

    event_kinds: ClassVar[tuple[str, ...]] = ("webhook stopped",)
    hook: str
    why: str


class WebhookAlarm(Fact):
    """The accuracy of a stream is below the bound of a webhook, or no longer. In the log of the service."""

    event_kinds: ClassVar[tuple[str, ...]] = ("webhook alarm",)
    hook: str
    stream: int
    low: bool


KINDS: dict[str, type[Fact]] = {kind: each for each in Fact.__subclasses__() for kind in each.event_kinds}
"""The facts of every kind of event."""

PERSONAL = frozenset(
    {
        "leased",
        "released",
        "answered",
        "skipped",
        "undone",
        "disputed",
        "reviewed",
        "volunteered",
        "received",
        "handled",
    }
)
"""What single people do, which only reviewers see."""

_encoder = msgspec.json.Encoder()
_decoders = {kind: msgspec.json.Decoder(shape) for kind, shape in KINDS.items()}
F = TypeVar("F", bound=Fact)


def encoded(fact: Fact) -> str:
    """Facts as JSON; numbers keep every bit."""
    return _encoder.encode(fact).decode()


def facts_of(event: Event) -> Any:
    """The facts of an event of the log."""
    decoder = _decoders.get(event.kind)
    if decoder is None:
        raise StoreError(f"the log has an event {event.kind!r}, of a later version of askwhen.", owner="serve")
    try:
        return decoder.decode(event.facts)
    except msgspec.ValidationError as error:
        raise StoreError(
            f"event {event.seq} of stream {event.stream} cannot be read: {error}.", owner="serve"
        ) from error
