"""A question and its slots: who may hold one, who may fill it, what the answers decide. Knows no clock and no store."""

from __future__ import annotations

from collections import Counter

import msgspec

from ..errors import ConflictError

DISPUTED, NO_LABEL = object(), object()
"""What answers decide where they decide on no label: a reviewer must, or nobody knew."""

UNPLAYED = -1
"""In the place of the sampler's round, for a question of a round that this sampler has not played, or not asked in."""


class Answer(msgspec.Struct, gc=False):
    """What somebody said, and when; ``settled`` once it cannot be undone without a correction.

    ``undoable`` is until when that was promised, where the stream has had another grace since.
    """

    annotator: str
    label: str | None
    time: float
    settled: bool = False
    undoable: float | None = None

    def final(self, grace: float) -> float:
        """When it can no longer be undone without a correction, where the stream has this grace."""
        return self.time + grace if self.undoable is None else self.undoable


class Slot(msgspec.Struct, gc=False, omit_defaults=True):
    """Is free, or held by somebody until a time, on a device, or filled."""

    annotator: str = ""
    until: float = 0.0
    answer: Answer | None = None
    device: str = ""

    def is_held(self, now: float) -> bool:
        """Whether a lease on it lasts."""
        return self.answer is None and self.annotator != "" and now < self.until

    def is_free(self, now: float) -> bool:
        """Whether anybody may take it."""
        return self.answer is None and not self.is_held(now)


class Question(msgspec.Struct, gc=False):
    """An instance that is worth a label. ``round`` is its number; ``seq`` the event that has its instance.

    ``told`` says whether the model was told of it, ``model`` what, and ``label`` what is held to be its label by now;
    ``closed`` that nobody is asked any more, and ``forgotten`` why the model got no label; ``reviewed`` that a reviewer
    has decided, whom annotators cannot overrule; ``erased`` that nobody can see its instance any more.
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

    @property
    def is_full(self) -> bool:
        """Whether every slot is filled."""
        return all(slot.answer is not None for slot in self.slots)

    @property
    def answers(self) -> list[Answer]:
        """Those given so far."""
        return [slot.answer for slot in self.slots if slot.answer is not None]

    def slot_of(self, annotator: str) -> int | None:
        """The slot that somebody filled, or else holds or held last."""
        for wanted in (True, False):
            for i, slot in enumerate(self.slots):
                holder = slot.answer.annotator if slot.answer is not None else slot.annotator
                if (slot.answer is not None) == wanted and holder == annotator:
                    return i
        return None

    def free_slot(self, now: float) -> int | None:
        """The first slot that anybody may take."""
        return next((i for i, slot in enumerate(self.slots) if slot.is_free(now)), None)

    def is_for(self, annotator: str, now: float) -> bool:
        """Whether somebody may get this question next."""
        if annotator in self.skipped or self.disputed or self.free_slot(now) is None:
            return False
        mine = self.slot_of(annotator)
        return mine is None or self.slots[mine].is_free(now)

    def slot_for(self, annotator: str, now: float, verb: str) -> int:
        """The slot that somebody holds or, where the lease has ended, may still take; refused with the reason."""
        mine = self.slot_of(annotator)
        if mine is not None and self.slots[mine].answer is not None:
            raise ConflictError(f"{annotator} has answered this question already; undo that first.", owner=verb)
        if annotator in self.skipped:
            raise ConflictError(f"{annotator} has skipped this question, which is final.", owner=verb)
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
            why = "all slots are filled" if self.is_full else "somebody else holds the slot by now"
            raise ConflictError(f"the question cannot be taken: {why}.", owner=verb)
        return free


def retrained(question: Question, played: int, known: bool) -> None:
    """The model was made again from the labels that are held to be right.

    ``played`` is its round, if it would have asked this question; it is not ``known`` where its instance was erased.
    """
    question.played = played
    if question.told:
        question.model = question.label if known else None


def decision(answers: list[Answer], decide: str) -> str | object:
    """What answers decide: a label, or that there is none, or that a reviewer must."""
    given = Counter(answer.label for answer in answers if answer.label is not None)
    if not given:
        return NO_LABEL
    label, votes = given.most_common(1)[0]
    total = sum(given.values())
    if decide == "majority" and 2 * votes > total:
        return label
    if decide == "unanimity" and votes == total:
        return label
    return DISPUTED
