"""What can happen on a stream, as facts. A kind of event is never changed once it is released; new ones may come."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from .errors import StoreError
from .settings import Settings
from .store.rows import Event


class Fact(msgspec.Struct, omit_defaults=True):
    """The facts of an event."""


class Instance(Fact):
    """A round was played: what was predicted and decided, by which coin, and why. ``played`` is the sampler's round."""

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


class Leased(Fact):
    """Somebody holds a slot of a question until then."""

    slot: int
    annotator: str
    until: float


class Released(Fact):
    """Somebody gave a slot back."""

    slot: int
    annotator: str


class Answered(Fact):
    """A slot was filled; without a label, somebody was unsure. ``lead`` is how many seconds it took."""

    slot: int
    annotator: str
    label: str | None = None
    lead: float | None = None


class Skipped(Fact):
    """Somebody will never see this question again."""

    annotator: str


class Undone(Fact):
    """An answer was taken back, and its slot is held for another one until then; ``told`` if the model knew it."""

    slot: int
    annotator: str
    until: float
    told: bool = False


class Disputed(Fact):
    """All slots are filled, and the answers do not decide."""


class Reviewed(Fact):
    """A reviewer decided; without a label, that the question has none."""

    annotator: str
    label: str | None = None


class Told(Fact):
    """The model was told a label."""

    label: str


class Forgotten(Fact):
    """The model was told that no label will come, and why."""

    why: str


class Corrected(Fact):
    """What is held to be the label after the model was told another; None where there is none any more."""

    label: str | None = None


class Renamed(Fact):
    """The stream has another name."""

    name: str


class Changed(Fact):
    """The stream was paused, resumed or archived."""

    by: str = ""


class Replayed(Fact):
    """The model was made again from the corrected log: a snapshot with the same number has it."""

    by: str = ""
    labels: int = 0


class WentOn(Fact):
    """The model went on from an older snapshot, without the rounds since, and why."""

    why: str
    rounds: int


class Created(Fact):
    """A stream was made. In the log of the service."""

    stream: int
    name: str
    settings: Settings


class TokenMade(Fact):
    """A token was made, for some streams by their numbers or for all; only its hash is kept. In the service's log."""

    token: str
    name: str
    digest: str
    roles: list[str]
    streams: list[int] | None = None
    expires: float | None = None


class TokenRevoked(Fact):
    """A token is not valid any more. In the log of the service."""

    token: str


KINDS: dict[str, type[Fact]] = {
    "instance": Instance,
    "leased": Leased,
    "released": Released,
    "answered": Answered,
    "skipped": Skipped,
    "undone": Undone,
    "disputed": Disputed,
    "reviewed": Reviewed,
    "told": Told,
    "forgotten": Forgotten,
    "corrected": Corrected,
    "renamed": Renamed,
    "paused": Changed,
    "resumed": Changed,
    "archived": Changed,
    "replayed": Replayed,
    "went on": WentOn,
    "created": Created,
    "token made": TokenMade,
    "token revoked": TokenRevoked,
}

PERSONAL = frozenset({"leased", "released", "answered", "skipped", "undone", "disputed", "reviewed"})
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
