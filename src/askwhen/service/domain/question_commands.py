"""Commands on questions (lease, answer, skip, undo, review): check that each is allowed, and record its events.

A command either refuses or returns the fact to be recorded; it changes nothing itself. Nothing here depends on a clock,
a store or a model.
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
    ReviewUndone,
    Skipped,
    Told,
    Undone,
    Unskipped,
)
from .question_state import QuestionState
from .questions import DAY, DISPUTED, NO_LABEL, Answer, Question, decision
from .weighting import weighted

MOST_LEASES, MOST_DEVICES = 3, 3
"""Leases of one annotator on one device (the question shown and those fetched ahead), and number of devices."""

EXPIRED, UNSURE, ERASED = "it expired without an answer", "every annotator was unsure", "its contents were erased"

QuestionFact = tuple[int, Fact]
"""The round of a question, and the fact to be recorded about it."""


class QuestionCommands:
    """Checks what annotators and reviewers want to do, and derives what follows from answers and from time.

    Parameters
    ----------
    state : QuestionState
        What the facts are applied to; commands only read it.
    """

    def __init__(self, state: QuestionState) -> None:
        self._state = state

    def next(self, annotator: str, now: float, device: str = "") -> QuestionFact | None:
        """Lease the next question to an annotator; None where there is none.

        At the limit of leases, and where they hold all that is left of their quota, the oldest question that they hold
        on the device is leased again.
        """
        state = self._state
        until = now + state.settings.lease
        state.requeue_expired_leases(now)
        held = self._held(annotator, now)
        here = [each for each in held if state.open[each[1]].slots[each[2]].device == device]
        left = self.left(annotator, now)
        if left is not None and len(held) >= left and (left == 0 or not here):
            return None
        if len(here) >= MOST_LEASES or (left is not None and len(held) >= left):
            _, round, slot = min(here)
            return round, Leased(slot, annotator, until, device)
        if len(held) >= MOST_LEASES * MOST_DEVICES:
            return None
        for question in state.queued():
            if question.is_for(annotator, now):
                return question.round, Leased(question.slot_for(annotator, now, "next"), annotator, until, device)
        return None

    def left(self, annotator: str, now: float) -> int | None:
        """Number of questions that an annotator may still answer now; None where they may answer all."""
        terms = self._state.settings.people.get(annotator)
        if terms is None or terms.paused:
            return None if terms is None else 0
        if terms.quota is None:
            return None
        person = self._state.stored.people.persons.get(annotator)
        return max(terms.quota - (0 if person is None else person.answers_since(now - DAY)), 0)

    def _held(self, annotator: str, now: float) -> list[tuple[float, int, int]]:
        """The leases of an annotator: end, round and slot."""
        found = []
        for round in self._state.stored.leases.get(annotator, []):
            question = self._state.open.get(round)
            for i, slot in enumerate(question.slots if question is not None else []):
                if slot.annotator == annotator and slot.is_held(now):
                    found.append((slot.until, round, i))
        return found

    def renew(self, round: int, annotator: str, now: float) -> QuestionFact:
        """Hold a slot longer."""
        question = self._state.find(round)
        slot = question.slot_for(annotator, now, "renew")
        held = question.slots[slot]
        device = held.device if held.annotator == annotator else ""
        return round, Leased(slot, annotator, now + self._state.settings.lease, device)

    def release(self, round: int, annotator: str, now: float) -> QuestionFact:
        """Give a slot back."""
        question = self._state.find(round)
        slot = question.slot_of(annotator)
        if slot is None or question.closed or not question.slots[slot].is_held(now):
            raise ConflictError(f"{annotator} holds no slot of this question.", owner="release")
        return round, Released(slot, annotator)

    def answer(
        self, round: int, annotator: str, label: str | None, now: float, lead: float | None = None
    ) -> QuestionFact:
        """Fill a slot; without a label, the annotator is unsure."""
        question = self._state.find(round)
        slot = question.slot_for(annotator, now, "answer")
        return round, Answered(slot, annotator, label, lead)

    def skip(self, round: int, annotator: str, now: float) -> QuestionFact:
        """Never show a question to an annotator again."""
        question = self._state.find(round)
        question.slot_for(annotator, now, "skip")
        return round, Skipped(annotator)

    def undo(self, round: int | None, annotator: str, now: float) -> QuestionFact:
        """Take an answer or a skip back: of this question, or otherwise the annotator's last answer."""
        if round is None:
            recent = self._state.stored.recent.get(annotator)
            if not recent:
                raise ConflictError(f"{annotator} has no recent answer to undo; name the question.", owner="undo")
            round = recent[-1]
        question = self._state.find(round)
        until = now + self._state.settings.lease
        if annotator in question.skipped:
            return round, Unskipped(question.slot_for(annotator, now, "undo", unskip=True), annotator, until)
        slot = question.slot_of(annotator)
        if slot is None or question.slots[slot].answer is None:
            raise ConflictError(f"{annotator} has no answer to this question.", owner="undo")
        if question.reviewed:
            raise ConflictError("a reviewer has decided this question.", owner="undo")
        if question.erased:
            raise ConflictError(
                "the contents of this question were erased, so it cannot be answered again.", owner="undo"
            )
        return round, Undone(slot, annotator, until, question.told)

    def review(self, round: int, annotator: str, label: str | None) -> QuestionFact:
        """Decide what the label is, whatever the answers say."""
        question = self._state.find(round)
        if question.erased:
            raise ConflictError("the contents of this question were erased, so it cannot be decided.", owner="review")
        if not (question.is_full or question.told or question.disputed or question.skipped):
            raise ConflictError("the question is not answered yet, so there is nothing to review.", owner="review")
        return round, Reviewed(annotator, label)

    def undo_review(self, round: int, annotator: str, before: Question) -> tuple[QuestionFact, QuestionFact]:
        """Take a reviewer's decision back, given the question as it was before any review."""
        question = self._state.find(round)
        if not question.reviewed:
            raise ConflictError("no reviewer has decided this question, so there is nothing to undo.", owner="undo")
        if question.erased:
            raise ConflictError("the contents of this question were erased, so it cannot be decided.", owner="undo")
        if before.disputed:
            undone = ReviewUndone(annotator, disputed=True)
        elif before.closed:
            undone = ReviewUndone(annotator, why=before.forgotten)
        elif not before.is_full:
            undone = ReviewUndone(annotator, reopened=True)
        else:  # its answers could still be undone when it was reviewed; by now they decide
            found = self._decided(before)
            undone = ReviewUndone(annotator, disputed=found is DISPUTED, why=UNSURE if found is NO_LABEL else "")
            return (round, undone), (round, Corrected(found if isinstance(found, str) else None))
        return (round, undone), (round, Corrected(before.label))

    def check_unlabelled(self, round: int) -> None:
        """Refuse an unsolicited label of an instance whose question is open or has a label."""
        question = self._state.find(round)
        if question.label is not None:
            raise ConflictError(f"question {round} has a label; undo its answer, or review it.", owner="label")
        if not question.forgotten:
            raise ConflictError(f"question {round} waits for this label; answer it.", owner="label")

    def due(self, now: float) -> Iterator[QuestionFact]:
        """What follows from final answers and from expired questions: told, forgotten, disputed or corrected.

        The caller must apply each fact before it asks for the next one.
        """
        for round in self._state.pop_settled(now):
            question = self._state.open.get(round)
            if question is None or not question.is_full or question.disputed:
                continue
            if all(self._is_final(each, now) for each in question.answers):
                yield from self.concluded(question)
        for round in self._state.pop_expired(now):
            question = self._state.open.get(round)
            if question is None or question.is_full or question.told:
                continue
            ends = [slot.until for slot in question.slots if slot.is_held(now)]
            ends += [
                each.final(self._state.settings.grace) for each in question.answers if not self._is_final(each, now)
            ]
            if ends:
                self._state.expire_at(round, min(ends))
            elif question.answers:
                yield from self.concluded(question)
            else:
                yield round, Forgotten(EXPIRED)

    def _is_final(self, answer: Answer, now: float) -> bool:
        """Whether an answer can no longer be undone without a correction."""
        return answer.settled or now >= answer.final(self._state.settings.grace)

    def concluded(self, question: Question) -> Iterator[QuestionFact]:
        """The fact that the answers decide, for a question that is full or has expired."""
        found = self._decided(question)
        if found is DISPUTED:
            yield question.round, Disputed()
        else:
            yield from self.settled(question, None if found is NO_LABEL else str(found), UNSURE)

    def _decided(self, question: Question) -> str | object:
        """What the answers to a question decide."""
        settings, stored = self._state.settings, self._state.stored
        if settings.decide == "weighted":
            return weighted(question.answers, stored.people.judged_of, self._state.labels)
        return decision(question.answers, settings.decide, settings.within)

    def settled(self, question: Question, label: str | None, why: str) -> Iterator[QuestionFact]:
        """The fact that gives a label to the model, or corrects the one that it was given before."""
        if question.told:
            yield question.round, Corrected(label)
        else:
            yield question.round, Told(label) if label is not None else Forgotten(why)

    def after_undo(self, question: Question) -> QuestionFact:
        """The correction after an answer was undone that the model had learnt."""
        found = self._decided(question)
        return question.round, Corrected(found if isinstance(found, str) else None)
