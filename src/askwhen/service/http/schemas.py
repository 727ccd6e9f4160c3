"""Bodies of HTTP requests and replies. Their class names are those of the OpenAPI document."""

from __future__ import annotations

from typing import Any

import msgspec

from ..events.label_sets import Label
from ..events.settings import Settings
from ..use_cases.gold import KnownQuestion


class NewStream(msgspec.Struct, forbid_unknown_fields=True):
    """A stream to be made. ``key`` makes a retry idempotent."""

    name: str
    settings: Settings = msgspec.field(default_factory=Settings)
    key: str | None = None


class StreamPatch(msgspec.Struct, forbid_unknown_fields=True):
    """What can be changed of a stream: its name, or some of its settings. ``key`` makes a retry of those idempotent."""

    name: str | None = None
    settings: dict[str, Any] | None = None
    key: str | None = None


class StreamFacts(msgspec.Struct):
    """A stream and its counts; ``problem`` says why it is set aside, where its ``state`` is "set aside"."""

    name: str
    state: str
    settings: Settings
    rounds: int
    asked: int
    told: int
    forgotten: int
    waiting: int
    disputed: int
    corrected: int
    updates: int
    seq: int
    problem: str | None = None


class LabelFacts(msgspec.Struct):
    """A label, what it means, and its colour."""

    label: str
    about: str = ""
    colour: str | None = None


class AddedLabels(msgspec.Struct, forbid_unknown_fields=True):
    """New labels. ``key`` makes a retry idempotent."""

    labels: list[str]
    key: str | None = None


class LabelName(msgspec.Struct, forbid_unknown_fields=True):
    """Another name for a label. ``key`` makes a retry idempotent."""

    label: str
    to: str
    key: str | None = None


class LabelMerge(msgspec.Struct, forbid_unknown_fields=True):
    """A label that becomes part of another one. ``key`` makes a retry idempotent."""

    label: str
    into: str
    key: str | None = None


class Given(msgspec.Struct, forbid_unknown_fields=True):
    """An answer. ``key`` makes a retry idempotent; ``lead`` is the time that it took, in seconds."""

    label: Label | None = None
    unsure: bool = False
    key: str | None = None
    lead: float | None = None
    annotator: str | None = None


class Who(msgspec.Struct, forbid_unknown_fields=True):
    """The annotator, where no tokens are required. ``key`` makes a retry idempotent."""

    annotator: str | None = None
    key: str | None = None


class WhoNext(Who, forbid_unknown_fields=True):
    """The annotator and their ``device``: a device never gets a question that another one holds."""

    device: str | None = None


class NewLabel(msgspec.Struct, forbid_unknown_fields=True):
    """The label of an instance, given by its ``id`` or its ``round``; without a label, one's own is taken back.

    ``key`` makes a retry idempotent.
    """

    label: Label | None
    id: str | None = None
    round: int | None = None
    annotator: str | None = None
    key: str | None = None


class LateAdvice(msgspec.Struct, forbid_unknown_fields=True):
    """What advisers say, by name, of an instance given by its ``id`` or its ``round``.

    ``key`` makes a retry idempotent.
    """

    advice: dict[str, Any]
    id: str | None = None
    round: int | None = None
    key: str | None = None


class Verdict(msgspec.Struct, forbid_unknown_fields=True):
    """A reviewer's decision; without a label, that there is none. ``key`` makes a retry idempotent.

    With ``first`` it is refused where another reviewer has decided meanwhile.
    """

    label: Label | None = None
    annotator: str | None = None
    key: str | None = None
    first: bool = False


class Reservation(msgspec.Struct, forbid_unknown_fields=True):
    """The people and groups (``@name``) who alone are asked a question; none where everybody is asked again."""

    who: list[str]
    annotator: str | None = None
    key: str | None = None


class NewComment(msgspec.Struct, forbid_unknown_fields=True):
    """A comment on a question. ``key`` makes a retry idempotent."""

    text: str
    annotator: str | None = None
    key: str | None = None


