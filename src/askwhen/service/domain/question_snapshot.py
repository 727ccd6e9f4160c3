"""What the books of a stream keep: open questions, what people did last, and sums."""

from __future__ import annotations

import msgspec

from ..events.kinds import Instance
from ..events.settings import Settings
from .annotator_stats import People
from .questions import Question, Slot


class Correction(msgspec.Struct):
    """What the estimate of the accuracy needs of a label that was corrected after the model was told."""

    played: int
    probability: float
    level: int
    margin: float
    prediction: str | None
    model: str | None
    label: str | None


class Kept(msgspec.Struct):
    """What a snapshot has of the books. ``labels`` are those that people gave, where they were not known beforehand."""

    questions: list[Question] = []
    recent: dict[str, list[int]] = {}
    leases: dict[str, list[int]] = {}
    people: People = msgspec.field(default_factory=People)
    corrections: dict[int, Correction] = {}
    labels: list[str] = []
    asked: int = 0
    told: int = 0
    forgotten: int = 0


def opened(fact: Instance, seq: int, time: float, value: float, settings: Settings) -> Question:
    """The question of a round that has asked."""
    return Question(
        round=fact.round,
        seq=seq,
        opened=time,
        played=fact.played,
        prediction=fact.prediction,
        margin=fact.margin,
        probability=fact.probability,
        value=value,
        slots=[Slot() for _ in range(settings.slots)],
        priority=fact.priority,
        level=fact.level,
    )
