"""What may be done to the questions of a stream.

Commands look and refuse, or say what is to happen: facts, which ``apply`` makes happen. Nothing here knows a clock, a
store or a model.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import ConflictError
from ..events.kinds import (
    Answered,
    Corrected,
    Disputed,
    Fact,
    Forgotten,
    Leased,
    Released,
    Reviewed,
    Skipped,
    Told,
    Undone,
)
from .question_state import Ledger
from .questions import DISPUTED, NO_LABEL, Answer, Question, decision

MOST_LEASES, MOST_DEVICES = 3, 3
"""What one person holds at once on a device, the question shown and those fetched ahead; and on how many devices."""

EXPIRED, UNSURE, ERASED = "it expired without an answer", "nobody was sure", "its contents were erased"

Happening = tuple[int, Fact]
"""The round of a question, and what happens to it."""


class Books(Ledger):
    """The commands on a ledger."""

    def next(self, annotator: str, now: float, device: str = "") -> Happening | None:
        """A slot of the next question for somebody; at the limit of leases, the oldest that they hold on the device."""
        settings = self.settings
        for round in self._ends.due(now):
            question = self.questions.get(round)
            if question is not None and question.free_slot(now) is not None and not question.disputed:
                self._queue.add(question)
        held = self._held(annotator, now)
        here = [each for each in held if self.questions[each[1]].slots[each[2]].device == device]
        if len(here) >= MOST_LEASES:
            _, round, slot = min(here)
            return round, Leased(slot, annotator, now + settings.lease, device)
        if len(held) >= MOST_LEASES * MOST_DEVICES:
            return None
        for round in self._queue.rounds():
            question = self.questions[round]
            if question.is_for(annotator, now):
                slot = question.slot_for(annotator, now, "next")
                return round, Leased(slot, annotator, now + settings.lease, device)
        return None

    def _held(self, annotator: str, now: float) -> list[tuple[float, int, int]]:
        found = []
        for round in self.kept.leases.get(annotator, []):
            question = self.questions.get(round)
            for i, slot in enumerate(question.slots if question is not None else []):
                if slot.annotator == annotator and slot.is_held(now):
                    found.append((slot.until, round, i))
        return found

    def renew(self, round: int, annotator: str, now: float) -> Happening:
        """Hold a slot longer."""
        question = self.find(round)
        slot = question.slot_for(annotator, now, "renew")
        held = question.slots[slot]
        device = held.device if held.annotator == annotator else ""
        return round, Leased(slot, annotator, now + self.settings.lease, device)

    def release(self, round: int, annotator: str, now: float) -> Happening:
        """Give a slot back."""
        question = self.find(round)
        slot = question.slot_of(annotator)
        if slot is None or question.closed or not question.slots[slot].is_held(now):
            raise ConflictError(f"{annotator} holds no slot of this question.", owner="release")
        return round, Released(slot, annotator)

    def answer(self, round: int, annotator: str, label: str | None, now: float, lead: float | None = None) -> Happening:
        """Fill a slot; without a label, somebody is unsure."""
        question = self.find(round)
        slot = question.slot_for(annotator, now, "answer")
        return round, Answered(slot, annotator, label, lead)

    def skip(self, round: int, annotator: str, now: float) -> Happening:
        """Never show a question to somebody again."""
        question = self.find(round)
        question.slot_for(annotator, now, "skip")
        return round, Skipped(annotator)

    def undo(self, round: int | None, annotator: str, now: float) -> Happening:
        """Take an answer back: of this question, or the last one."""
        if round is None:
            recent = self.kept.recent.get(annotator)
            if not recent:
                raise ConflictError(f"{annotator} has no recent answer to undo; name the question.", owner="undo")
            round = recent[-1]
        question = self.find(round)
        slot = question.slot_of(annotator)
        if slot is None or question.slots[slot].answer is None:
            raise ConflictError(f"{annotator} has no answer to this question.", owner="undo")
        if question.reviewed:
            raise ConflictError("a reviewer has decided this question.", owner="undo")
        if question.erased:
            raise ConflictError("the contents of this question were erased: nobody can answer it again.", owner="undo")
        return round, Undone(slot, annotator, now + self.settings.lease, question.told)

    def review(self, round: int, annotator: str, label: str | None) -> Happening:
        """Decide what the label is, whatever the answers say."""
        question = self.find(round)
        if question.erased:
            raise ConflictError("the contents of this question were erased: nobody can decide it.", owner="review")
        if not (question.is_full or question.told or question.disputed):
            raise ConflictError("the question is not answered yet, so that there is nothing to review.", owner="review")
        return round, Reviewed(annotator, label)

    def check_unlabelled(self, round: int) -> None:
        """Refuse a label that nobody asked for where somebody did: its question waits for it, or has had it."""
        question = self.find(round)
        if question.label is not None:
            raise ConflictError(f"question {round} has a label; undo its answer, or review it.", owner="label")
        if not question.forgotten:
            raise ConflictError(f"question {round} waits for this label; answer it.", owner="label")

    def due(self, now: float) -> Iterator[Happening]:
        """What follows from answers and from time: tell, forget, dispute, correct. Each must be applied at once."""
        looked = dict.fromkeys([*self._early, *self._graces.due(now)])
        self._early.clear()
        for round in looked:
            question = self.questions.get(round)
            if question is None or not question.is_full or question.disputed:
                continue
            if all(self._is_final(each, now) for each in question.answers):
                yield from self.concluded(question)
        for round in self._expiries.due(now):
            question = self.questions.get(round)
            if question is None or question.is_full or question.told:
                continue
            ends = [slot.until for slot in question.slots if slot.is_held(now)]
            ends += [each.final(self.settings.grace) for each in question.answers if not self._is_final(each, now)]
            if ends:
                self._expiries.add(min(ends), round)
            elif question.answers:
                yield from self.concluded(question)
            else:
                yield round, Forgotten(EXPIRED)

    def _is_final(self, answer: Answer, now: float) -> bool:
        """Whether an answer can no longer be undone without a correction."""
        return answer.settled or now >= answer.final(self.settings.grace)

    def concluded(self, question: Question) -> Iterator[Happening]:
        """What the answers to a question come to, which is full or was open for long enough."""
        found = decision(question.answers, self.settings.decide)
        if found is DISPUTED:
            yield question.round, Disputed()
        else:
            yield from self.settled(question, None if found is NO_LABEL else str(found), UNSURE)

    def settled(self, question: Question, label: str | None, why: str) -> Iterator[Happening]:
        """Tell the model, or where it was told before, correct that."""
        if question.told:
            yield question.round, Corrected(label)
        else:
            yield question.round, Told(label) if label is not None else Forgotten(why)

    def after_undo(self, question: Question) -> Happening:
        """What is held to be the label after an answer was undone that the model knew."""
        found = decision(question.answers, self.settings.decide)
        return question.round, Corrected(found if isinstance(found, str) else None)
