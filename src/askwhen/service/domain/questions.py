"""A question and its slots: who may hold one, who may fill it, what the answers decide, and how good they were."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

import msgspec

from ..errors import ConflictError
from ..events.numbers import agreed

DISPUTED, NO_LABEL = object(), object()
"""What answers decide where they do not give a label: a reviewer must decide, or every annotator was unsure."""

DAY = 86400.0
"""An annotator who has answered within so many seconds is at work."""

UNPLAYED = -1
"""Instead of the sampler's round, where the current model has not played the round, or has not asked in it."""


class Answer(msgspec.Struct, gc=False):
    """An annotator's answer; ``settled`` once it cannot be undone without a correction.

    ``undoable`` is the end of its grace period, where the settings have changed since it was given.
    """

    annotator: str
    label: str | None
    time: float
    settled: bool = False
    undoable: float | None = None

    def final(self, grace: float) -> float:
        """The time from which an undo is a correction, given the current grace period."""
        return self.time + grace if self.undoable is None else self.undoable


class Slot(msgspec.Struct, gc=False, omit_defaults=True):
    """A place for one answer: free, held by an annotator on a device until a time, or filled."""

    annotator: str = ""
    until: float = 0.0
    answer: Answer | None = None
    device: str = ""

    def is_held(self, now: float) -> bool:
        """Whether an annotator holds it now."""
        return self.answer is None and self.annotator != "" and now < self.until

    def is_free(self, now: float) -> bool:
        """Whether any annotator may take it."""
        return self.answer is None and not self.is_held(now)


class Judgement(msgspec.Struct, frozen=True):
    """A label that an annotator gave at a time, and the one that was decided without them, or of a gold question."""

    annotator: str
    given: str
    decided: str
    time: float
    gold: bool = False


class Question(msgspec.Struct, gc=False):
    """An instance that is worth a label. ``round`` is its number; ``seq`` the event that has its instance.

    ``told`` says whether the model was given an outcome, ``model`` is the label that it learnt, and ``label`` the one
    that currently counts. ``closed`` questions are not given out any more; ``forgotten`` is why the model got no label.
    ``reviewed`` says that a reviewer has decided, whom annotators cannot overrule, and ``erased`` that the contents of
    the instance are gone. ``content`` is that of the instance; ``copy`` says that it was answered before, so that the
    question has no slots. ``reviewer`` decided it last, and ``judged`` are the judgements that are counted.
    ``second`` is the label that is likely besides the prediction, where that matters. A ``reserved`` question is only
    for these people and groups. Of a gold question, ``gold`` is the number.
    """

    round: int
    seq: int
    opened: float
    played: int
    prediction: str | None
    margin: float
    probability: float
    value: float
    slots: list[Slot]
    priority: float = 0.0
    level: int = 0
    skipped: list[str] = []
    disputed: bool = False
    told: bool = False
    closed: bool = False
    forgotten: str = ""
    model: str | None = None
    label: str | None = None
    counted: bool = False
    reviewed: bool = False
    erased: bool = False
    content: str = ""
    copy: bool = False
    reviewer: str = ""
    judged: list[Judgement] = []
    second: str | None = None
    reserved: list[str] = []
    gold: int = 0

    @property
    def is_full(self) -> bool:
        """Whether every slot is filled."""
        return all(slot.answer is not None for slot in self.slots)

    @property
    def answers(self) -> list[Answer]:
        """The answers given so far."""
        return [slot.answer for slot in self.slots if slot.answer is not None]

    def slot_of(self, annotator: str) -> int | None:
        """The slot that an annotator filled, or otherwise holds or held last."""
        for wanted in (True, False):
            for i, slot in enumerate(self.slots):
                holder = slot.answer.annotator if slot.answer is not None else slot.annotator
                if (slot.answer is not None) == wanted and holder == annotator:
                    return i
        return None

    def free_slot(self, now: float) -> int | None:
        """The first slot that any annotator may take."""
        return next((i for i, slot in enumerate(self.slots) if slot.is_free(now)), None)

    def is_for(self, annotator: str, now: float) -> bool:
        """Whether an annotator may get this question next."""
        if annotator in self.skipped or self.disputed or self.free_slot(now) is None:
            return False
        mine = self.slot_of(annotator)
        return mine is None or self.slots[mine].is_free(now)

    def slot_for(self, annotator: str, now: float, verb: str, unskip: bool = False) -> int:
        """The slot that an annotator holds or may take; refused with the reason. ``unskip`` disregards their skip."""
        mine = self.slot_of(annotator)
        if mine is not None and self.slots[mine].answer is not None:
            raise ConflictError(f"{annotator} has answered this question already; undo that first.", owner=verb)
        if annotator in self.skipped and not unskip:
            raise ConflictError(f"{annotator} has skipped this question; undo that first.", owner=verb)
        if self.reviewed:
            raise ConflictError("a reviewer has decided this question.", owner=verb)
        if self.closed and not self.is_full:
            why = self.forgotten or "it was decided when its time was over"
            raise ConflictError(f"the question is closed: {why}.", owner=verb)
        if mine is not None:
            return mine
        if self.disputed and not self.is_full:
            raise ConflictError("the question waits for a reviewer.", owner=verb)
        free = self.free_slot(now)
        if free is None:
            why = "all slots are filled" if self.is_full else "another annotator holds the slot now"
            raise ConflictError(f"the question cannot be taken: {why}.", owner=verb)
        return free


def retrained(question: Question, played: int, known: bool) -> None:
    """Update a question after the model was retrained from the corrected labels.

    ``played`` is the round of the new model, if that asked the question; the model does not know erased instances.
    """
    question.played = played
    if question.told:
        question.model = question.label if known else None


def decision(answers: list[Answer], decide: str, within: float | None = None) -> str | object:
    """What answers decide: a label, ``NO_LABEL``, or ``DISPUTED`` where a reviewer must.

    Where labels are numbers, those that are ``within`` so much of each other agree, and their median is the label.
    """
    labels = [answer.label for answer in answers if answer.label is not None]
    if not labels:
        return NO_LABEL
    if len(labels) == 1 and within is None and decide in ("majority", "unanimity"):
        return labels[0]
    given = Counter(labels)
    if within is not None:
        found = agreed(list(given.elements()), within, decide == "unanimity")
        return DISPUTED if found is None or decide == "adjudicator" else found
    label, votes = given.most_common(1)[0]
    total = sum(given.values())
    if decide == "majority" and 2 * votes > total:
        return label
    if decide == "unanimity" and votes == total:
        return label
    return DISPUTED


def is_overlap(seed: int, round: int, share: float) -> bool:
    """Whether a question is drawn to get one answer more: by its number and the stream's seed alone."""
    digest = blake2b(f"overlap {round}".encode(), digest_size=8, key=seed.to_bytes(8, "little")).digest()
    return int.from_bytes(digest, "little") < share * 2.0**64


def judgements(question: Question, within: float | None) -> list[Judgement]:
    """The answers whose label was also decided without the annotator: by a reviewer, or else by all others."""
    found = []
    for answer in question.answers:
        others = [each for each in question.answers if each is not answer]
        if question.reviewed and question.reviewer != answer.annotator:
            label: str | object | None = question.label
        else:
            label = None if question.reviewed else decision(others, "majority", within)
        if isinstance(label, str) and answer.label is not None:
            found.append(Judgement(answer.annotator, answer.label, label, answer.time))
    return found
