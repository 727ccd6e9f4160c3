"""One stream: what may be done to it, and when it is in memory. Nothing here depends on HTTP, SQL or a clock.

A command checks, then records an event: the event gets its number, is applied in memory, and waits in ``uncommitted``
until the coordinator commits it. Before that commit no reply may depend on it.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from ...engine.inputs.advice import ANY, check_advice
from ...errors import AskwhenError, InputError
from ...rules.budget import labels_by
from ..errors import ConflictError, NotFoundError, SetAsideError
from ..events import label_sets, numbers
from ..events.advice import Advice, GivenAdvice, packed, unpacked
from ..events.kinds import (
    WITHHELD,
    Commented,
    Corrected,
    Fact,
    GoldAdded,
    GoldChosen,
    GoldPlaced,
    GoldRemoved,
    Instance,
    Leased,
    PromiseChecked,
    Told,
    Undone,
    Volunteered,
    Withdrawn,
    encoded,
    facts_of,
    id_of,
)
from ..events.label_names import LabelNames
from ..events.label_sets import Label
from ..events.numbers import NUMBERS
from ..events.settings import Settings, check_backlog
from ..store.records import BacklogItem, Event
from . import row_codec
from .backlog import MOST_AT_ONCE, PER_PERSON, Backlog, rank_of
from .event_sourced_stream import EventSourcedStream, StreamLog, StreamState
from .features import FeatureReader
from .gold import MOST_GOLD, UNCHOSEN, is_drawn
from .model import Model
from .people import People
from .question_commands import QuestionCommands, QuestionFact
from .question_snapshot import QuestionSnapshot
from .question_state import QuestionState
from .questions import DAY, is_overlap
from .repeats import content_of
from .summary import StreamSummary

ERASED = "the contents of this instance were erased, so that nothing can be learnt."
ASKED, COIN, SPENT, SURE = "worth asking", "the coin said no", "the budget is spent", "not worth asking"
REPEATED, HELD_BACK = "answered before", "the promise allows no label now"
_ROUNDS_TO_KNOW = 100
"""Rounds after which the share of questions says how many are to come."""

_MOST_OPEN = 10
"""Open questions of a backlog beyond which annotators get no new ones, as a multiple of those that should wait."""

MOST_FURTHER = 10
"""Questions for others that are decided about while an annotator waits for one of their own."""

_MOST_WITHHELD = 20
"""Labels of a backlog that are withheld between two answers, where no question waits for people."""

DecidedRound = tuple[Event, Instance]
"""A round as an event, and its facts."""


def no_stream(name: str) -> NotFoundError:
    """What is raised where there is no stream of a name, or none that the caller may see."""
    return NotFoundError(f"there is no stream {name[:100]!r}.", owner="stream")


class NewInstance(NamedTuple):
    """A checked instance: features, what annotators see, key, priority, subject, source, place in a backlog, advice."""

    x: Any
    shown: bytes | None = None
    key: str | None = None
    priority: float = 0.0
    subject: str | None = None
    source: str | None = None
    place: int = 0
    advice: GivenAdvice | None = None


class NewGold(NamedTuple):
    """A gold question: its label, an instance of its own or the event of one of the stream, and who knows it."""

    label: str
    made: NewInstance | Event
    known_to: Sequence[str] = ()


class ServiceStream:
    """A stream, whether it is in memory, on disk only, or set aside because its model failed.

    Parameters
    ----------
    number : int
        The number of its log.
    name : str
        Its first name.
    settings : Settings
        The settings that it was created with.
    event, of_question : callable
        Read committed events: one by its number, or those about the instance of a round.
    begin : bool, default True
        False leaves the stream without content until ``begin`` is called.
    backlog : Backlog, optional
        Instances that wait for their decision; without it there are none that are stored.

    Attributes
    ----------
    aside : str
        Why the stream is set aside, in a sentence; empty where it is not. ``current`` raises SetAsideError then.
    reader : FeatureReader
        Turns raw input into instances.
    people : People
        The groups of the service, and who is away; the coordinator sets it.
    """

    def __init__(
        self,
        number: int,
        name: str,
        settings: Settings,
        event: Callable[[int], Event | None],
        of_question: Callable[[int], list[Event]],
        begin: bool = True,
        backlog: Backlog | None = None,
    ) -> None:
        self.number, self.aside, self.people = number, "", People()
        self.backlog = Backlog(lambda: (0, 0), lambda _shuffled, _limit: []) if backlog is None else backlog
        self.reader = FeatureReader(settings.features, settings.version)
        self._created, self._log = settings, StreamLog(event, of_question)
        self._current: EventSourcedStream | None = None
        self._load: Callable[[], None] | None = None
        self._withheld, self._checked = (0, 0), -1
        # What is known of the stream while ``_current`` is None.
        self._last_summary, self._last_settings, self._last_seq = StreamSummary(name), settings, 0
        if begin:
            self.begin()

    # In memory or not.

    @property
    def current(self) -> EventSourcedStream:
        """The stream as its log has made it; loaded where it is not in memory."""
        if self._current is None and self.aside:
            raise SetAsideError(self.aside, owner="stream")
        if self._current is None and self._load is not None:
            self._load()
        if self._current is None:
            raise RuntimeError("the stream has not been recovered")
        return self._current

    @property
    def loaded(self) -> bool:
        """Whether the stream is in memory."""
        return self._current is not None

    def begin(self) -> None:
        """Start with a model that has played no round."""
        state = StreamState(self._last_summary.name, QuestionSnapshot())
        self._current = EventSourcedStream(self._created, state, Model(self._created), self._log)

    def restore(self, seq: int, state: bytes, model: bytes) -> None:
        """Start from a snapshot."""
        found = msgspec.json.decode(state, type=StreamState)
        self._current = EventSourcedStream(
            self._created, found, Model.load(self._created, model, found.pair), self._log, seq
        )

    def unload(self, load: Callable[[], None]) -> None:
        """Release the memory of a stream that is stored as it is; ``load`` brings it back."""
        self._load = load
        self._release(self.summary())

    def set_aside(self, why: str, summary: StreamSummary | None = None, seq: int | None = None) -> None:
        """Stop using the stream because its model failed. Events that are not committed are dropped."""
        if summary is None:
            summary = StreamSummary(self.name)
            with contextlib.suppress(Exception):  # what failed may be half-changed
                summary = self.summary()
        self.aside = (
            f"the stream {summary.name} is set aside, since {why}; its log is kept, other streams go on, and the next "
            "start of the service tries it again."
        )
        self._release(summary)
        dropped = self.pop_uncommitted()
        self.backlog.reset()
        if dropped:
            self._last_seq = dropped[0].seq - 1
        if seq is not None:
            self._last_seq = seq

    def set_deleted(self) -> None:
        """Refuse whatever still wants to use a stream that was deleted."""
        self.aside = f"the stream {self.name} was deleted."
        self._release(self.summary())
        self.pop_uncommitted()
        self.backlog.reset()

    def _release(self, summary: StreamSummary) -> None:
        self._last_summary, self._last_settings, self._last_seq = summary, self.settings, self.seq
        self._current = None

    def pop_uncommitted(self) -> list[Event]:
        """The events that wait for their commit; they wait no longer."""
        found, self._log.uncommitted = self._log.uncommitted, []
        return found

    @property
    def uncommitted(self) -> list[Event]:
        """Events that have been applied and wait for their commit."""
        return self._log.uncommitted

    @property
    def has_uncommitted(self) -> bool:
        """Whether an event or a change of the backlog waits for its commit."""
        return bool(self.uncommitted) or self.backlog.has_changed

    @property
    def name(self) -> str:
        """The current name."""
        return self._last_summary.name if self._current is None else self._current.state.name

    @property
    def settings(self) -> Settings:
        """The current settings."""
        return self._last_settings if self._current is None else self._current.settings

    @property
    def label_names(self) -> LabelNames:
        """The current names of labels in its log."""
        return self._log.names

    def label_now(self, label: str | None) -> str | None:
        """A label by its current name; its former name is taken too, unless another label has it."""
        if label is not None and self.settings.several:
            return self._set_now(label)
        if label is not None and self.settings.labels == NUMBERS:
            return numbers.written(numbers.read(label))
        return label if label in self.questions.labels else self.label_names.now(label)

    def _set_now(self, text: str) -> str | None:
        """A set of labels by their current names; former ones are taken too."""
        given = label_sets.read(text)
        if all(each in self.questions.labels for each in given):
            return label_sets.written(given)
        return self.label_names.now(label_sets.written(given))

    def seen_label(self, label: str | None) -> Label | None:
        """A label as clients see it: a list where several may apply at once, or a number."""
        if label is None or not (self.settings.several or self.settings.labels == NUMBERS):
            return label
        return label_sets.read(label) if self.settings.several else numbers.read(label)

    @property
    def seq(self) -> int:
        """The number of the last event."""
        return self._last_seq if self._current is None else self._current.seq

    @property
    def state(self) -> StreamState:
        """Its state; loaded where it is not in memory, as are the model and the questions."""
        return self.current.state

    @property
    def model(self) -> Model:
        """Its model."""
        return self.current.model

    @property
    def questions(self) -> QuestionState:
        """Its questions."""
        return self.current.questions

    @property
    def commands(self) -> QuestionCommands:
        """What may be done to its questions."""
        return QuestionCommands(self.current.questions, self.people)

    def is_for(self, annotator: str) -> bool:
        """Whether an annotator is in its team."""
        return self.people.includes(self.settings.team, annotator)

    def summary(self) -> StreamSummary:
        """Its counts; while it is not in memory, the last ones that are known."""
        return self._last_summary if self._current is None else self._current.summary()

    def dump(self) -> tuple[int, bytes, Callable[[], bytes]]:
        """Everything that a snapshot stores: the last event, the state, and a function that packs the model."""
        return self.current.dump()

    def event(self, seq: int) -> Event:
        """A committed event."""
        return self._log.event(seq)

    # Commands.

    def check_playing(self) -> None:
        """Refuse instances while the stream is paused or archived."""
        if self.state.archived:
            raise ConflictError(f"the stream {self.name} is archived.", owner="instance")
        if self.state.paused:
            raise ConflictError(f"the stream {self.name} is paused; resume it first.", owner="instance")

    def accept(self, new: NewInstance, now: float) -> BacklogItem:
        """Put an instance into the backlog, for which the model has given a prediction, so that it can be played."""
        check_backlog(self.settings)
        row, size = row_codec.to_bytes(new.x), self.backlog.row_size
        if self.settings.features.kind == "numbers" and size not in (None, len(row)):
            raise InputError(
                "the instance has another number of features than others in the backlog.", owner="instance"
            )
        return self._add_to_backlog(new, row, self._time(now))

    def hear(self, item: BacklogItem, given: GivenAdvice) -> None:
        """Add advice to a committed instance of the backlog; what an adviser said before is replaced."""
        names, before = self.label_names, unpacked(item.advice)
        said = ({} if before is None else names.advice(before)) | names.advice(given)
        self.backlog.replace(item._replace(advice=packed(GivenAdvice(self.seq, said))))

    def _add_to_backlog(self, new: NewInstance, row: bytes, time: float) -> BacklogItem:
        place = self.backlog.last(self.state.placed) + 1
        item = BacklogItem(
            self.number,
            place,
            rank_of(self.settings.seed or 0, place),
            time,
            new.key,
            new.subject,
            new.source,
            new.priority,
            row,
            new.shown,
            packed(new.advice),
        )
        self.backlog.add(item)
        return item

    def decide(self, now: float) -> DecidedRound | None:
        """Play a round on the next instance of the backlog; None where there is none that is committed."""
        item = self.backlog.first(self.settings.backlog.shuffle)
        if item is None:
            return None
        x = row_codec.from_bytes(item.row)
        given = unpacked(item.advice)
        new = NewInstance(x, item.shown, item.key, item.priority, item.subject, item.source, item.place, given)
        found = self.play(new, now)
        self.backlog.take(self.number, [item.place])
        return found

    def decide_until(self, waiting: int, now: float, most: int) -> int:
        """Decide instances of the backlog until so many questions wait, at most so many; returns their number."""
        if not len(self.backlog) or self.state.paused or self.state.archived:
            return 0
        missing = waiting - self.questions.unanswered
        for number in range(most):
            if missing <= 0 or self._waits_for_last_answers(now) or self._waits_for_promise():
                return number
            found = self.decide(now)
            if found is None:
                return number
            missing -= found[1].is_question
            if found[1].withheld:
                self._withheld = self._outcomes, self._number_withheld + 1
        return most

    @property
    def _outcomes(self) -> int:
        """Number of questions that were answered or dropped."""
        return self.questions.stored.told + self.questions.stored.forgotten

    @property
    def _number_withheld(self) -> int:
        """Number of labels that were withheld since the last answer."""
        outcomes, number = self._withheld
        return number if outcomes == self._outcomes else 0

    def _waits_for_promise(self) -> bool:
        """Whether the promise can deliver nothing now, so that further decisions would only withhold labels.

        That is until another answer comes, while people have questions; and for good where the budget is spent.
        """
        if not self.model.has_promise:
            return False
        return self.is_promise_spent() or self._number_withheld >= (1 if self.questions.unanswered else _MOST_WITHHELD)

    def is_promise_spent(self) -> bool:
        """Whether the budget of a promise allows no further question, so that nothing can be certified either."""
        budget, asked = self.settings.budget, self.questions.stored.asked
        if budget is None or budget.errors is None:
            return False
        most = math.inf if budget.most is None else budget.most
        share = math.inf if budget.rate is None else budget.rate * self.instances + _MOST_WITHHELD
        return asked >= min(most, share)

    @property
    def instances(self) -> int:
        """Number of instances that came, those that wait in the backlog included."""
        return self.state.instances - self.state.returned + len(self.backlog)

    def decide_further(self, now: float, annotator: str) -> None:
        """Decide instances of the backlog until one more question waits, for an annotator who can answer no other.

        Where too many questions wait already that the annotator may answer as far as others let them, others must
        answer these first; what waits for specialists keeps no other annotator from work.
        """
        tries = MOST_FURTHER if self.settings.specialists else 1
        for _ in range(tries):
            if self.commands.waiting_for(annotator, self._time(now)) >= _MOST_OPEN * self.wanted_questions(1):
                return
            decided = self.decide_until(self.questions.unanswered + 1, now, MOST_AT_ONCE // tries)
            if decided == 0 or (tries > 1 and self.commands.open_to(annotator, self._time(now))):
                return

    def _waits_for_last_answers(self, now: float) -> bool:
        """Whether nothing can be asked any more and answers are still to come, which the other decisions need."""
        left = self.model.sampler.labels_left(now)
        return left is not None and left < 1.0 and self.questions.unanswered > 0

    def wanted_questions(self, people: int) -> int:
        """Number of questions that should wait, given the number of active people."""
        questions = self.settings.backlog.questions
        return PER_PERSON * max(people, 1) if questions is None else questions

    def questions_to_come(self) -> float | None:
        """About how many instances of the backlog will be asked about; None while too few rounds were played."""
        number, budget, rounds = len(self.backlog), self.settings.budget, self.state.instances
        if budget is not None and budget.rate is not None and not self.model.has_promise:
            classes = max(len(self.questions.labels), 2) if self.model.has_budget else 2
            asked = self.questions.stored.asked
            if any("budget" in changes for _, changes in self.state.changes):
                asked = round(labels_by(budget.rate, rounds, classes))  # of an earlier budget, which is over
            found = max(labels_by(budget.rate, rounds + number, classes) - asked, 0.0)
        elif self.model.has_promise:
            foreseen = self.model.sampler.promise.expected_questions(number)
            if foreseen is None:
                return 0.0 if number == 0 else None
            found = foreseen
        elif rounds >= _ROUNDS_TO_KNOW:
            found = number * self.questions.stored.asked / rounds
        else:
            return 0.0 if number == 0 else None
        left = self.model.sampler.labels_left(0.0) if budget is not None and budget.most is not None else None
        return min(found, number, math.inf if left is None else left)

    def withdraw(self, places: Sequence[int], by: str, now: float, source: str = "", erased: bool = False) -> Event:
        """Let committed instances leave the backlog without a decision."""
        self.backlog.take(self.number, places, erased)
        last = self.backlog.last(self.state.placed)
        return self.note("withdrawn", Withdrawn(by, len(places), last, source), now)

    def play(self, new: NewInstance, now: float) -> DecidedRound:
        """Play one round on an instance that ``reader`` made; the decision is an event.

        Where its content was answered before, the round asks for certain, and takes that answer.
        """
        current = self.current
        time, row = self._time(now), row_codec.to_bytes(new.x)
        content = current.content(row, new.shown)
        known = self.questions.stored.answered.get(content)
        advice = None if new.advice is None else self.label_names.advice(new.advice)
        if advice is not None and not new.place:  # others of its batch may have brought new advisers meanwhile
            check_advice("instance", advice, current.model.advisers, self.settings.advisers == ANY)
        ask, coin, switched, level = current.model.ask(new.x, time, None if known is None else "certain", advice)
        why = ASKED if ask.query else COIN if ask.probability > 0.0 else SPENT if self.model.has_budget else SURE
        back = self._add_to_backlog(new, row, time).place if ask.withheld else 0
        fact = Instance(
            self.state.round,
            self.model.word(ask.prediction),
            ask.margin,
            ask.probability,
            coin,
            ask.query,
            REPEATED if known is not None else HELD_BACK if ask.withheld else why,
            ask.round,
            ask.certainty,
            ask.uncertainty,
            level,
            new.priority,
            switched,
            not self.state.spent and ask.probability == 0.0 and self._is_spent(),
            new.place,
            new.source or "",
            None if known is None else known.round,
            None if known is None else known.label,
            ask.expected,
            ask.withheld,
            back,
            new.key[2:] if ask.withheld and new.key is not None else None,
            advice,
            ask.query and known is None and self._is_overlap(time),
            self._second(new, ask.prediction, advice) if ask.query and known is None else None,
        )
        key = f"{WITHHELD}{back}" if ask.withheld else new.key
        seq = current.seq + 1
        question = fact.round if ask.query else None
        event = Event(self.number, seq, time, "instance", question, key, encoded(fact), row, new.shown, new.subject)
        current.add_round(fact, seq, time, content)
        self.uncommitted.append(event)
        if known is not None:
            self.note("told", Told(known.label), now, fact.round)
        elif self._is_gold(ask.probability, time):
            doubt = 1.0 - ask.certainty if ask.certainty is not None else ask.uncertainty or 0.0
            round = self.state.round
            placed = GoldPlaced(round, doubt, new.priority, self._is_overlap(time))
            self.note(placed.event_kind, placed, now, round)
        return event, fact

    def _second(self, new: NewInstance, prediction: Any, advice: Advice | None) -> str | None:
        """The label that is likely besides the prediction, where it says whom to ask."""
        if not self.settings.specialists or not self.model.has_second:
            return None
        return self.model.second(new.x, self.model.word(prediction), advice)

    def _is_gold(self, probability: float, time: float) -> bool:
        """Whether a place for a gold question follows: at random, where an annotator who is at work has some left."""
        gold, share = self.questions.stored.gold, self.settings.gold
        if not gold.by_number or not share or not is_drawn(share, probability):
            return False
        people = self.questions.stored.people.persons.items()
        active = [name for name, each in people if each.last >= time - DAY]
        return not active or any(gold.left_for(name) for name in active)

    def add_gold(self, questions: Sequence[NewGold], by: str, now: float) -> int:
        """Take gold questions up, all or none; returns the number of those that the stream did not have."""
        gold, seed = self.questions.stored.gold, self.settings.seed or 0
        known: dict[int | str, str] = {item.content or item.seq: item.label for item in gold.by_number.values()}
        wanted: list[tuple[NewGold, str, bytes | None]] = []
        for each in questions:
            label = self.label_now(each.label) or each.label
            self.questions.check_label(label, "gold")
            made, row = each.made, None
            identity: int | str
            if isinstance(made, NewInstance):
                row = row_codec.to_bytes(made.x)
                identity = content_of(seed, row, made.shown)
            else:
                identity = made.seq
            if identity not in known:
                wanted.append((each, label, row))
            if known.setdefault(identity, label) != label:
                raise ConflictError(
                    f"this is a gold question already, with the label {known[identity]!r}; remove it first.",
                    owner="gold",
                    parameter="label",
                )
        if len(gold.by_number) + len(wanted) > MOST_GOLD:
            raise ConflictError(f"a stream has at most {MOST_GOLD:,} gold questions; remove some first.", owner="gold")
        for each, label, row in wanted:
            self._add_gold(each, label, row, by, self._time(now))
        return len(wanted)

    def _add_gold(self, given: NewGold, label: str, row: bytes | None, by: str, time: float) -> None:
        number, made = self.questions.stored.gold.last + 1, given.made
        known_to = sorted({*given.known_to, *([by] if by else [])})
        if isinstance(made, NewInstance):
            advice = None if made.advice is None else self.label_names.advice(made.advice)
            fact, shown, subject = GoldAdded(number, label, 0, known_to, advice, by), made.shown, made.subject
        else:
            fact, shown, subject = GoldAdded(number, label, made.seq, known_to, None, by), None, None
        seq, facts = self.seq + 1, encoded(fact)
        event = Event(self.number, seq, time, fact.event_kind, None, None, facts, row, shown, subject)
        self.current.apply(event, fact)
        self.uncommitted.append(event)

    def remove_gold(self, number: int, by: str, now: float) -> Event:
        """Ask a gold question no more, and do not count what was answered to it."""
        if number not in self.questions.stored.gold.by_number:
            raise NotFoundError(f"the stream {self.name} has no gold question {number}.", owner="gold")
        return self.note("gold removed", GoldRemoved(number, by), now)

    def next(self, annotator: str, now: float, device: str = "", key: str | None = None) -> Event | None:
        """Lease the next question to an annotator; None where there is none."""
        while (outcome := self.commands.next(annotator, self._time(now), device)) is not None:
            if isinstance(outcome[1], Leased):
                return self.record(outcome, now, key)
            self._prepare_gold(outcome, now)
        return None

    def choose_gold(self, round: int, annotator: str, now: float) -> None:
        """Choose the gold question of a place for a user, if it is one, none is chosen yet and one is left for them."""
        question = self.questions.open.get(round)
        while question is not None and question.gold == UNCHOSEN and not question.closed:
            chosen = self.commands.choose(question, annotator)
            if not isinstance(chosen, GoldChosen):
                return
            self._prepare_gold((round, chosen), now)

    def _prepare_gold(self, outcome: QuestionFact, now: float) -> None:
        """Record which gold question was chosen, with what the model says of it now, or that its place is closed.

        Where its contents were erased, it is removed instead.
        """
        round, fact = outcome
        if isinstance(fact, GoldChosen):
            event = next((each for each in self.uncommitted if each.seq == fact.instance), None)
            event = event or self._log.event(fact.instance)
            if event.row is None:
                self.remove_gold(fact.gold, "", now)
                return
            prediction, _ = self.model.guess(row_codec.from_bytes(event.row), facts_of(event).advice)
            fact = msgspec.structs.replace(fact, prediction=prediction)
        self.record((round, fact), now)

    def _is_overlap(self, time: float) -> bool:
        """Whether the question of this round gets one answer more: at random, while several people are at work."""
        settings = self.settings
        if not settings.overlap or self.questions.stored.people.active(time - DAY) < 2:
            return False
        return is_overlap(settings.seed or 0, self.state.round, settings.overlap)

    def _is_spent(self) -> bool:
        """Whether a budget that is a number of labels is used up, for this period or for good."""
        budget = self.settings.budget
        if budget is None or not self.model.has_budget:
            return False
        return budget.count is not None or (budget.most is not None and self.questions.stored.asked >= budget.most)

    def note(
        self,
        kind: str,
        fact: Fact,
        now: float,
        question: int | None = None,
        key: str | None = None,
        shown: bytes | None = None,
    ) -> Event:
        """Number an event, apply it, and let it wait for the commit."""
        current = self.current
        if current.model.has_promise and isinstance(fact, (Told, Corrected)):
            fact = msgspec.structs.replace(fact, delivered=True, id=self._id_of_question(question))
        event = Event(self.number, current.seq + 1, self._time(now), kind, question, key, encoded(fact), None, shown)
        current.apply(event, fact)
        self.uncommitted.append(event)
        return event

    def _id_of_question(self, round: int | None) -> str | None:
        seq = self.questions.find(-1 if round is None else round).seq
        mine = (each for each in self.uncommitted if each.seq == seq)
        return id_of(next(mine, None) or self._log.event(seq))

    def record(self, outcome: QuestionFact, now: float, key: str | None = None) -> Event:
        """Record the fact that a command on questions returned."""
        round, fact = outcome
        return self.note(fact.event_kind, fact, now, round, key)

    def tick(self, now: float) -> None:
        """Give final answers to the model, and drop questions that have expired."""
        now = self._time(now)
        try:
            for outcome in self.commands.due(now):
                self.record(outcome, now)
        except AskwhenError as error:  # answers were checked when they came, so this is a failure and not a refusal
            raise RuntimeError("what is due cannot be done") from error
        if self.model.has_promise and self._checked != self.seq:
            self._check_promise(now)
            self._checked = self.seq

    def _check_promise(self, now: float) -> None:
        """Record when the promise is met for all that came, and when it is not met any more."""
        promise, before = self.model.sampler.promise, self.state.promise
        is_open = len(self.questions.open) > self.questions.open_gold
        is_whole = not (len(self.backlog) or is_open) and promise.delivered > 0
        if before != "broken" and not promise.is_met:
            now_is = "broken"
        elif before != "met" and is_whole and promise.is_met:
            now_is = "met"
        else:
            return
        found = promise.certificate
        fact = PromiseChecked(promise.error, found.confidence, found.delivered, found.asked, found.certified)
        self.note(f"promise {now_is}", fact, now)

    def answer(
        self,
        round: int,
        annotator: str,
        label: str | None,
        now: float,
        lead: float | None,
        key: str | None,
        is_reviewer: bool = False,
    ) -> Event:
        """Fill a slot of a question; a reviewer may do so whomever it is for."""
        label = self.label_now(label)
        self.questions.check_label(label, "answer")
        event = self.record(self.commands.answer(round, annotator, label, self._time(now), lead, is_reviewer), now, key)
        self.tick(now)
        return event

    def undo(self, round: int | None, annotator: str, now: float, key: str | None = None) -> Event:
        """Take an answer back; where the model has learnt it, that is a correction."""
        outcome = self.commands.undo(round, annotator, self._time(now))
        event = self.record(outcome, now, key)
        round, fact = outcome
        if isinstance(fact, Undone) and fact.told and not self.questions.open[round].gold:
            self.record(self.commands.after_undo(self.questions.open[round]), now)
        return event

    def review(self, round: int, annotator: str, label: str | None, now: float, key: str | None = None) -> Event:
        """Decide what the label of a question is."""
        label = self.label_now(label)
        self.questions.check_label(label, "review")
        event = self.record(self.commands.review(round, annotator, label), now, key)
        question = self.questions.open[round]
        for outcome in self.commands.settled(question, label, "a reviewer said that it has none"):
            self.record(outcome, now)
        return event

    def undo_review(self, round: int, annotator: str, now: float, key: str | None = None) -> Event:
        """Take a reviewer's decision back: the question is as it was before any review."""
        before = self.current.before_review(round)
        undone, corrected = self.commands.undo_review(round, annotator, before)
        event = self.record(undone, now, key)
        self.record(corrected, now)
        return event

    def comment(
        self, round: int, annotator: str, text: str, now: float, key: str | None = None, instance: Event | None = None
    ) -> Event:
        """Store a comment on a question, or on an instance without one, as long as it has contents."""
        if self.questions.find(round).erased if instance is None else instance.row is None:
            raise ConflictError("the contents of this question were erased.", owner="comment")
        fact = Commented(annotator, 0 if instance is None else instance.seq)
        return self.note("commented", fact, now, round, key, msgspec.json.encode(text))

    def volunteer(
        self, instance: Event, annotator: str, label: str | None, now: float, key: str | None = None
    ) -> Event:
        """Take the label of a committed instance that no question waits for; None takes the annotator's label back."""
        fact = facts_of(instance)
        assert isinstance(fact, Instance)
        label = self.label_now(label)
        self.questions.check_label(label, "label")
        if fact.asked:
            self.commands.check_unlabelled(fact.round)
        if fact.back:
            raise ConflictError("this instance waits in the backlog for another decision.", owner="label")
        if self._log.event(instance.seq).row is None:
            raise ConflictError(ERASED, owner="label")
        before = self.volunteered(fact.round)
        if label is None and next((each.label for each in before[::-1] if each.annotator == annotator), None) is None:
            raise ConflictError(f"{annotator} has given no label of this instance.", owner="label")
        known = any(each.learnt for each in before)
        given = Volunteered(instance.seq, annotator, label, label is not None and not known)
        return self.note("volunteered", given, now, fact.round, key)

    def volunteered(self, round: int) -> list[Volunteered]:
        """The unsolicited labels of an instance, in order, with those that took one back."""
        found = map(facts_of, self.current.history(round))
        return [fact for fact in found if isinstance(fact, Volunteered)]

    def _time(self, now: float) -> float:
        """The time of the next event: times in a log never go back, even where the clock does."""
        return max(now, self.state.time)
