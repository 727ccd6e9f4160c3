"""What a snapshot stores of the questions of a stream: open questions, recent answers, leases, counts."""

from __future__ import annotations

import msgspec

from ..events.kinds import GoldPlaced, Instance
from ..events.settings import Settings
from .annotator_stats import AnnotatorStats
from .gold import UNCHOSEN, GoldQuestions
from .questions import UNPLAYED, Question, Slot
from .repeats import KnownAnswer


class Correction(msgspec.Struct):
    """What the accuracy estimate needs of a label that was corrected after the model had learnt it."""

    played: int
    probability: float
    level: int
    margin: float
    prediction: str | None
    model: str | None
    label: str | None


class QuestionSnapshot(msgspec.Struct):
    """The stored part of ``QuestionState``.

    ``labels`` are those given so far where the set of labels is open. ``recent`` and ``leases`` have the rounds of each
    annotator's latest answers and leases, and ``commented`` those that have comments. ``answered`` has the first answer
    to each content, and ``copies`` is the number of instances that took one. ``given``
    counts the questions that each annotator was given. ``gold`` are the gold questions, which the counts here leave
    out.
    """

    questions: list[Question] = []
    recent: dict[str, list[int]] = {}
    leases: dict[str, list[int]] = {}
    people: AnnotatorStats = msgspec.field(default_factory=AnnotatorStats)
    corrections: dict[int, Correction] = {}
    labels: list[str] = []
    asked: int = 0
    told: int = 0
    forgotten: int = 0
    commented: list[int] = []
    answered: dict[str, KnownAnswer] = {}
    copies: int = 0
    given: dict[str, int] = {}
    gold: GoldQuestions = msgspec.field(default_factory=GoldQuestions)


def new_gold_question(fact: GoldPlaced, time: float, settings: Settings) -> Question:
    """The question of a place for a gold question, which is not chosen yet."""
    return Question(
        round=fact.round,
        seq=0,
        opened=time,
        played=UNPLAYED,
        prediction=None,
        margin=0.0,
        probability=0.0,
        value=fact.value,
        slots=[Slot() for _ in range(settings.slots + fact.overlap)],
        priority=fact.priority,
        gold=UNCHOSEN,
    )


def new_question(
    fact: Instance, seq: int, time: float, value: float, settings: Settings, content: str = ""
) -> Question:
    """The question of a round that asked for its label; one whose label is known has no slots."""
    return Question(
        round=fact.round,
        seq=seq,
        opened=time,
        played=fact.played,
        prediction=fact.prediction,
        margin=fact.margin,
        probability=fact.probability,
        value=value,
        slots=[] if fact.repeats is not None else [Slot() for _ in range(settings.slots + fact.overlap)],
        priority=fact.priority,
        level=fact.level,
        content=content,
        copy=fact.repeats is not None,
        second=fact.second,
    )
