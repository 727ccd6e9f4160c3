"""The kinds of events and their facts. A kind is never changed once it is released; new ones may be added."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import msgspec

from ..errors import StoreError
from ..store.records import Event
from .advice import Advice
from .settings import Settings


class Fact(msgspec.Struct, omit_defaults=True):
    """The facts of an event.

    ``event_kinds`` are the kinds of events with these facts, as they are written to the log: a class may be renamed, a
    kind never.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ()

    @property
    def event_kind(self) -> str:
        """The kind of event with these facts, where there is only one."""
        (kind,) = self.event_kinds
        return kind


class Instance(Fact):
    """A round was played: prediction, decision, random draw (``coin``) and reason.

    ``played`` is the sampler's round; ``spent`` marks the round in which the budget ran out. ``place`` is that in the
    backlog, 0 where the instance was decided as it came, and ``source`` the file or program that it comes from. Where
    its content was answered before, ``repeats`` is the round of the first answer and ``answer`` that label: the round
    asks for certain, at no cost, and the label follows.

    With a promise, ``expected`` is the probability that the prediction is wrong, on which the account has bet. A label
    that is ``withheld`` is not delivered: its instance, whose id is ``id``, goes ``back`` to the backlog at that place.

    ``advice`` is what advisers had said before the random draw. ``overlap`` says that the question was drawn to get one
    answer more than others. ``second`` is the most likely label besides the prediction, where the stream has
    specialists for some labels.
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
    place: int = 0
    source: str = ""
    repeats: int | None = None
    answer: str | None = None
    expected: float | None = None
    withheld: bool = False
    back: int = 0
    id: str | None = None
    advice: Advice | None = None
    overlap: bool = False
    second: str | None = None

    @property
    def is_question(self) -> bool:
        """Whether people are asked for the label."""
        return self.asked and self.repeats is None

    @property
    def is_certified(self) -> bool:
        """Whether the prediction was delivered, under a promise."""
        return self.expected is not None and not self.asked and not self.withheld


class Leased(Fact):
    """An annotator holds a slot of a question until a time; ``device`` is empty where the client names none."""

    event_kinds: ClassVar[tuple[str, ...]] = ("leased",)
    slot: int
    annotator: str
    until: float
    device: str = ""


class Released(Fact):
    """An annotator gave a slot back."""

    event_kinds: ClassVar[tuple[str, ...]] = ("released",)
    slot: int
    annotator: str


class Answered(Fact):
    """An annotator filled a slot; without a label, they were unsure. ``lead`` is the time that it took, in seconds."""

    event_kinds: ClassVar[tuple[str, ...]] = ("answered",)
    slot: int
    annotator: str
    label: str | None = None
    lead: float | None = None


class Skipped(Fact):
    """An annotator skipped a question, which they never see again."""

    event_kinds: ClassVar[tuple[str, ...]] = ("skipped",)
    annotator: str


class Unskipped(Fact):
    """An annotator took their skip back, and holds a slot of the question until a time."""

    event_kinds: ClassVar[tuple[str, ...]] = ("unskipped",)
    slot: int
    annotator: str
    until: float


class Undone(Fact):
    """An answer was taken back, and its slot is held for another one; ``told`` if the model had learnt it."""

    event_kinds: ClassVar[tuple[str, ...]] = ("undone",)
    slot: int
    annotator: str
    until: float
    told: bool = False


class Disputed(Fact):
    """The answers do not decide on a label, and a reviewer must."""

    event_kinds: ClassVar[tuple[str, ...]] = ("disputed",)


class Reviewed(Fact):
    """A reviewer decided on a label, or that the question has none."""

    event_kinds: ClassVar[tuple[str, ...]] = ("reviewed",)
    annotator: str
    label: str | None = None


class ReviewUndone(Fact):
    """A reviewer took the decision back, and the question is as it was before any review.

    ``disputed`` and ``reopened`` say whether it waits for a reviewer or for annotators again; ``why`` is the earlier
    reason for dropping it. The label that it had before follows as a correction.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("review undone",)
    annotator: str
    disputed: bool = False
    reopened: bool = False
    why: str = ""


