"""Applies events about questions: the open questions of a stream, and what was answered.

Recovery applies the same facts from the log, so that it ends in the same state. Nothing here depends on a clock, a
store or a model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator
from typing import Any

from msgspec.structs import replace

from ...errors import InputError
from ..errors import NotFoundError
from ..events import label_sets, numbers
from ..events.kinds import (
    Answered,
    Corrected,
    Disputed,
    Fact,
    Forgotten,
    GoldAdded,
    GoldChosen,
    GoldClosed,
    GoldPlaced,
    GoldRemoved,
    Instance,
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
from ..events.numbers import NUMBERS
from ..events.settings import MOST_OPEN, OPEN, Settings, check_label
from .gold import UNCHOSEN, GoldAnswer, GoldItem
from .question_queue import EVERYBODY, Audience, QuestionQueue, Timer
from .question_snapshot import Correction, QuestionSnapshot, new_gold_question, new_question
from .questions import Answer, Judgement, Question, Slot, judgements
from .repeats import KnownAnswer

Moment = tuple[float, int]
"""A time, and the round of the question that must be checked then."""

UNDOABLE = 2
"""Number of an annotator's latest answers that the model has not learnt yet, however fast they come."""


class QuestionState:
    """The open questions of a stream, and the queue and the timers that follow from them.

    Only ``apply``, ``add``, ``add_label`` and ``change`` change what a snapshot stores. The queue and the timers are
    made from the open questions, and are not stored.

    Parameters
    ----------
    settings : Settings
        The current settings of the stream.
    recall : callable
        Reads a closed question from the log; None where the round has no question.
    stored : QuestionSnapshot, optional
        From a snapshot; without it the state is empty.

    Attributes
    ----------
    open : dict
        The open questions by round.
    stored : QuestionSnapshot
        Everything else that a snapshot stores: counts, leases, corrections, labels, statistics of annotators.
    """

    def __init__(
        self, settings: Settings, recall: Callable[[int], Question | None], stored: QuestionSnapshot | None = None
    ) -> None:
        self.settings, self._recall = settings, recall
        self.stored = QuestionSnapshot() if stored is None else stored
        self.open = {question.round: question for question in self.stored.questions}
        self._schedule_all()

    def _schedule_all(self) -> None:
        """Make the queue and the timers from the open questions, all at once, since there may be many."""
        settings, waiting = self.settings, list[Question]()
        leases, graces, expiries = list[Moment](), list[Moment](), list[Moment]()
        self._settled_early: list[int] = []
        for question in self.open.values():
            is_full = True
            for slot in question.slots:
                if slot.answer is None:
                    is_full = False
                    if slot.annotator:
                        leases.append((slot.until, question.round))
                else:
                    graces.append((slot.answer.final(settings.grace), question.round))
                    if slot.answer.settled:
                        self._settled_early.append(question.round)
            if not question.disputed:
                if settings.forget is not None:
                    expiries.append((question.opened + settings.forget, question.round))
                if not is_full:
                    waiting.append(question)
        wanted = (settings.order, *(each.order for each in settings.people.values()))
        self._queue = QuestionQueue({"oldest", *(each for each in wanted if each is not None)})
        self._queue.add_all((question, self.audience(question)) for question in waiting)
        self._lease_ends, self._grace_ends, self._expiries = Timer(leases), Timer(graces), Timer(expiries)

    def change(self, settings: Settings) -> None:
        """Use other settings from now on. Existing leases, answers and questions keep their end, grace and slots."""
        if settings.grace != self.settings.grace:
            for question in self.open.values():
                for answer in question.answers:
                    answer.undoable = answer.final(self.settings.grace)
        self.settings = settings
        self._schedule_all()

    def dump(self) -> QuestionSnapshot:
        """What a snapshot stores. It shares its objects with this state, so encode it before anything else happens."""
        self.stored.questions = list(self.open.values())
        return self.stored

    @property
    def waiting(self) -> int:
        """Number of questions with an empty slot."""
        return sum(not question.is_full for question in self.open.values())

    @property
    def unanswered(self) -> int:
        """Number of the model's questions with an empty slot, neither skipped nor for a reviewer to decide."""
        return sum(not (each.is_full or each.skipped or each.disputed or each.gold) for each in self.open.values())

    @property
    def open_gold(self) -> int:
        """Number of open gold questions."""
        return sum(each.gold != 0 for each in self.open.values()) if self.stored.gold.placed else 0

    @property
    def disputed(self) -> int:
        """Number of questions on which people disagree, so that a reviewer decides."""
        return sum(each.disputed for each in self.open.values())

    @property
    def labels(self) -> list[str]:
        """The labels of the stream; where they are open, those given so far; none where they are numbers."""
        return list(self.stored.labels if isinstance(self.settings.labels, str) else self.settings.labels)

    def check_label(self, label: str | None, owner: str) -> None:
        """Refuse a label that the stream does not have."""
        if self.settings.labels == NUMBERS:
            self._check_number(label, owner)
            return
        if label is not None and self.settings.several:
            given = label_sets.read(label)
            label = next((each for each in given if each not in self.labels), None)
            if len(set(given)) < len(given):
                raise InputError("give each label once.", owner=owner, parameter="label")
        if label is None or label in self.labels:
            return
        if self.settings.labels == OPEN:
            check_label(label)
            if len(self.stored.labels) < MOST_OPEN:
                return
            raise InputError(
                f"the stream already has {MOST_OPEN} labels, and {label!r} is not one of them.", owner=owner
            )
        listed = ", ".join(self.labels[:8])
        raise InputError(f"the label must be one of {listed}, got {label[:100]!r}.", owner=owner, parameter="label")

    def _check_number(self, label: str | None, owner: str) -> None:
        """Refuse texts that are not numbers, and numbers beyond the bounds."""
        ends = self.settings.bounds
        if label is not None and not (ends or (-math.inf,))[0] <= numbers.read(label) <= (ends or (math.inf,))[-1]:
            expected = f"a number from {numbers.written(ends[0])} to {numbers.written(ends[1])}" if ends else "a number"
            raise InputError.about(owner, "label", expected, label)

    def find(self, round: int) -> Question:
        """A question, open or closed."""
        found = self.open.get(round) or self._recall(round)
        if found is None:
            raise NotFoundError(f"round {round} has no question.", owner="question")
        return found

    def add(self, fact: Instance, seq: int, time: float, content: str = "") -> None:
        """Open the question of a round that asked for its label; where that is known, it follows at once."""
        doubt = 1.0 - fact.certainty if fact.certainty is not None else fact.uncertainty or 0.0
        question = new_question(fact, seq, time, doubt, self.settings, content)
        self.open[fact.round] = question
        if question.copy:
            self.stored.copies += 1
            return
        self.stored.asked += 1
        self._enqueue(question)
        self._schedule_expiry(question)

    def add_gold(self, fact: GoldPlaced, time: float) -> Question:
        """Open a gold question, which is chosen later."""
        question = new_gold_question(fact, time, self.settings)
        self.open[fact.round] = question
        self.stored.gold.placed += 1
        self._enqueue(question)
        self._schedule_expiry(question)
        return question

    def change_gold(self, fact: GoldAdded | GoldRemoved, seq: int, content: str = "") -> None:
        """Take a gold question up, or remove it together with the answers to it; ``seq`` is the event."""
        gold = self.stored.gold
        if isinstance(fact, GoldAdded):
            gold.last = fact.gold
            had = dict.fromkeys(fact.known_to, UNCHOSEN)
            gold.by_number[fact.gold] = GoldItem(fact.instance or seq, fact.label, content, had)
            return
        item = gold.by_number.pop(fact.gold)
        for name, answer in item.given.items():
            self._judge_gold(name, answer, item.label, -1)

    def _judge_gold(self, name: str, answer: GoldAnswer, truth: str, sign: int) -> None:
        self.stored.people.judge(
            Judgement(name, answer.label, truth, answer.time, gold=True), sign, self.settings.within
        )

    def _enqueue(self, question: Question) -> None:
        """Put a question into the queue, for those who are asked it."""
        self._queue.add(question, self.audience(question))

    def audience(self, question: Question) -> Audience:
        """Who is asked a question: those for whom it is reserved, or the specialists of the labels that are likely."""
        if question.reserved:
            return Audience(tuple(question.reserved), None)
        if question.gold:  # it is chosen for the person who meets it
            return EVERYBODY
        specialists = self.settings.specialists
        if not specialists:
            return EVERYBODY
        found = [specialists[label] for label in self._likely(question) if label in specialists]
        if not found:
            return EVERYBODY
        after = [each.after for each in found if each.after is not None]
        who = dict.fromkeys(name for each in found for name in each.who)
        return Audience(tuple(who), max(after) if len(after) == len(found) else None)

    def _likely(self, question: Question) -> list[str]:
        """The labels that a question may get, as far as the model knew."""
        likely = [each for each in (question.prediction, question.second) if each is not None]
        return [label for each in likely for label in label_sets.read(each)] if self.settings.several else likely

    def queued(self, names: frozenset[str], order: str, now: float) -> Iterator[Question]:
        """Questions with a free slot that an annotator with these names may answer; first those that are for them."""
        mine = [each for each in self._queue.audiences if each.names(names)]
        yield from map(self.open.__getitem__, self._queue.rounds(order, mine))
        others = [each for each in self._queue.audiences if each not in mine and each.after is not None]
        yield from self._waited(order, others, now)

    def queued_oldest(self, names: frozenset[str], now: float) -> Iterator[Question]:
        """All that an annotator with these names may answer, the oldest first."""
        return self._waited(
            "oldest",
            [each for each in self._queue.audiences if each.after is not None or each.names(names)],
            now,
            names,
        )

    def _waited(
        self, order: str, audiences: list[Audience], now: float, names: frozenset[str] = frozenset()
    ) -> Iterator[Question]:
        for round in self._queue.rounds(order, audiences):
            question = self.open[round]
            audience = self.audience(question)
            if not audience.who or audience.takes(names, now - question.opened):
                yield question

    def requeue_expired_leases(self, now: float) -> None:
        """Put questions back into the queue whose lease has ended without an answer."""
        for round in self._lease_ends.due(now):
            question = self.open.get(round)
            if question is not None and question.free_slot(now) is not None and not question.disputed:
                self._enqueue(question)

    def pop_settled(self, now: float) -> list[int]:
        """Rounds with an answer that has become final since the last call."""
        found = list(dict.fromkeys([*self._settled_early, *self._grace_ends.due(now)]))
        self._settled_early.clear()
        return found

    def pop_expired(self, now: float) -> list[int]:
        """Rounds whose question has expired since the last call."""
        return self._expiries.due(now)

    def expire_at(self, round: int, time: float) -> None:
        """Let the question of a round expire at a time."""
        self._expiries.add(time, round)

    def _schedule_expiry(self, question: Question) -> None:
        """Let a question expire when the settings say so."""
        if self.settings.forget is not None:
            self.expire_at(question.round, question.opened + self.settings.forget)

    def apply(self, round: int, fact: Fact, time: float) -> Question:
        """Apply a fact to a question, which is returned; a closed one is read from the log first."""
        question = self.open.get(round)
        if question is None:
            question = self.find(round)
            self.open[round] = question
        _APPLY[type(fact)](self, question, fact, time)
        return question

    def _gold_chosen(self, question: Question, fact: GoldChosen, time: float) -> None:
        question.gold, question.seq, question.prediction = fact.gold, fact.instance, fact.prediction
        self.stored.gold.chosen += 1
        self.stored.gold.note_had(fact.gold, fact.annotator, question.round)

    def _gold_closed(self, question: Question, fact: GoldClosed, time: float) -> None:
        gold = self.stored.gold
        if not (question.told or fact.disputed):
            question.told = True
            gold.told += fact.label is not None
            gold.forgotten += fact.label is None
        question.closed, question.disputed = True, fact.disputed
        question.label, question.forgotten = fact.label, fact.why
        item = gold.by_number.get(question.gold)
        for answer in question.answers:
            gold.note_had(question.gold, answer.annotator, question.round)
            if item is not None and answer.label is not None and answer.annotator not in item.given:
                given = item.given[answer.annotator] = GoldAnswer(question.round, answer.label, answer.time)
                self._judge_gold(answer.annotator, given, item.label, 1)
        self._queue.remove(question)
        self.open.pop(question.round, None)

    def _undo_gold(self, question: Question, annotator: str) -> None:
        """Do not count an answer to a gold question that was taken back."""
        item = self.stored.gold.by_number.get(question.gold)
        given = None if item is None else item.given.get(annotator)
        if item is not None and given is not None and given.round == question.round:
            del item.given[annotator]
            self._judge_gold(annotator, given, item.label, -1)
        question.label = None

    def _leased(self, question: Question, fact: Leased, time: float) -> None:
        self.stored.gold.note_had(question.gold, fact.annotator, question.round)
        slot = question.slots[fact.slot]
        if slot.annotator != fact.annotator or not slot.is_held(time):
            self.stored.given[fact.annotator] = self.stored.given.get(fact.annotator, 0) + 1
        slot.annotator, slot.until, slot.device = fact.annotator, fact.until, fact.device
        self._hold(question, fact.annotator, fact.until, time)

    def _hold(self, question: Question, annotator: str, until: float, time: float) -> None:
        held = [each for each in self.stored.leases.get(annotator, []) if each != question.round]
        open_still = [each for each in held if each in self.open]
        self.stored.leases[annotator] = [*open_still, question.round]
        self._lease_ends.add(until, question.round)
        if question.free_slot(time) is None:
            self._queue.remove(question)

    def _unhold(self, question: Question, annotator: str) -> None:
        held = self.stored.leases.get(annotator, [])
        if question.round in held:
            held.remove(question.round)

    def _released(self, question: Question, fact: Released, time: float) -> None:
        question.slots[fact.slot] = Slot()
        self._unhold(question, fact.annotator)
        self._enqueue(question)

    def _answered(self, question: Question, fact: Answered, time: float) -> None:
        question.slots[fact.slot] = Slot(answer=Answer(fact.annotator, fact.label, time))
        for i, slot in enumerate(question.slots):  # another slot that the same annotator still holds is given back
            if slot.answer is None and slot.annotator == fact.annotator:
                question.slots[i] = Slot()
        self._unhold(question, fact.annotator)
        self.add_label(fact.label)
        person = self.stored.people.person(fact.annotator)
        person.answers += 1
        person.unsure += fact.label is None
        person.count_recent(time, 1)
        if fact.lead is not None:
            person.seconds += fact.lead
            person.timed += 1
        if question.free_slot(time) is None:
            self._queue.remove(question)
        self._grace_ends.add(time + self.settings.grace, question.round)
        recent = self.stored.recent.setdefault(fact.annotator, [])
        recent.append(question.round)
        if len(recent) > UNDOABLE:
            self._settle(recent.pop(0), fact.annotator)

    def add_label(self, label: str | None) -> None:
        """Take a label into those of the stream, where the set of labels is open."""
        if self.settings.labels == OPEN and label is not None and label not in self.stored.labels:
            self.stored.labels.append(label)

    def relabel(self, label: str, new: str) -> None:
        """Use another name for a label everywhere; where both were given, they are one label from now on."""

        def now(each: Any) -> Any:
            if each is not None and self.settings.several:
                return label_sets.renamed(each, label, new)
            return new if each == label else each

        stored = self.stored
        stored.labels = list(dict.fromkeys(map(now, stored.labels)))
        for question in self.open.values():
            question.prediction, question.label, question.model = map(
                now, (question.prediction, question.label, question.model)
            )
            for answer in question.answers:
                answer.label = now(answer.label)
            question.judged = [
                replace(each, given=now(each.given), decided=now(each.decided)) for each in question.judged
            ]
        for known in stored.answered.values():
            known.label = now(known.label)
        for item in stored.gold.by_number.values():
            item.label = now(item.label)
            for given in item.given.values():
                given.label = now(given.label)
        for each in stored.corrections.values():
            each.prediction, each.model, each.label = map(now, (each.prediction, each.model, each.label))
        stored.people.relabel(now)

    def add_comment(self, round: int | None) -> None:
        """Note that a question has a comment."""
        if round is not None and round not in self.stored.commented:
            self.stored.commented.append(round)

    def _settle(self, round: int, annotator: str) -> None:
        """Make an answer final before its grace period ends, since newer answers of the annotator followed."""
        question = self.open.get(round)
        slot = None if question is None else question.slot_of(annotator)
        if question is not None and slot is not None:
            answer = question.slots[slot].answer
            if answer is not None:
                answer.settled = True
                self._settled_early.append(round)

    def _skipped(self, question: Question, fact: Skipped, time: float) -> None:
        question.skipped = [*question.skipped, fact.annotator]
        self.stored.gold.note_had(question.gold, fact.annotator, question.round)
        person = self.stored.people.person(fact.annotator)
        person.skipped += 1
        person.last = max(person.last, time)
        slot = question.slot_of(fact.annotator)
        if slot is not None and question.slots[slot].answer is None:
            question.slots[slot] = Slot()
            self._enqueue(question)
        self._unhold(question, fact.annotator)

    def _unskipped(self, question: Question, fact: Unskipped, time: float) -> None:
        question.skipped = [each for each in question.skipped if each != fact.annotator]
        self.stored.people.person(fact.annotator).skipped -= 1
        question.slots[fact.slot] = Slot(fact.annotator, fact.until)
        self._hold(question, fact.annotator, fact.until, time)

    def _undone(self, question: Question, fact: Undone, time: float) -> None:
        self._uncount(question)
        if question.gold:
            self._undo_gold(question, fact.annotator)
        answer = question.slots[fact.slot].answer
        if answer is not None:
            self.stored.people.person(fact.annotator).count_recent(answer.time, -1)
        question.slots[fact.slot] = Slot(fact.annotator, fact.until)
        question.disputed = question.closed = False
        question.forgotten = ""
        self.stored.people.person(fact.annotator).undone += 1
        recent = self.stored.recent.get(fact.annotator, [])
        if question.round in recent:
            recent.remove(question.round)
        self._hold(question, fact.annotator, fact.until, time)
        self._schedule_expiry(question)

    def _disputed(self, question: Question, fact: Disputed, time: float) -> None:
        question.disputed = True
        self._count(question)
        self._queue.remove(question)

    def _reviewed(self, question: Question, fact: Reviewed, time: float) -> None:
        self.add_label(fact.label)
        question.disputed, question.reviewed, question.reviewer = False, True, fact.annotator

    def _review_undone(self, question: Question, fact: ReviewUndone, time: float) -> None:
        question.reviewed, question.disputed, question.forgotten = False, fact.disputed, fact.why
        question.reviewer = ""
        if fact.disputed or fact.reopened:
            question.closed = False
        if fact.disputed:
            self._judge(question, judgements(question, self.settings.within))
        if fact.reopened:
            self._uncount(question)
            self._schedule_expiry(question)
            if question.free_slot(time) is not None:
                self._enqueue(question)

    def _reserved(self, question: Question, fact: Reserved, time: float) -> None:
        question.reserved = fact.who
        for i, slot in enumerate(question.slots):  # its holder may be another person; a member of a group gets it again
            if fact.who and slot.answer is None and slot.annotator not in ("", *fact.who):
                self._unhold(question, slot.annotator)
                question.slots[i] = Slot()
        if question.free_slot(time) is not None and not question.disputed:
            self._enqueue(question)

    def _told(self, question: Question, fact: Told, time: float) -> None:
        question.told, question.model, question.label = True, fact.label, fact.label
        self.stored.told += not question.copy
        if question.content:
            first = KnownAnswer(question.round, question.seq, fact.label)
            self.stored.answered.setdefault(question.content, first)
        self._close(question)

    def _forgotten(self, question: Question, fact: Forgotten, time: float) -> None:
        if not question.told:  # otherwise it was reopened by an undo, and the model keeps the label that it learnt
            question.told, question.model = True, None
            self.stored.forgotten += 1
        question.label, question.forgotten = None, fact.why
        self._correct_content(question)
        self._close(question)

    def _correct_content(self, question: Question) -> None:
        """Give the content of a question its current label, if this was the first question about it."""
        known = self.stored.answered.get(question.content)
        if known is not None and known.round == question.round:
            if question.label is None:
                del self.stored.answered[question.content]
            else:
                known.label = question.label
        elif question.label is not None and known is None and question.content and not question.copy:
            self.stored.answered[question.content] = KnownAnswer(question.round, question.seq, question.label)

    def forget_contents(self, seqs: Container[int]) -> None:
        """Know the contents of these instances no longer, since they are erased."""
        answered = self.stored.answered
        self.stored.answered = {content: known for content, known in answered.items() if known.seq not in seqs}
        for question in self.open.values():
            if question.seq in seqs:
                question.content = ""

    def _corrected(self, question: Question, fact: Corrected, time: float) -> None:
        question.label = fact.label
        self._correct_content(question)
        self.stored.corrections.pop(question.round, None)
        if question.label != question.model:
            self.stored.corrections[question.round] = Correction(
                question.played,
                question.probability,
                question.level,
                question.margin,
                question.prediction,
                question.model,
                question.label,
            )
        if (question.is_full or question.closed) and not question.disputed:
            self._close(question)

    def _close(self, question: Question) -> None:
        """Remove a question from memory; the log has it."""
        question.closed = True
        self._count(question)
        self._queue.remove(question)
        self.open.pop(question.round, None)

    def _count(self, question: Question) -> None:
        self._judge(question, judgements(question, self.settings.within))
        if not question.counted and len(question.slots) > 1:
            question.counted = True
            self.stored.people.count(question, 1, self.settings.within)

    def _judge(self, question: Question, now: list[Judgement]) -> None:
        """Count these judgements of a question, instead of those before."""
        people, within = self.stored.people, self.settings.within
        for each in question.judged:
            people.judge(each, -1, within)
        for each in now:
            people.judge(each, 1, within)
        question.judged = now

    def _uncount(self, question: Question) -> None:
        self._judge(question, [])
        if question.counted:
            question.counted = False
            self.stored.people.count(question, -1, self.settings.within)


_APPLY: dict[type[Fact], Callable[[QuestionState, Question, Any, float], None]] = {
    Leased: QuestionState._leased,
    Released: QuestionState._released,
    Answered: QuestionState._answered,
    Skipped: QuestionState._skipped,
    Unskipped: QuestionState._unskipped,
    Undone: QuestionState._undone,
    Disputed: QuestionState._disputed,
    Reviewed: QuestionState._reviewed,
    ReviewUndone: QuestionState._review_undone,
    Reserved: QuestionState._reserved,
    Told: QuestionState._told,
    Forgotten: QuestionState._forgotten,
    Corrected: QuestionState._corrected,
    GoldChosen: QuestionState._gold_chosen,
    GoldClosed: QuestionState._gold_closed,
}

ABOUT_QUESTIONS = frozenset(_APPLY)
"""The facts that change a question."""
