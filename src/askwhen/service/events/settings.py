"""The settings of a stream: labels, algorithm, features, and how questions are answered."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from ...data.hashing import DEFAULT_FEATURES
from ...engine.inputs.advice import check_advisers
from ...errors import InputError
from .instance_display import View, check_view
from .numbers import NUMBERS

OF_TEXTS = ("text", "mixed", "columns")
"""Kinds of features with texts."""

NEWEST: Literal[2] = 2
"""The newest version of the default algorithm."""

MOST_LABELS, MOST_NAMES, MOST_PLACES, MOST_SLOTS = 1_000, 10_000, 1 << 24, 99
MOST_QUESTIONS = 10_000
USUAL_OVERLAP = 0.05
"""Share of the questions of a new stream with one slot that get a second answer, while several people are at work."""
USUAL_AFTER = 3600.0
"""Seconds for which a question waits for specialists before others get it."""
USUAL_GOLD, MOST_SHARE = 0.05, 0.5
"""Share of gold questions among all that people get, once a stream has some."""

MOST_AT_ONCE = 52
LONGEST_NAME, LONGEST_LABEL = 100, 200
MOST_TAGS, LONGEST_TAG = 20, 50
LONGEST_ABOUT, LONGEST_GUIDELINES = 500, 50_000
COLOURS = ("orange", "sky", "green", "yellow", "blue", "red", "pink", "grey")
"""Colours of labels, which people who are colour-blind can tell apart: the page has their values."""

GROUP = "@"
"""Names of groups begin with it, wherever people can be named as well."""

LATEST = 4102444800.0
"""The latest end of a holiday: the year 2100."""

OPEN, MOST_OPEN = "open", 100
"""The setting for labels that are not known in advance, and the largest number of them."""


class TextVectors(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The encoder of a stream's texts, and the length of its vectors; another encoder is refused."""

    name: str
    checksum: str | None = None
    width: int