class Commented(Fact):
    """A comment on an instance. Its text is with the contents of the event, since it is erased with the instance.

    ``instance`` is the event of the instance where that was not asked about.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("commented",)
    annotator: str
    instance: int = 0


class Flagged(Fact):
    """An instance was flagged for others to look at, or a flag was taken away. ``instance`` is its event."""

    event_kinds: ClassVar[tuple[str, ...]] = ("flagged",)
    instance: int
    annotator: str
    flagged: bool = True


class Advised(Fact):
    """Advisers said something of an instance after its decision: it is shown, and never counted.

    ``instance`` is its event.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("advised",)
    instance: int
    advice: Advice
    by: str = ""


class Reserved(Fact):
    """Only these people and groups are asked the question from now on; with none of them, everybody again."""

    event_kinds: ClassVar[tuple[str, ...]] = ("reserved",)
    annotator: str
    who: list[str] = []


class Told(Fact):
    """The label of a question was given to the model; with a promise it was ``delivered``, and has its ``id``."""

    event_kinds: ClassVar[tuple[str, ...]] = ("told",)
    label: str
    delivered: bool = False
    id: str | None = None


class Forgotten(Fact):
    """A question was dropped without a label, and why."""

    event_kinds: ClassVar[tuple[str, ...]] = ("forgotten",)
    why: str


class Corrected(Fact):
    """A question got another label after the model had learnt one; None where it has no label any more.

    With a promise it is ``delivered`` instead, and has the ``id`` of its instance.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("corrected",)
    label: str | None = None
    delivered: bool = False
    id: str | None = None


class Volunteered(Fact):
    """An annotator gave an unsolicited label of an instance, or took it back (without a label).

    ``instance`` is its event. The model learns the first label of a round, which ``learnt`` says; later ones replace it
    and are learnt by the next replay.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("volunteered",)
    instance: int
    annotator: str
    label: str | None = None
    learnt: bool = False


class Received(Fact):
    """Another tool sent an annotator's label of an instance, or its deletion; it waits to be handled.

    ``source`` and ``annotation`` identify the label in the other tool, and ``instance`` is the event of the instance.
    ``at`` is the time of the change by the other tool's clock: the latest change counts, in whatever order they arrive.
    ``gone`` marks a deletion, which is final.
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
    """The outcome of handling a received label, given by its event number."""

    event_kinds: ClassVar[tuple[str, ...]] = ("handled",)
    received: int
    outcome: str


class GoldAdded(Fact):
    """A question whose ``label`` is known was given, to be mixed in among others under the number ``gold``.

    ``instance`` is the event of its instance, 0 where this event has the contents itself. ``known_to`` are the people
    who know it, and never get it.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("gold added",)
    gold: int
    label: str
    instance: int = 0
    known_to: list[str] = []
    advice: Advice | None = None
    by: str = ""


class GoldRemoved(Fact):
    """A gold question is not asked any more, and what was answered to it does not count."""

    event_kinds: ClassVar[tuple[str, ...]] = ("gold removed",)
    gold: int
    by: str = ""


class GoldPlaced(Fact):
    """A gold question was put among the others, as question ``round``; which one it is, is chosen for whom it meets.

    ``overlap`` says that it was drawn to get one answer more, as other questions are.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("gold placed",)
    round: int
    value: float = 0.0
    priority: float = 0.0
    overlap: bool = False


class GoldChosen(Fact):
    """The gold question of a place was chosen for an annotator who met it.

    It has its number, the event of its instance, its label, and what the model predicted then.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("gold chosen",)
    gold: int
    instance: int
    label: str
    annotator: str
    prediction: str | None = None