class Correction(msgspec.Struct, forbid_unknown_fields=True):
    """The label of a decided instance, given by its ``round``; without one, that it has none."""

    round: int
    label: Label | None
    annotator: str | None = None


class Flag(msgspec.Struct, forbid_unknown_fields=True):
    """A flag on a decided instance, given by its ``round``, or its removal."""

    round: int
    flagged: bool = True
    annotator: str | None = None


class Held(msgspec.Struct):
    """The end of a lease."""

    until: float


class NewToken(msgspec.Struct, forbid_unknown_fields=True):
    """A token to be made: for all streams unless some are named, for ever unless it has days."""

    name: str
    roles: list[str]
    streams: list[str] | None = None
    days: float | None = None


class TokenFacts(msgspec.Struct, omit_defaults=True):
    """A token; its secret only when it is made."""

    token: str
    name: str
    roles: list[str]
    streams: list[str] | None = None
    expires: float | None = None
    secret: str | None = None


class NewInvitation(msgspec.Struct, forbid_unknown_fields=True):
    """An invitation to be made: to whom, and the token that it gives. The link is valid for so many ``hours``."""

    name: str
    roles: list[str]
    streams: list[str] | None = None
    days: float | None = None
    hours: float = 168.0


class InvitationFacts(msgspec.Struct, omit_defaults=True):
    """An invitation; its ``secret`` and its ``link`` only when it is made."""

    invitation: str
    name: str
    roles: list[str]
    expires: float
    streams: list[str] | None = None
    days: float | None = None
    secret: str | None = None
    link: str | None = None


class SignInFacts(msgspec.Struct):
    """A browser that is signed in: by a token, or by an OpenID provider.

    ``seen`` is when it last sent a request since the service started, null where it has not; ``here`` says whether it
    is the one that asks, on one's own page.
    """

    sign_in: str
    name: str
    way: str
    browser: str
    since: float
    expires: float
    seen: float | None = None
    here: bool = False


class OwnAnswers(msgspec.Struct):
    """Counts of one's answers in a stream; ``seconds`` is the mean time of an answer."""

    stream: str
    answers: int
    unsure: int
    skipped: int
    undone: int
    seconds: float | None = None
    last: float | None = None


class OwnFacts(msgspec.Struct):
    """The person who asks: roles, tokens, signed-in browsers, answers in streams that are in use.

    ``away`` is the time until which they are asked nothing.
    """

    name: str
    roles: list[str]
    streams: list[str] | None
    tokens: list[TokenFacts]
    sign_ins: list[SignInFacts]
    answers: list[OwnAnswers]
    groups: list[str] = []
    away: float | None = None


class NewGroup(msgspec.Struct, forbid_unknown_fields=True):
    """A group of people to be made, or the members that it has from now on."""

    name: str
    members: list[str]


class GroupFacts(msgspec.Struct):
    """A group and its members."""

    name: str
    members: list[str]


class AwayFacts(msgspec.Struct):
    """A person who is asked nothing until a time."""

    name: str
    until: float


class PeopleFacts(msgspec.Struct):
    """The groups, and who is away."""

    groups: list[GroupFacts]
    away: list[AwayFacts]


class Absence(msgspec.Struct, forbid_unknown_fields=True):
    """Until when a person is asked nothing, in seconds since 1970; null where they are back."""

    name: str
    until: float | None


class OwnAbsence(msgspec.Struct, forbid_unknown_fields=True):
    """Until when one is asked nothing, in seconds since 1970; null where one is back."""

    until: float | None


class NewGoldQuestions(msgspec.Struct, forbid_unknown_fields=True):
    """Questions whose label is known, at most 1,000: all of them are taken, or none."""

    questions: list[KnownQuestion]


class ReplayFacts(msgspec.Struct):
    """The number of labels that the retrained model learnt."""

    labels: int


class Agreement(msgspec.Struct):
    """Agreement of annotators, overall and in pairs, and the counts of each, with the quality of their answers."""

    krippendorff: float | None
    pairs: list[dict[str, Any]]
    people: dict[str, dict[str, Any]]
