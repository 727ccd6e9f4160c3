"""Commands on questions (lease, answer, skip, undo, review): check that each is allowed, and record its events.

A command either refuses or returns the fact to be recorded; it changes nothing itself. Nothing here depends on a clock,
a store or a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..errors import ConflictError
from ..events.kinds import (
    Answered,
    Corrected,
    Disputed,
    Fact,
    Forgotten,
    GoldChosen,
    GoldClosed,
    Leased,
    Released,
    Reserved,
    Reviewed,
    ReviewUndone,
    Skipped,
    Told,
    Undone,
    Unskipped,
)
from ..events.settings import GROUP
from .gold import NOT_NEEDED, UNCHOSEN
from .people import People
from .question_state import QuestionState
from .questions import DAY, DISPUTED, NO_LABEL, Answer, Question, decision
from .weighting import weighted

MOST_LEASES, MOST_DEVICES = 3, 3
"""Leases of one annotator on one device (the question shown and those fetched ahead), and number of devices."""

FAIR = 10
"""Every tenth question that an annotator gets is the oldest that they may answer, so that none waits for ever."""

EXPIRED, UNSURE, ERASED = "it expired without an answer", "every annotator was unsure", "its contents were erased"

QuestionFact = tuple[int, Fact]
"""The round of a question, and the fact to be recorded about it."""


class QuestionCommands:
    """Checks what annotators and reviewers want to do, and derives what follows from answers and from time.

    Parameters
    ----------
    state : QuestionState
        What the facts are applied to; commands only read it.
    people : People, optional
        Groups, and who is away; without it there are none.
    """

    def __init__(self, state: QuestionState, people: People | None = None) -> None:
        self._state, self._people = state, People() if people is None else people

    def next(self, annotator: str, now: float, device: str = "") -> QuestionFact | None:
        """Lease the next question to an annotator; None where there is none.

        Where they come to a gold question that must be chosen first, or that they cannot get, the fact says so, and the
        caller asks again. At the limit of leases, and where they hold all that is left of their quota, the oldest
        question that they hold on the device is leased again.
        """
        state = self._state
        until = now + state.settings.lease
        state.requeue_expired_leases(now)
        if not self.is_in_team(annotator):
            return None
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
        for question in self._queued(annotator, now):
            if question.gold:
                of_gold = self._of_gold(question, annotator, now)
                if of_gold is not None:
                    return question.round, of_gold
            if question.is_for(annotator, now) and not self._had_elsewhere(question, annotator):
                return question.round, Leased(question.slot_for(annotator, now, "next"), annotator, until, device)
        return None

    def _queued(self, annotator: str, now: float) -> Iterator[Question]:
        """Questions that an annotator may answer, in the order in which they get them."""
        state, names = self._state, self._people.names_of(annotator)
        if state.stored.given.get(annotator, 0) % FAIR == FAIR - 1:
            return state.queued_oldest(names, now)
        terms = state.settings.people.get(annotator)
        return state.queued(names, (terms and terms.order) or state.settings.order, now)

    def is_in_team(self, annotator: str) -> bool:
        """Whether the stream is given to an annotator."""
        return self._people.includes(self._state.settings.team, annotator)

    def _check_may(self, question: Question, annotator: str, now: float, verb: str, is_new: bool = False) -> None:
        """Refuse a question that an annotator may not get now, unless they were given it before.

        Who held it until a while ago may still answer it while they are away; a lease that ``is_new`` needs more.
        """
        slot = question.slot_of(annotator)
        if slot is not None and question.slots[slot].is_held(now):
            return
        if not self.is_in_team(annotator):
            raise ConflictError(f"this stream is not given to {annotator}.", owner=verb)
        audience = self._state.audience(question)
        if not audience.takes(self._people.names_of(annotator), now - question.opened):
            raise ConflictError(f"this question is for {listed(audience.who)}, not for {annotator}.", owner=verb)
        if slot is not None and question.slots[slot].answer is not None:
            return  # the caller says so
        if self.is_away(annotator, now):
            if slot is None or is_new:
                raise ConflictError(f"{annotator} is away or paused, and gets no questions meanwhile.", owner=verb)
            return
        left = self.left(annotator, now)
        if left is not None and len(self._held(annotator, now)) >= left:
            terms = self._state.settings.people[annotator]
            raise ConflictError(
                f"{annotator} may answer {terms.quota} questions in 24 hours, and has answered or holds as many.",
                owner=verb,
            )

    def is_away(self, annotator: str, now: float) -> bool:
        """Whether an annotator is asked nothing now, in this stream or in all."""
        terms = self._state.settings.people.get(annotator)
        return self._people.is_away(annotator, now) or (terms is not None and terms.are_away(now))

    def back(self, annotator: str, now: float) -> float | None:
        """The end of an annotator's absence; None where they are there, or pause without an end."""
        terms = self._state.settings.people.get(annotator)
        if not self.is_away(annotator, now) or (terms is not None and terms.paused):
            return None
        return max((terms and terms.holiday) or 0.0, self._people.away.get(annotator, 0.0))

    def waiting_for(self, annotator: str, now: float) -> int:
        """Number of questions with an empty slot that are not for others alone."""
        names, state = self._people.names_of(annotator), self._state
        waiting = (each for each in state.open.values() if not each.is_full)
        return sum(state.audience(each).takes(names, now - each.opened) for each in waiting)

    def open_to(self, annotator: str, now: float) -> list[Question]:
        """Open questions that an annotator may answer now; none while they are away."""
        if not self.may_be_asked(annotator, now):
            return []
        names, state = self._people.names_of(annotator), self._state
        able = (each for each in state.open.values() if each.is_for(annotator, now))
        return [each for each in able if state.audience(each).takes(names, now - each.opened)]

    def may_be_asked(self, annotator: str, now: float) -> bool:
        """Whether an annotator may be asked anything now."""
        return self.is_in_team(annotator) and self.left(annotator, now) != 0

    def unanswerable(self, now: float) -> Iterator[tuple[Question, str]]:
        """Open questions that no annotator can answer as things are, each with the reason."""
        settings = self._state.settings
        team = self._people.persons(settings.team) if settings.team else None
        for question in self._state.open.values():
            if question.disputed or question.free_slot(now) is None:
                continue
            audience = self._state.audience(question)
            if audience.after is not None and team is None:
                continue
            is_for_others = audience.after is not None
            able = set(team or ()) if is_for_others else self._people.persons(audience.who)
            is_empty = not able
            able = able if team is None else able & team
            why = self._why_none(question, able, now)
            if not able and not is_empty:
                why = "no one of them is in the team"
            if why:
                yield question, f"for {'the team' if is_for_others else listed(audience.who)}: {why}"

    def _why_none(self, question: Question, able: set[str], now: float) -> str:
        """Why none of these people can answer a question; empty where one can."""
        if not able:
            return "it has no members"
        done = {*question.skipped, *(each.annotator for each in question.answers)}
        left = able - done
        if not left:
            return "all who may answer it have answered or skipped it"
        return "" if any(not self.is_away(each, now) for each in left) else "all who may answer it are away"

    def reserve(self, round: int, annotator: str, who: list[str]) -> QuestionFact:
        """Ask only these people and groups, or everybody again."""
        question = self._state.find(round)
        if question.closed or question.is_full:
            raise ConflictError("the question is not open any more, so it cannot be reserved.", owner="reserve")
        return round, Reserved(annotator, who)

    def _had_elsewhere(self, question: Question, annotator: str) -> bool:
        """Whether an annotator got this gold question under another number, or knew it, or it was removed."""
        if question.gold == 0:
            return False
        item = self._state.stored.gold.by_number.get(question.gold)
        return item is None or item.had.get(annotator, question.round) != question.round

    def _of_gold(self, question: Question, annotator: str, now: float) -> GoldChosen | GoldClosed | None:
        """What must happen to a gold question before an annotator goes on; None where they get it, or others may.

        One that they cannot get is closed, unless another annotator holds it: so those who come next are given as many
        gold questions as others, and none waits for an annotator who does not come.
        """
        if question.gold == UNCHOSEN:
            return self.choose(question, annotator) if question.is_for(annotator, now) else None
        was_skipped = annotator in question.skipped and now > question.opened + DAY
        if not (was_skipped or self._had_elsewhere(question, annotator)):
            return None
        slot = question.slot_of(annotator)
        is_mine = slot is not None and question.slots[slot].answer is not None
        is_held = any(each.is_held(now) for each in question.slots)
        if is_mine or is_held or not all(self._is_final(each, now) for each in question.answers):
            return None
        return self._gold_closed(question) if question.answers else GoldClosed(None, NOT_NEEDED)

    def choose(self, question: Question, annotator: str) -> GoldChosen | GoldClosed:
        """The gold question that an annotator gets; where they have had all, its place is closed."""
        gold = self._state.stored.gold
        number = gold.drawn_for(annotator)
        if number is None:
            return GoldClosed(None, NOT_NEEDED)
        return GoldChosen(number, gold.by_number[number].seq, gold.by_number[number].label, annotator)

    def _gold_closed(self, question: Question) -> GoldClosed:
        """What the answers to a gold question decide, as those to any other."""
        found = self._decided(question)
        if isinstance(found, str):
            return GoldClosed(found)
        return GoldClosed(disputed=True) if found is DISPUTED else GoldClosed(None, UNSURE)

    def left(self, annotator: str, now: float) -> int | None:
        """Number of questions that an annotator may still answer now; None where they may answer all."""
        terms = self._state.settings.people.get(annotator)
        if self.is_away(annotator, now):
            return 0
        if terms is None or terms.quota is None:
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
        self._check_may(question, annotator, now, "renew", is_new=True)
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
        self,
        round: int,
        annotator: str,
        label: str | None,
        now: float,
        lead: float | None = None,
        is_reviewer: bool = False,
    ) -> QuestionFact:
        """Fill a slot; without a label, the annotator is unsure. A reviewer may, whomever the question is for."""
        question = self._state.find(round)
        if not is_reviewer:
            self._check_may(question, annotator, now, "answer")
        slot = question.slot_for(annotator, now, "answer")
        return round, Answered(slot, annotator, label, lead)

    def skip(self, round: int, annotator: str, now: float) -> QuestionFact:
        """Never show a question to an annotator again."""
        question = self._state.find(round)
        self._check_may(question, annotator, now, "skip")
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
            self._check_may(question, annotator, now, "undo", is_new=True)
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
        if question.gold:
            raise ConflictError("this is a gold question, whose label is known.", owner="review")
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
                yield from self.settled(question, None, EXPIRED)

    def _is_final(self, answer: Answer, now: float) -> bool:
        """Whether an answer can no longer be undone without a correction."""
        return answer.settled or now >= answer.final(self._state.settings.grace)

    def concluded(self, question: Question) -> Iterator[QuestionFact]:
        """The fact that the answers decide, for a question that is full or has expired."""
        if question.gold:
            yield question.round, self._gold_closed(question)
            return
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
        if question.gold:
            yield question.round, GoldClosed(label, why if label is None else "")
        elif question.told:
            yield question.round, Corrected(label)
        else:
            yield question.round, Told(label) if label is not None else Forgotten(why)

    def after_undo(self, question: Question) -> QuestionFact:
        """The correction after an answer was undone that the model had learnt."""
        found = self._decided(question)
        return question.round, Corrected(found if isinstance(found, str) else None)


def listed(who: Iterable[str]) -> str:
    """Names of people and groups in a sentence."""
    return " or ".join(f"the group {each.removeprefix(GROUP)}" if each.startswith(GROUP) else each for each in who)