class GoldClosed(Fact):
    """A gold question has its answers, or was dropped, and why: the model learns nothing of it.

    It has the ``label`` that they decide, or is ``disputed`` like other questions, for the people who answered it.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("gold closed",)
    label: str | None = None
    why: str = ""
    disputed: bool = False


class Renamed(Fact):
    """The stream was renamed."""

    event_kinds: ClassVar[tuple[str, ...]] = ("renamed",)
    name: str
    by: str = ""


class Changed(Fact):
    """The stream was paused, resumed or archived."""

    event_kinds: ClassVar[tuple[str, ...]] = ("paused", "resumed", "archived")
    by: str = ""


class SettingsChanged(Fact):
    """Some settings of the stream were changed; ``changes`` has the new values, those of the view nested."""

    event_kinds: ClassVar[tuple[str, ...]] = ("settings changed",)
    changes: dict[str, Any]
    by: str = ""


class LabelsAdded(Fact):
    """The stream got more labels."""

    event_kinds: ClassVar[tuple[str, ...]] = ("labels added",)
    labels: list[str]
    by: str = ""


class LabelRenamed(Fact):
    """A label got another name; events before this one have the former."""

    event_kinds: ClassVar[tuple[str, ...]] = ("label renamed",)
    label: str
    to: str
    by: str = ""


class LabelsMerged(Fact):
    """A label became part of another one, also where it was given before."""

    event_kinds: ClassVar[tuple[str, ...]] = ("labels merged",)
    label: str
    into: str
    by: str = ""


class Replayed(Fact):
    """The model was retrained from the corrected log; the snapshot with the same number has it."""

    event_kinds: ClassVar[tuple[str, ...]] = ("replayed",)
    by: str = ""
    labels: int = 0


class Erased(Fact):
    """The contents of some instances were erased; ``until`` is an event up to which all contents are gone."""

    event_kinds: ClassVar[tuple[str, ...]] = ("erased",)
    by: str
    instances: int
    until: int = 0


class PromiseChecked(Fact):
    """The promise is met for all that came, or is not met any more; with the certificate of that moment."""

    event_kinds: ClassVar[tuple[str, ...]] = ("promise met", "promise broken")
    errors: float
    confidence: float
    delivered: int
    people: int
    certified: float


class Withdrawn(Fact):
    """Some instances left the backlog without a decision; ``last`` is the largest place that any had so far.

    ``source`` is where they came from, where they were withdrawn for that.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("withdrawn",)
    by: str
    instances: int
    last: int
    source: str = ""


class WentOn(Fact):
    """The model continued from an older snapshot without the rounds since, and why."""

    event_kinds: ClassVar[tuple[str, ...]] = ("went on",)
    why: str
    rounds: int


class Created(Fact):
    """A stream was made. In the log of the service."""

    event_kinds: ClassVar[tuple[str, ...]] = ("created",)
    stream: int
    name: str
    settings: Settings
    by: str = ""


class Deleted(Fact):
    """A stream was deleted with everything in it, and by whom. In the log of the service."""

    event_kinds: ClassVar[tuple[str, ...]] = ("deleted",)
    stream: int
    name: str
    by: str
    rounds: int


class TokenMade(Fact):
    """A token was made, for some streams or for all; only its hash is stored. In the log of the service.

    ``invitation`` is the number of the invitation that was accepted for it.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("token made",)
    token: str
    name: str
    digest: str
    roles: list[str]
    streams: list[int] | None = None
    expires: float | None = None
    invitation: str = ""
    by: str = ""


class TokenRevoked(Fact):
    """A token was revoked. In the log of the service."""

    event_kinds: ClassVar[tuple[str, ...]] = ("token revoked",)
    token: str
    by: str = ""


class Invited(Fact):
    """A link was made that gives a token once, until ``expires``; only its hash is stored. In the log of the service.

    ``days`` is how long the token will be valid, None for ever.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("invited",)
    invitation: str
    name: str
    digest: str
    roles: list[str]
    expires: float
    streams: list[int] | None = None
    days: float | None = None
    by: str = ""


class InvitationWithdrawn(Fact):
    """An invitation is not valid any more. In the log of the service."""

    event_kinds: ClassVar[tuple[str, ...]] = ("invitation withdrawn",)
    invitation: str
    by: str = ""


class GroupSet(Fact):
    """A group of people got these members, or was removed, where it has none. In the log of the service."""

    event_kinds: ClassVar[tuple[str, ...]] = ("group set",)
    group: str
    members: list[str] = []
    by: str = ""
    removed: bool = False


class WentAway(Fact):
    """A person is asked nothing until a time, in all streams; at 0, they are back. In the log of the service."""

    event_kinds: ClassVar[tuple[str, ...]] = ("went away",)
    name: str
    until: float
    by: str = ""