class Features(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """How raw input becomes features.

    ``numbers``: an array, or an object with a number for each of ``names``. ``hashed``: an object of numbers, texts and
    booleans, each hashed by its name into one of ``places`` columns. ``text``: a string, whose words are hashed.
    ``mixed``: an object with texts in the fields ``text``, whose words are hashed, and numbers in the fields ``names``.
    ``columns``: an object with a value for each column of the ``schema``, ``{"price": "number", "city": "category"}``;
    a new stream finds what other columns are from the ``examples``, and stores the whole schema. ``vectors``: whether
    texts are also seen as vectors; a new stream stores the encoder, if it is installed.
    """

    kind: Literal["numbers", "hashed", "text", "mixed", "columns"] = "numbers"
    names: list[str] | None = None
    places: int = DEFAULT_FEATURES
    text: list[str] = []
    vectors: TextVectors | bool | None = None
    schema: dict[str, Any] | None = None
    examples: list[dict[str, Any]] | None = None


class Budget(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The labels to ask for: a share of the instances and at most so many in all, or so many in every period.

    With ``errors``, at most this share of the delivered labels is wrong, with this ``confidence`` (0.95), and as many
    labels are asked for as that needs; where ``rate`` or ``most`` do not allow it, labels are withheld.
    """

    rate: float | None = None
    most: int | None = None
    per: float | None = None
    count: int | None = None
    errors: float | None = None
    confidence: float | None = None


class Backlog(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """How a backlog is worked off: in order or shuffled, so that so many ``questions`` wait (default: 5 a person)."""

    questions: int | None = None
    shuffle: bool = False


Order = Literal["oldest", "newest", "valuable", "priority"]
"""Which question comes first; of those that are valuable, the least certain."""


class Terms(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What one person is asked: at most a ``quota`` of questions in 24 hours, and in which ``order``.

    They are asked nothing while ``paused``, nor before the time ``holiday``, which is the end of one.
    """

    quota: int | None = None
    paused: bool = False
    holiday: float | None = None
    order: Order | None = None

    def are_away(self, now: float) -> bool:
        """Whether the person is asked nothing now."""
        return self.paused or (self.holiday is not None and now < self.holiday)


class Specialists(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """People and groups (``@name``) who are asked first where a label is likely; others ``after`` so many seconds.

    With None others are never asked.
    """

    who: list[str]
    after: float | None = USUAL_AFTER


class Settings(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Everything that can be set when a stream is made.

    ``letters`` are the hyperparameters of the ``algorithm``, and ``raw`` leaves its features unscaled. ``slots`` is the
    number of annotators who answer each question, and ``decide`` how their answers become one label. A share
    ``overlap`` of the questions, drawn at random, gets one answer more while several people are at work. A lease lasts
    ``lease`` seconds; the model learns an answer after ``grace`` seconds; a question is dropped after ``forget``
    seconds. ``guess`` shows annotators the prediction before they answer. ``view`` is how they see instances, whose
    contents are erased after ``erase`` seconds. In ``mode`` live, instances are decided as they come; as a backlog they
    wait, and are decided only as fast as people answer, as ``backlog`` says. ``version`` is that of the default
    algorithm: a new stream gets the newest, and streams of release 0.1, which have none, keep the first. ``certainty``
    is the version of the certainty of predictions: in the second, that of new streams, few answers do not make it
    large. With ``several``, any number of the labels may apply to an instance. Where labels are "numbers", a prediction
    counts as right ``within`` so much of the label, and labels lie in the ``bounds``. With ``repeats``, an instance
    whose content was answered before takes that answer, as in new streams. ``tags`` are words to find a stream.
    ``about`` describes labels, ``colours`` gives them colours, and ``guidelines`` tell people how to decide, as
    Markdown. ``advisers`` are those whose advice may come with an instance, by name, or "any"; ``advice`` shows it to
    annotators before they answer. ``people`` has terms for some of them, by name. ``team`` are the people and groups
    (``@name``) who answer; without any, everybody with the role may. ``specialists`` are those who are asked first, by
    the label that is likely. A share ``gold`` of the questions has a known label and is mixed in at random, where the
    stream has such questions.
    """

    labels: list[str] | Literal["open", "numbers"] = msgspec.field(default_factory=lambda: ["no", "yes"])
    algorithm: str = "default"
    letters: dict[str, float] = {}
    raw: bool = False
    budget: Budget | None = None
    features: Features = msgspec.field(default_factory=Features)
    seed: int | None = None
    slots: int = 1
    decide: Literal["majority", "unanimity", "adjudicator", "weighted"] = "majority"
    order: Order = "oldest"
    lease: float = 300.0
    grace: float = 20.0
    forget: float | None = None
    erase: float | None = None
    guess: bool = False
    view: View = msgspec.field(default_factory=View)
    mode: Literal["live", "backlog"] = "live"
    backlog: Backlog = msgspec.field(default_factory=Backlog)
    version: Literal[1, 2] | None = None
    certainty: Literal[1, 2] | None = None
    repeats: bool | None = None
    several: bool = False
    within: float | None = None
    bounds: tuple[float, float] | None = None
    tags: list[str] = []
    about: dict[str, str] = {}
    colours: dict[str, Literal["orange", "sky", "green", "yellow", "blue", "red", "pink", "grey"]] = {}
    guidelines: str = ""
    advisers: list[str] | Literal["any"] | None = None
    advice: bool = False
    overlap: float | None = None
    people: dict[str, Terms] = {}
    team: list[str] = []
    specialists: dict[str, Specialists] = {}
    gold: float = USUAL_GOLD


def check_settings(settings: Settings, before: Settings | None = None) -> None:
    """Refuse invalid settings, in one sentence; people of the settings ``before`` may have any name."""
    _check_numbers(settings)
    labels = ["any", "other"] if isinstance(settings.labels, str) else list(settings.labels)
    if not 2 <= len(labels) <= MOST_LABELS or len(set(labels)) < len(labels):
        given = labels if len(labels) <= MOST_LABELS else f"{len(labels):,}"
        _refuse("labels", f"between 2 and {MOST_LABELS:,} different texts", given)
    for label in labels:
        check_label(label)
    is_known = not isinstance(settings.labels, str)
    if settings.several and not (is_known and len(labels) <= MOST_AT_ONCE and settings.algorithm == "default"):
        raise InputError(
            f"several labels at once are for the default algorithm and between 2 and {MOST_AT_ONCE} labels that are "
            "known in advance.",
            owner="stream",
            parameter="several",
        )
    if settings.advisers is not None:
        check_advisers("stream", settings.advisers)
        if settings.several:
            raise InputError(
                "an adviser names one label, so a stream takes no advice where several labels may apply at once; leave "
                "out one of the two.",
                owner="stream",
                parameter="advisers",
            )
    _check_specialists(settings)
    _check_words(settings)
    if not 1 <= settings.slots <= MOST_SLOTS:
        _refuse("slots", f"between 1 and {MOST_SLOTS}", settings.slots)
    if settings.decide == "weighted" and (settings.several or settings.labels == NUMBERS):
        raise InputError(
            "weighted is for answers of one label; choose majority, unanimity or adjudicator.",
            owner="stream",
            parameter="decide",
        )
    for name, terms in settings.people.items():
        if not is_person(name) and (before is None or name not in before.people):
            expected = f"names of people, of 1 to {LONGEST_NAME} printable characters, and no groups"
            _refuse("people", expected, name[:LONGEST_NAME])
        if terms.quota is not None and not 1 <= terms.quota <= MOST_QUESTIONS:
            _refuse("quota", f"between 1 and {MOST_QUESTIONS:,} questions a day", terms.quota)
        if terms.holiday is not None and not 0.0 <= terms.holiday <= LATEST:
            _refuse("holiday", "the time at which it ends, in seconds since 1970", terms.holiday)
    if len(settings.people) > MOST_LABELS:
        _refuse("people", f"at most {MOST_LABELS:,} of them", len(settings.people))
    check_who("stream", "team", settings.team)
    if settings.overlap is not None and not 0.0 <= settings.overlap <= 1.0:
        _refuse("overlap", "a share of the questions from 0 to 1", settings.overlap)
    if not 0.0 <= settings.gold <= MOST_SHARE:
        _refuse("gold", f"a share of the questions from 0 to {MOST_SHARE:g}", settings.gold)
    for name, low, high in (
        ("lease", 1.0, 86400.0),
        ("grace", 0.0, 86400.0),
        ("forget", 1.0, 1e9),
        ("erase", 1.0, 1e9),
    ):
        value = getattr(settings, name)
        if value is not None and not low <= value <= high:
            _refuse(name, f"a number of seconds between {low:g} and {high:g}", value)
    if settings.seed is not None and not 0 <= settings.seed < 1 << 63:
        _refuse("seed", "a whole number from 0 to 2^63 - 1", settings.seed)
    if not all(math.isfinite(value) for value in settings.letters.values()):
        _refuse("letters", "finite numbers", settings.letters)
    questions = settings.backlog.questions
    if questions is not None and not 1 <= questions <= MOST_QUESTIONS:
        _refuse("questions", f"between 1 and {MOST_QUESTIONS:,}, or left out", questions)
    if settings.budget is not None:
        _check_promise(settings.budget)
    if settings.mode == "backlog":
        check_backlog(settings)
    _check_features(settings.features)
    check_view(settings.view)


def groups_named(settings: Settings) -> set[str]:
    """The groups that settings name, without the ``@``."""
    return groups_among([*settings.team, *(name for each in settings.specialists.values() for name in each.who)])


def groups_among(who: Iterable[str]) -> set[str]:
    """The groups among names of people and groups, without the ``@``."""
    return {name.removeprefix(GROUP) for name in who if name.startswith(GROUP)}


def is_person(name: str) -> bool:
    """Whether a text can be the name of a person: those of groups begin otherwise."""
    return 0 < len(name) <= LONGEST_NAME and name.isprintable() and not name.startswith(GROUP)


def check_who(owner: str, parameter: str, who: list[str]) -> None:
    """Refuse lists of people and groups with names that are not valid."""
    if len(who) > MOST_LABELS:
        raise InputError.about(owner, parameter, f"at most {MOST_LABELS:,} names", f"{len(who):,}")
    twice = next((name for name, n in Counter(who).items() if n > 1), None)
    if twice is not None:
        raise InputError(f"{parameter} has the name {twice[:LONGEST_NAME]!r} twice.", owner=owner, parameter=parameter)
    for name in who:
        if not 0 < len(name.removeprefix(GROUP)) <= LONGEST_NAME or not name.isprintable():
            expected = f"names of 1 to {LONGEST_NAME} printable characters, those of groups after an {GROUP}"
            raise InputError.about(owner, parameter, expected, name[: LONGEST_NAME + 1])


def _check_specialists(settings: Settings) -> None:
    """Refuse specialists of labels that the stream lacks, and empty lists of them."""
    if settings.specialists and settings.labels == NUMBERS:
        raise InputError("specialists are for labels, and not for numbers.", owner="stream", parameter="specialists")
    for each in settings.specialists.values():
        if not each.who:
            _refuse("specialists", "at least one person or group for each label", [])
        check_who("stream", "specialists", each.who)
        if each.after is not None and not 0.0 <= each.after <= 1e9:
            _refuse("after", "a number of seconds from 0 to 1e+09, or null for never", each.after)


def _check_numbers(settings: Settings) -> None:
    """Refuse numbers without a tolerance, and settings of numbers in streams of labels."""
    within, ends = settings.within, settings.bounds
    if settings.labels != NUMBERS:
        if within is not None or ends is not None:
            raise InputError(
                'within and bounds are for labels that are numbers; give "labels": "numbers" with them.',
                owner="stream",
                parameter="within" if within is not None else "bounds",
            )
        return
    if within is None or not 0.0 < within < math.inf:
        _refuse("within", "a positive number: how far a prediction may be off to count as right", within)
    if ends is not None and not (all(map(math.isfinite, ends)) and ends[0] < ends[1]):
        _refuse("bounds", "the smallest and the largest label", ends)
    if settings.algorithm not in ("default", "regression"):
        _refuse("algorithm", "default, where labels are numbers", settings.algorithm)


def _check_words(settings: Settings) -> None:
    """Refuse descriptions and colours of labels that the stream lacks, and texts that are too long to be read."""
    for name in ("about", "colours", "specialists"):
        for label in getattr(settings, name):
            if settings.labels == OPEN:
                check_label(label)
            elif isinstance(settings.labels, str) or label not in settings.labels:
                _refuse(name, "labels of the stream", label[:LONGEST_LABEL])
    if len(settings.tags) > MOST_TAGS or len(set(settings.tags)) < len(settings.tags):
        _refuse("tags", f"at most {MOST_TAGS} different words", settings.tags[:MOST_TAGS])
    for tag in settings.tags:
        if not 0 < len(tag) <= LONGEST_TAG or not tag.isprintable():
            _refuse("tags", f"printable words of 1 to {LONGEST_TAG} characters", tag[:LONGEST_TAG])
    for text in settings.about.values():
        if len(text) > LONGEST_ABOUT:
            _refuse("about", f"texts of at most {LONGEST_ABOUT} characters", f"one of {len(text):,}")
    if len(settings.guidelines) > LONGEST_GUIDELINES:
        _refuse("guidelines", f"at most {LONGEST_GUIDELINES:,} characters", f"{len(settings.guidelines):,}")


def _check_promise(budget: Budget) -> None:
    """Refuse a promise for each period, and the confidence of none."""
    if budget.errors is not None and (budget.per is not None or budget.count is not None):
        raise InputError(
            "a promise of errors is for all instances together; give most or rate with it, not per and count.",
            owner="stream",
            parameter="budget",
        )
    if budget.errors is None and budget.confidence is not None:
        raise InputError(
            "confidence is that of a promise; give errors, the share of delivered labels that may be wrong.",
            owner="stream",
            parameter="budget",
        )


def check_backlog(settings: Settings) -> None:
    """Refuse a backlog where the budget is for a period of time: it says nothing of instances that can wait."""
    if settings.budget is not None and settings.budget.count is not None:
        raise InputError(
            "a budget for each period is for instances that are decided as they come; a backlog needs a rate.",
            owner="stream",
            parameter="budget",
        )


def check_label(label: str) -> None:
    """Refuse a label that cannot be shown."""
    if not label or len(label) > LONGEST_LABEL or not label.isprintable():
        _refuse("label", f"a printable text of 1 to {LONGEST_LABEL} characters", label[:LONGEST_LABEL])


def _check_features(features: Features) -> None:
    if not 1 <= features.places <= MOST_PLACES:
        _refuse("places", f"between 1 and {MOST_PLACES:,}", features.places)
    names = [*(features.names or []), *features.text]
    if len(names) > MOST_NAMES or len(set(names)) < len(names) or not all(names):
        _refuse("names and text", f"at most {MOST_NAMES:,} different names, none of them empty", names[:5])
    if features.names == []:
        _refuse("names", "at least one name, or left out", [])
    if features.kind == "columns":
        if features.names or not (features.schema or features.examples):
            raise InputError("features of kind columns need a schema or examples, and have no names.", owner="stream")
        return
    if features.schema is not None or features.examples is not None:
        raise InputError("schema and examples are for features of kind columns.", owner="stream", parameter="features")
    if features.kind in ("hashed", "text") and (features.names or features.text):
        raise InputError(
            f"names and text are for features of kind numbers and mixed, not {features.kind}.", owner="stream"
        )
    if features.kind == "numbers" and features.text:
        raise InputError("text is for features of kind mixed.", owner="stream", parameter="text")
    if features.vectors and features.kind not in OF_TEXTS:
        raise InputError(f"vectors are for texts, not for features of kind {features.kind}.", owner="stream")
    if features.kind == "mixed" and not (features.text and features.names):
        raise InputError("mixed features need both text and names.", owner="stream", parameter="features")


def check_name(name: Any) -> None:
    """Refuse a name that cannot be part of a URL."""
    fine = isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name[0] not in ".-"
    if not fine or not all(each.isascii() and (each.isalnum() or each in "._-") for each in name):
        _refuse(
            "name",
            f"1 to {LONGEST_NAME} letters, digits, dots, dashes and underscores, not beginning with a dot or dash",
            name,
        )


def _refuse(parameter: str, expected: str, got: Any) -> None:
    raise InputError.about("stream", parameter, expected, got)
