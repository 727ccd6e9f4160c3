"""The open questions of a stream, and what events do to them.

A service that recovers applies the same facts from the log, so that it ends where the first one was. Nothing here knows
a clock, a store or a model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import InputError
from ..errors import NotFoundError
from ..events.kinds import (
    Answered,
    Corrected,
    Disputed,
    Fact,
    Forgotten,
    Instance,
    Leased,
    Released,
    Reviewed,
    Skipped,
    Told,
    Undone,
)
from ..events.settings import MOST_OPEN, OPEN, Settings, check_label
from .question_queue import Queue, Timer
from .question_snapshot import Correction, Kept, opened
from .questions import Answer, Question, Slot

UNDOABLE = 2
"""Of the last answers of a person, so many can be undone before the model is told, however fast they come."""


class Ledger:
    """The open questions of a stream; closed ones come back through ``recall``, which reads them from the log."""

    def __init__(self, settings: Settings, recall: Callable[[int], Question | None], kept: Kept | None = None) -> None:
        self.settings, self._recall = settings, recall
        self.kept = Kept() if kept is None else kept
        self.questions = {question.round: question for question in self.kept.questions}
        self._arrange()

    def _arrange(self) -> None:
        """Make the queue and the timers from the open questions."""
        self._queue = Queue(self.settings.order)
        self._ends, self._graces, self._expiries = Timer(), Timer(), Timer()
        self._early: list[int] = []
        for question in self.questions.values():
            self._watch(question)

    def _watch(self, question: Question) -> None:
        """Put a question into the queue and the timers."""
        settings = self.settings
        for slot in question.slots:
            if slot.answer is None and slot.annotator:
                self._ends.add(slot.until, question.round)
            if slot.answer is not None:
                self._graces.add(slot.answer.final(settings.grace), question.round)
                if slot.answer.settled:
                    self._early.append(question.round)
        if not question.disputed:
            self._expire(question)
        if not question.is_full and not question.disputed:
            self._queue.add(question)

    def change(self, settings: Settings) -> None:
        """Go on with other settings. Leases, answers and questions keep what they were promised: end, grace, slots."""
        if settings.grace != self.settings.grace:
            for question in self.questions.values():
                for answer in question.answers:
                    answer.undoable = answer.final(self.settings.grace)
        self.settings = settings
        self._arrange()

    def dump(self) -> Kept:
        """What a snapshot keeps; to be encoded at once."""
        self.kept.questions = list(self.questions.values())
        return self.kept

    @property
    def waiting(self) -> int:
        """How many questions have a slot to fill."""
        return sum(not question.is_full for question in self.questions.values())

    @property
    def labels(self) -> list[str]:
        """Those that can be given, or where they are open, those that were."""
        return list(self.kept.labels if self.settings.labels == OPEN else self.settings.labels)

    def check_label(self, label: str | None, owner: str) -> None:
        """Refuse what is no label of the stream."""
        if label is None or label in self.labels:
            return
        if self.settings.labels == OPEN:
            check_label(label)
            if len(self.kept.labels) < MOST_OPEN:
                return
            raise InputError(f"the stream has {MOST_OPEN} labels already, and {label!r} is none of them.", owner=owner)
        listed = ", ".join(self.labels[:8])
        raise InputError(f"the label must be one of {listed}, got {label[:100]!r}.", owner=owner, parameter="label")

    def find(self, round: int) -> Question:
        """A question, open or closed."""
        found = self.questions.get(round) or self._recall(round)
        if found is None:
            raise NotFoundError(f"round {round} has no question.", owner="question")
        return found

    def open(self, fact: Instance, seq: int, time: float) -> None:
        """A round has asked."""
        doubt = 1.0 - fact.certainty if fact.certainty is not None else fact.uncertainty or 0.0
        question = opened(fact, seq, time, doubt, self.settings)
        self.questions[fact.round] = question
        self.kept.asked += 1
        self._queue.add(question)
        self._expire(question)

    def _expire(self, question: Question) -> None:
        """Let a question be forgotten in time, where the stream says so."""
        if self.settings.forget is not None:
            self._expiries.add(question.opened + self.settings.forget, question.round)

    def apply(self, round: int, fact: Fact, time: float) -> Question:
        """Make it happen to a question; what it is now."""
        question = self.questions.get(round)
        if question is None:
            question = self.find(round)
            self.questions[round] = question
        _APPLY[type(fact)](self, question, fact, time)
        return question

    def _leased(self, question: Question, fact: Leased, time: float) -> None:
        slot = question.slots[fact.slot]
        slot.annotator, slot.until, slot.device = fact.annotator, fact.until, fact.device
        self._hold(question, fact.annotator, fact.until, time)

    def _hold(self, question: Question, annotator: str, until: float, time: float) -> None:
        held = [each for each in self.kept.leases.get(annotator, []) if each != question.round]
        open_still = [each for each in held if each in self.questions]
        self.kept.leases[annotator] = [*open_still, question.round]
        self._ends.add(until, question.round)
        if question.free_slot(time) is None:
            self._queue.remove(question)

    def _unhold(self, question: Question, annotator: str) -> None:
        held = self.kept.leases.get(annotator, [])
        if question.round in held:
            held.remove(question.round)

    def _released(self, question: Question, fact: Released, time: float) -> None:
        question.slots[fact.slot] = Slot()
        self._unhold(question, fact.annotator)
        self._queue.add(question)

    def _answered(self, question: Question, fact: Answered, time: float) -> None:
        question.slots[fact.slot] = Slot(answer=Answer(fact.annotator, fact.label, time))
        for i, slot in enumerate(question.slots):  # a slot of one's own that was not used
            if slot.answer is None and slot.annotator == fact.annotator:
                question.slots[i] = Slot()
        self._unhold(question, fact.annotator)
        self.know(fact.label)
        person = self.kept.people.person(fact.annotator)
        person.answers += 1
        person.unsure += fact.label is None
        if fact.lead is not None:
            person.seconds += fact.lead
            person.timed += 1
        if question.free_slot(time) is None:
            self._queue.remove(question)
        self._graces.add(time + self.settings.grace, question.round)
        recent = self.kept.recent.setdefault(fact.annotator, [])
        recent.append(question.round)
        if len(recent) > UNDOABLE:
            self._settle(recent.pop(0), fact.annotator)

    def know(self, label: str | None) -> None:
        """A label was given; where they are open, it is one of the stream's from now on."""
        if self.settings.labels == OPEN and label is not None and label not in self.kept.labels:
            self.kept.labels.append(label)

    def _settle(self, round: int, annotator: str) -> None:
        """An answer so many answers ago can no longer be undone without a correction."""
        question = self.questions.get(round)
        slot = None if question is None else question.slot_of(annotator)
        if question is not None and slot is not None:
            answer = question.slots[slot].answer
            if answer is not None:
                answer.settled = True
                self._early.append(round)

    def _skipped(self, question: Question, fact: Skipped, time: float) -> None:
        question.skipped = [*question.skipped, fact.annotator]
        self.kept.people.person(fact.annotator).skipped += 1
        slot = question.slot_of(fact.annotator)
        if slot is not None and question.slots[slot].answer is None:
            question.slots[slot] = Slot()
            self._queue.add(question)
        self._unhold(question, fact.annotator)

    def _undone(self, question: Question, fact: Undone, time: float) -> None:
        self._uncount(question)
        question.slots[fact.slot] = Slot(fact.annotator, fact.until)
        question.disputed = question.closed = False
        question.forgotten = ""
        self.kept.people.person(fact.annotator).undone += 1
        recent = self.kept.recent.get(fact.annotator, [])
        if question.round in recent:
            recent.remove(question.round)
        self._hold(question, fact.annotator, fact.until, time)
        self._expire(question)

    def _disputed(self, question: Question, fact: Disputed, time: float) -> None:
        question.disputed = True
        self._count(question)
        self._queue.remove(question)

    def _reviewed(self, question: Question, fact: Reviewed, time: float) -> None:
        self.know(fact.label)
        question.disputed, question.reviewed = False, True

    def _told(self, question: Question, fact: Told, time: float) -> None:
        question.told, question.model, question.label = True, fact.label, fact.label
        self.kept.told += 1
        self._close(question)

    def _forgotten(self, question: Question, fact: Forgotten, time: float) -> None:
        if not question.told:  # else it was open again after an undo, and the model keeps what it knows
            question.told, question.model = True, None
            self.kept.forgotten += 1
        question.label, question.forgotten = None, fact.why
        self._close(question)

    def _corrected(self, question: Question, fact: Corrected, time: float) -> None:
        question.label = fact.label
        self.kept.corrections.pop(question.round, None)
        if question.label != question.model:
            self.kept.corrections[question.round] = Correction(
                question.played,
                question.probability,
                question.level,
                question.margin,
                question.prediction,
                question.model,
                question.label,
            )
        if question.is_full or question.closed:
            self._close(question)

    def _close(self, question: Question) -> None:
        """Let a question leave the books; the log has it."""
        question.closed = True
        self._count(question)
        self._queue.remove(question)
        self.questions.pop(question.round, None)

    def _count(self, question: Question) -> None:
        if not question.counted and len(question.slots) > 1:
            question.counted = True
            self.kept.people.count(question, 1)

    def _uncount(self, question: Question) -> None:
        if question.counted:
            question.counted = False
            self.kept.people.count(question, -1)


_APPLY: dict[type[Fact], Any] = {
    Leased: Ledger._leased,
    Released: Ledger._released,
    Answered: Ledger._answered,
    Skipped: Ledger._skipped,
    Undone: Ledger._undone,
    Disputed: Ledger._disputed,
    Reviewed: Ledger._reviewed,
    Told: Ledger._told,
    Forgotten: Ledger._forgotten,
    Corrected: Ledger._corrected,
}