class Exported(Fact):
    """Data was downloaded: a table or the model of a stream, or the audit log, and by whom. In the log of the service.

    ``stream`` is 0 for the audit log.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("exported",)
    stream: int
    what: str
    by: str
    format: str = ""


class SignedIn(Fact):
    """A browser signed in until ``expires``; only the hash of its secret is stored. In the log of the service.

    ``way`` is "token", with the number of the token, or "openid", with the groups that the provider gave, and
    ``browser`` a description such as "Firefox on Linux".
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("signed in",)
    sign_in: str
    name: str
    digest: str
    way: str
    expires: float
    token: str = ""
    groups: list[str] = []
    browser: str = ""


class SignedOut(Fact):
    """A browser was signed out, and by whom. In the log of the service."""

    event_kinds: ClassVar[tuple[str, ...]] = ("signed out",)
    sign_in: str
    by: str


class WebhookMade(Fact):
    """A webhook was made, for some streams or for all. In the log of the service.

    With a ``template`` its messages are sentences for people, sent together every ``digest`` hours and never in the
    ``quiet`` hours of a time ``zone``; ``oldest`` is the bound of questions.waiting in hours. ``owner`` is the person
    who made it for themselves, with the ``roles`` that they had; ``is_by_token`` says that a token gave them.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("webhook made",)
    hook: str
    url: str
    secret: str
    kinds: list[str]
    streams: list[int] | None = None
    accuracy: float | None = None
    by: str = ""
    template: str = ""
    digest: float = 0.0
    quiet: str = ""
    zone: str = ""
    oldest: float | None = None
    owner: str = ""
    roles: list[str] = []
    is_by_token: bool = False


class WebhookRemoved(Fact):
    """A webhook was removed. In the log of the service."""

    event_kinds: ClassVar[tuple[str, ...]] = ("webhook removed",)
    hook: str
    by: str = ""


class WebhookStopped(Fact):
    """Deliveries to a webhook were stopped, and why; without a reason, they resumed. In the log of the service."""

    event_kinds: ClassVar[tuple[str, ...]] = ("webhook stopped",)
    hook: str
    why: str


class WebhookAlarm(Fact):
    """The accuracy of a stream fell below the bound of a webhook, or rose above it. In the log of the service.

    ``kind`` is that of another message which is sent once until its cause is gone; ``low`` says whether it is there.
    """

    event_kinds: ClassVar[tuple[str, ...]] = ("webhook alarm",)
    hook: str
    stream: int
    low: bool
    kind: str = ""


KINDS: dict[str, type[Fact]] = {kind: each for each in Fact.__subclasses__() for kind in each.event_kinds}
"""The class of facts of every kind of event."""

PERSONAL = frozenset(
    {
        "leased",
        "released",
        "answered",
        "skipped",
        "unskipped",
        "undone",
        "disputed",
        "reviewed",
        "review undone",
        "reserved",
        "commented",
        "flagged",
        "volunteered",
        "received",
        "handled",
        "gold added",
        "gold removed",
        "gold placed",
        "gold chosen",
        "gold closed",
    }
)
"""Kinds of events that show what single annotators do, or which questions are gold; only reviewers may see them."""

WITHHELD = "w:"
"""Keys of withheld instances begin with it, followed by their new place in the backlog."""

_encoder = msgspec.json.Encoder()
_decoders = {kind: msgspec.json.Decoder(shape) for kind, shape in KINDS.items()}
F = TypeVar("F", bound=Fact)


def encoded(fact: Fact) -> str:
    """Facts as JSON; floats are written exactly."""
    return _encoder.encode(fact).decode()


def id_of(event: Event) -> str | None:
    """The id of the instance of an event; the events of instances that were withheld have it among their facts."""
    if event.key is not None and event.key.startswith(WITHHELD):
        found: str | None = facts_of(event).id
        return found
    return None if event.key is None else event.key[2:]


def facts_of(event: Event) -> Any:
    """The facts of an event of the log."""
    decoder = _decoders.get(event.kind)
    if decoder is None:
        raise StoreError(
            f"the log has an event {event.kind!r}, which a later version of askwhen has written.", owner="serve"
        )
    try:
        return decoder.decode(event.facts)
    except msgspec.ValidationError as error:
        raise StoreError(
            f"event {event.seq} of stream {event.stream} cannot be read: {error}.", owner="serve"
        ) from error
