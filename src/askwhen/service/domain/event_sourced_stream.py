"""A stream's state, model and questions, rebuilt by applying its events in order.

The same events have the same effect when they happen and when they are read from the log again. Nothing here depends on
a clock or a database.
"""

from __future__ import annotations

import weakref
from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from ..errors import NotFoundError, StoreError
from ..events.kinds import (
    Advised,
    Changed,
    Commented,
    Corrected,
    Erased,
    Fact,
    Flagged,
    Forgotten,
    GoldAdded,
    GoldChosen,
    GoldPlaced,
    GoldRemoved,
    Handled,
    Instance,
    LabelRenamed,
    LabelsAdded,
    LabelsMerged,
    PromiseChecked,
    Received,
    Renamed,
    Replayed,
    SettingsChanged,
    Told,
    Volunteered,
    WentOn,
    Withdrawn,
    facts_of,
)
from ..events.label_names import LabelNames, Relabelled
from ..events.settings import Settings
from ..store.records import Event
from . import deliveries, row_codec
from .model import Model
from .question_snapshot import QuestionSnapshot
from .question_state import ABOUT_QUESTIONS, QuestionState
from .questions import UNPLAYED, Question, retrained
from .repeats import content_of
from .setting_changes import Changes, changed, relabelled
from .summary import StreamSummary

_NOT_ABOUT_QUESTIONS = (Volunteered, Received, Handled, Commented, Flagged, Advised)
"""Facts about an instance that do not change its question."""


class StreamState(msgspec.Struct):
    """What a snapshot stores of a stream, apart from its model.

    ``replays`` are the events that retrained the model, ``unasked`` the questions that the retrained model would not
    have asked, and ``passed`` the rounds that it has not played, as `Retraining` says. The contents of
    all instances up to the event ``erased`` are erased. ``spent`` says whether the budget is spent. ``changes`` are
    changes of the settings, each with its event. ``received`` are the events with labels from other tools that have not
    been handled yet. ``pair`` are the labels of a model of two, the negative one first; ``relabelled`` has the labels
    that were renamed or merged. ``returned`` is the number of rounds whose label was withheld.
    ``promise`` says whether the promise was "met" for all that came, or is "broken". ``gold`` is the number of rounds
    that are gold questions, which no model plays.
    """

    name: str
    questions: QuestionSnapshot = msgspec.field(name="books")
    round: int = 0
    time: float = 0.0
    paused: bool = False
    archived: bool = False
    replays: list[int] = []
    unasked: set[int] = set()
    passed: list[int] = []
    erased: int = 0
    spent: bool = False
    changes: list[tuple[int, Changes]] = []
    received: list[int] = []
    placed: int = 0
    pair: list[str] = []
    relabelled: list[Relabelled] = []
    returned: int = 0
    promise: str = ""
    gold: int = 0

    @property
    def instances(self) -> int:
        """The number of rounds that the model played, or would have without erased instances."""
        return self.round - self.gold


def summary_of(state: StreamState) -> StreamSummary:
    """The counts in a state."""
    stored, questions = state.questions, state.questions.questions
    return StreamSummary(
        state.name,
        "archived" if state.archived else "paused" if state.paused else "active",
        state.instances,
        stored.asked,
        stored.told,
        stored.forgotten,
        sum(not question.is_full for question in questions),
        sum(question.disputed for question in questions),
        len(stored.corrections),
        erased=state.erased,
    )


def decision_of(fact: Instance) -> str | None:
    """Whether a round asked for certain, since its label was known; otherwise the rule decides."""
    return None if fact.repeats is None else "certain"


class StreamLog:
    """The events of one stream: those in the store, and those that wait for their commit.

    Parameters
    ----------
    event : callable
        ``event(seq)`` gives a committed event, or None.
    of_question : callable
        ``of_question(round)`` gives the committed events about the instance of a round, in order.

    Attributes
    ----------
    uncommitted : list of Event
        Events that have been applied in memory and wait for their commit.
    names : LabelNames
        The current names of labels, which the events read here have.
    """

    def __init__(self, event: Callable[[int], Event | None], of_question: Callable[[int], list[Event]]) -> None:
        self._event, self._of_question = event, of_question
        self.uncommitted: list[Event] = []
        self.names = LabelNames()

    def event(self, seq: int) -> Event:
        """A committed event."""
        found = self._event(seq)
        if found is None:
            raise NotFoundError(f"the log has no event {seq}.", owner="serve")
        return self.names.event(found)

    def of_question(self, round: int) -> list[Event]:
        """All events about the instance of a round, in order."""
        found = [*self._of_question(round), *(event for event in self.uncommitted if event.question == round)]
        return [self.names.event(event) for event in found]


class EventSourcedStream:
    """A stream as the events up to ``seq`` have made it.

    Parameters
    ----------
    created : Settings
        The settings that the stream was created with; ``settings`` are those after all changes.
    state : StreamState
        From a snapshot, or a new one.
    model : Model
        From the same snapshot, or a new one.
    log : StreamLog
        Where closed questions and older instances are read from.
    seq : int
        The last event that state and model include.
    """

    def __init__(self, created: Settings, state: StreamState, model: Model, log: StreamLog, seq: int = 0) -> None:
        self.created, self._log = created, log
        self.state, self.seq = state, seq
        log.names = LabelNames(state.relabelled, created.several)
        self.settings = changed(created, *(changes for _, changes in state.changes))
        # A weak reference, since a cycle would keep an unloaded stream in memory: recovered objects are frozen for the
        # garbage collector (gc.freeze), which would never find it.
        this = weakref.ref(self)

        def recall(round: int) -> Question | None:
            stream = this()
            return None if stream is None else stream.recall(round)

        self.questions = QuestionState(self.settings, recall, state.questions)
        self.model = model

    def settings_at(self, seq: int) -> Settings:
        """The settings as they were when an event was recorded."""
        if not self.state.changes or seq > self.state.changes[-1][0]:
            return self.settings
        return changed(self.created, *(changes for at, changes in self.state.changes if at < seq))

    def summary(self) -> StreamSummary:
        """The current counts."""
        self.state.questions = self.questions.dump()
        summary = summary_of(self.state)
        summary.updates = self.model.sampler.updates
        return summary

    def dump(self) -> tuple[int, bytes, Callable[[], bytes]]:
        """Everything that a snapshot stores: the last event, the state, and a function that packs the model."""
        self.state.questions = self.questions.dump()
        self.state.pair = self.model.pair
        return self.seq, msgspec.json.encode(self.state), self.model.dump()

    def content(self, row: bytes | None, shown: bytes | None) -> str:
        """The content of an instance, where answers are used again; otherwise empty."""
        return content_of(self.settings.seed or 0, row, shown) if self.settings.repeats and row is not None else ""

    def add_round(self, fact: Instance, seq: int, time: float, content: str) -> None:
        """Take over a round that the model has played or skipped."""
        self.state.round += 1
        self.state.placed = max(self.state.placed, fact.place, fact.back)
        self.state.returned += fact.withheld
        if self.state.promise == "met" and (fact.asked or fact.withheld or fact.place):
            self.state.promise = ""  # not all that came is delivered, or more came than when it was met
        if fact.probability > 0.0 or fact.spent:
            self.state.spent = fact.spent
        if fact.asked:
            self.questions.add(fact, seq, time, content)
        self.seq, self.state.time = seq, time

    def replay(self, event: Event, fact: Instance) -> None:
        """Play a stored round again, and require the stored decision, bit for bit."""
        ask, coin, _, _ = self.model.ask(row_codec.from_bytes(event.row), event.time, decision_of(fact), fact.advice)
        found = (ask.round, self.model.word(ask.prediction), ask.margin, ask.probability, coin, ask.query)
        stored = (fact.played, fact.prediction, fact.margin, fact.probability, fact.coin, fact.asked)
        certainty = self.model.least_certain(fact.certainty)  # earlier versions stored smaller ones
        more = (ask.certainty, ask.uncertainty, ask.expected, ask.withheld)
        if found != stored or more != (certainty, fact.uncertainty, fact.expected, fact.withheld):
            raise StoreError(
                f"round {fact.round} of stream {self.state.name}, played again, does not give the decision in the log: "
                f"{found} instead of {stored}; askwhen serve --from-snapshots continues without playing again.",
                owner="serve",
            )

    def skip_round(self, event: Event, fact: Instance) -> None:
        """Take over a stored round without playing it: its decision holds, but the model has not seen it."""
        self._expect(event)
        deliveries.add_round(self.model, fact)
        self.add_round(fact, event.seq, event.time, self.content(event.row, event.shown))
        if fact.asked:
            self.questions.open[fact.round].played = UNPLAYED

    def _expect(self, event: Event) -> None:
        if event.seq != self.seq + 1:
            raise StoreError(f"the log of stream {self.state.name} lacks event {self.seq + 1}.", owner="serve")

    def apply(self, event: Event, fact: Fact) -> None:
        """Apply any event but a round."""
        self._expect(event)
        if isinstance(fact, (Told, Forgotten)):
            self._teach(event, fact)
        if self.model.has_promise:
            self._note_delivery(event, fact)
        if event.question is not None and type(fact) in ABOUT_QUESTIONS:  # by far the most
            self.questions.apply(event.question, fact, event.time)
        elif isinstance(fact, Volunteered):
            self._learn_unsolicited(fact)
        elif isinstance(fact, Received):
            self.state.received.append(event.seq)
        elif isinstance(fact, Handled):
            self.state.received.remove(fact.received)
        elif isinstance(fact, Commented):
            self.questions.add_comment(event.question)
        elif isinstance(fact, (Flagged, Advised)):
            pass  # only the listing knows flags, and advice that came too late changes nothing
        elif isinstance(fact, GoldPlaced):
            self.state.round, self.state.gold = self.state.round + 1, self.state.gold + 1
            self.questions.add_gold(fact, event.time)
        elif isinstance(fact, (GoldAdded, GoldRemoved)):
            self.questions.change_gold(fact, event.seq, self._content_of_gold(event, fact))
        elif isinstance(fact, Renamed):
            self.state.name = fact.name
        elif isinstance(fact, Changed):
            self.state.paused = event.kind == "paused"
            self.state.archived = event.kind == "archived"
        elif isinstance(fact, SettingsChanged):
            self._change(event.seq, fact.changes)
        elif isinstance(fact, LabelsAdded):
            self._add_labels(event.seq, fact.labels)
        elif isinstance(fact, LabelRenamed):
            self._relabel(event.seq, fact.label, fact.to)
            self.model.rename(fact.label, fact.to)
        elif isinstance(fact, LabelsMerged):  # a model that knows only the other one follows, with ``Replayed``
            self._relabel(event.seq, fact.label, fact.into)
        elif isinstance(fact, Replayed):
            self.state.replays.append(event.seq)
            for question in self.questions.open.values():
                self._retrained(question)
        elif isinstance(fact, Erased):
            self.state.erased = max(self.state.erased, fact.until)
        elif isinstance(fact, PromiseChecked):
            self.state.promise = event.kind.removeprefix("promise ")
        elif isinstance(fact, Withdrawn):
            self.state.placed = max(self.state.placed, fact.last)
        elif not isinstance(fact, WentOn):
            raise StoreError(
                f"event {event.seq} of stream {self.state.name} has a kind that is not about a stream.", owner="serve"
            )
        self.seq, self.state.time = event.seq, event.time

    def _content_of_gold(self, event: Event, fact: GoldAdded | GoldRemoved) -> str:
        """The content by which the same gold question is known again; empty once it was erased."""
        if isinstance(fact, GoldRemoved) or fact.instance:
            return ""
        return "" if event.row is None else content_of(self.settings.seed or 0, event.row, event.shown)

    def _change(self, seq: int, changes: Changes) -> None:
        self.state.changes.append((seq, changes))
        self.settings = changed(self.settings, changes)
        self.questions.change(self.settings)
        if "budget" in changes:
            self.model.change_budget(self.settings, self.questions.stored.asked)
        if "advisers" in changes:
            self.model.add_advisers(self.settings)

    def _add_labels(self, seq: int, labels: list[str]) -> None:
        """Offer more labels; where they are not open, a model that knows them follows, with ``Replayed``."""
        if isinstance(self.settings.labels, str):
            for label in labels:
                self.questions.add_label(label)
        else:
            self._change(seq, {"labels": [*self.settings.labels, *labels]})

    def _relabel(self, seq: int, label: str, new: str) -> None:
        """Use another name for a label, also where it was given before."""
        self.state.relabelled = [*self.state.relabelled, (seq, label, new)]  # other threads read the former list
        self._log.names = LabelNames(self.state.relabelled, self.settings.several)
        self.questions.relabel(label, new)
        self._change(seq, relabelled(self.settings, label, new))

    def _teach(self, event: Event, fact: Told | Forgotten) -> None:
        """Give the label of a question to the model, or drop the question.

        Where the model does not have the question open, since it continued from a snapshot or was retrained, the label
        is learnt like an unsolicited one.
        """
        question = self.questions.find(event.question if event.question is not None else -1)
        if self.model.waits(question.played):
            if isinstance(fact, Told):
                self.model.tell(question.played, fact.label)
            else:
                self.model.forget(question.played)
        elif isinstance(fact, Told):
            self.model.learn(self.instance(question.seq), fact.label)

    def _note_delivery(self, event: Event, fact: Fact) -> None:
        """Note in the account of the promise what changes the delivered labels."""
        round = -1 if event.question is None else event.question
        if isinstance(fact, (Told, Forgotten)):
            deliveries.note_outcome(self.model, self.questions.find(round), fact)
        elif isinstance(fact, Corrected):
            question = self.questions.find(round)
            deliveries.note_correction(self.model, question, fact, facts_of(self._log.event(question.seq)))
        elif isinstance(fact, Volunteered):
            history = map(facts_of, self.history(round))
            before = [each for each in history if isinstance(each, Volunteered)]
            deliveries.note_unsolicited(self.model, facts_of(self._log.event(fact.instance)), before, fact)

    def _learn_unsolicited(self, fact: Volunteered) -> None:
        """Learn a label that was not asked for, as ``Sampler.learn`` does."""
        if fact.learnt and fact.label is not None:
            self.model.learn(self.instance(fact.instance), fact.label)
        self.questions.add_label(fact.label)

    def instance(self, seq: int) -> Any:
        """The instance of a committed event, as it was predicted on."""
        return row_codec.from_bytes(self._log.event(seq).row)

    def read(self, events: Iterable[Event]) -> None:
        """Read events from the log: rounds are played again, all other events are applied."""
        for event in events:
            fact = facts_of(event)
            if isinstance(fact, Instance):
                self._expect(event)
                self.replay(event, fact)
                self.add_round(fact, event.seq, event.time, self.content(event.row, event.shown))
            else:
                self.apply(event, fact)

    def history(self, round: int) -> list[Event]:
        """All events so far about the instance of a round that was asked about or labelled, in order."""
        return [event for event in self._log.of_question(round) if event.seq <= self.seq]

    def before_review(self, round: int) -> Question:
        """A question as it was before the first decision of a reviewer, or as it is if there was none."""
        first = next((event.seq for event in self.history(round) if event.kind == "reviewed"), self.seq + 1)
        return self.recall(round, first) or self.questions.find(round)

    def recall(self, round: int, until: int | None = None) -> Question | None:
        """A question, made again from its events before ``until``; None where the round has none."""
        questions, found = QuestionState(self.created, lambda _: None), None
        replays = iter([*self.state.replays, self.seq + 1])
        replay = next(replays)
        for event in self.history(round):
            if until is not None and event.seq >= until:
                break
            while replay < event.seq:
                if found is not None:
                    self._retrained(found)
                replay = next(replays)
            fact = facts_of(event)
            if isinstance(fact, Instance):
                questions.settings = self.settings_at(event.seq)
                content = self.content(event.row, event.shown) if questions.settings.repeats else ""
                questions.add(fact, event.seq, event.time, content)
                found = questions.open[round]
                found.erased = event.row is None
            elif isinstance(fact, GoldPlaced):
                questions.settings = self.settings_at(event.seq)
                found = questions.add_gold(fact, event.time)
            elif found is not None and not isinstance(fact, _NOT_ABOUT_QUESTIONS):
                questions.open[round] = found
                questions.apply(round, fact, event.time)
                if isinstance(fact, GoldChosen):
                    found.erased = self._log.event(fact.instance).row is None
        if found is not None and replay <= self.seq:
            self._retrained(found)
        return found

    def _retrained(self, question: Question) -> None:
        """Update a question for the retrained model."""
        state, round = self.state, question.round
        before = bisect_left(state.passed, round)
        known = state.passed[before : before + 1] != [round]
        retrained(question, round - before if known and round not in state.unasked else UNPLAYED, known)
