"""A stream as its log makes it: what events do to it, as they happen or read again. Knows no clock and no SQL."""

from __future__ import annotations

import contextlib
from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from ..errors import NotFoundError, SetAsideError, StoreError
from ..events.kinds import (
    Changed,
    Erased,
    Fact,
    Forgotten,
    Handled,
    Instance,
    Received,
    Renamed,
    Replayed,
    SettingsChanged,
    Told,
    Volunteered,
    WentOn,
    facts_of,
)
from ..events.settings import Settings
from ..store.records import Event
from . import row_codec
from .brief import Brief
from .features import Reader
from .model import Model
from .question_commands import Books
from .question_snapshot import Kept
from .questions import UNPLAYED, Question, remade
from .setting_changes import Changes, changed

_PARTS = ("state", "model", "books")
"""What a stream does not have that is set aside, or not in memory."""

BESIDE = (Volunteered, Received, Handled)
"""What is said of an instance, and is not about its question."""


class State(msgspec.Struct):
    """What a snapshot has of a stream, beside its model.

    ``replays`` are the events that made the model again, ``unasked`` the questions that the last model made so would
    not have asked, and ``passed`` the rounds that it has not played, since their instances were erased. Up to the event
    ``erased`` the contents of all instances are. ``spent`` says whether the budget is. ``changes`` are those of the
    settings, each with its event. ``received`` are the events of what other tools said and nobody was told yet.
    """

    name: str
    books: Kept
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


def brief_of(state: State) -> Brief:
    """The counts that a state has."""
    kept, questions = state.books, state.books.questions
    return Brief(
        state.name,
        "archived" if state.archived else "paused" if state.paused else "active",
        state.round,
        kept.asked,
        kept.told,
        kept.forgotten,
        sum(not question.is_full for question in questions),
        sum(question.disputed for question in questions),
        len(kept.corrections),
        erased=state.erased,
    )


class Logged:
    """A stream, its model and its books, as far as its log goes.

    Parameters
    ----------
    number : int
        The number of its log.
    name, settings
        What it is.
    look : callable
        ``look(seq)`` gives an event of the log, ``look_all(round)`` all those of a question; both only what is
        committed.
    begin : bool, default True
        False makes a stream without a model, until ``begin`` is called.

    Attributes
    ----------
    aside : str
        Why the stream is set aside, in a sentence; empty where it is not. Whoever uses ``state``, ``model`` or
        ``books`` of such a stream gets a SetAsideError.
    loaded : bool
        Whether these three are in memory. Whoever uses them where they are not loads them.
    """

    state: State
    model: Model
    books: Books

    def __init__(
        self,
        number: int,
        name: str,
        settings: Settings,
        look: Callable[[int], Event | None],
        look_all: Callable[[int], list[Event]],
        begin: bool = True,
    ) -> None:
        self.number, self._made, self.settings = number, settings, settings
        self.seq = 0
        self.out: list[Event] = []
        self.aside = ""
        self._load: Callable[[], None] | None = None
        self.reader = Reader(settings.features)
        self._look, self._look_all = look, look_all
        self._brief = Brief(name)
        if begin:
            self.begin()

    def begin(self) -> None:
        """Start with a model that has played no round."""
        self._begin(State(self._brief.name, Kept()), Model(self._made))
        self.seq = 0

    def __getattr__(self, name: str) -> Any:
        """Only called for what is not there."""
        if name in _PARTS and self.aside:
            raise SetAsideError(self.aside, owner="stream")
        if name in _PARTS and self._load is not None:
            self._load()
            return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def _begin(self, state: State, model: Model) -> None:
        self.state, self.model = state, model
        self.settings = changed(self._made, *(changes for _, changes in state.changes))
        self.books = Books(self.settings, self.recall, state.books)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.state.name if "state" in self.__dict__ else self._brief.name

    @property
    def loaded(self) -> bool:
        """Whether its state, model and books are in memory."""
        return all(part in self.__dict__ for part in _PARTS)

    def rest(self, load: Callable[[], None]) -> None:
        """Give the memory back, of a stream that is on the disk as it is; ``load`` makes it again."""
        self._brief = self.brief()
        self._load = load
        for part in _PARTS:
            del self.__dict__[part]

    def brief(self) -> Brief:
        """Its counts; those of a stream that is not in memory are the last that are known."""
        if not self.loaded:
            return self._brief
        self.state.books = self.books.dump()
        brief = brief_of(self.state)
        brief.updates = self.model.sampler.updates
        return brief

    def set_aside(self, why: str, brief: Brief | None = None) -> None:
        """Let nobody use it any more: its model failed. Only what is committed stays."""
        if brief is None:
            brief = Brief(self.name)
            with contextlib.suppress(Exception):  # what failed may be half-changed
                brief = self.brief()
        self._brief = brief
        self.aside = (
            f"the stream {brief.name} is set aside, since {why}; its log is kept, other streams go on, and the next "
            "start of the service tries it again."
        )
        if self.out:
            self.seq, self.out = self.out[0].seq - 1, []
        for part in _PARTS:
            self.__dict__.pop(part, None)

    def settings_at(self, seq: int) -> Settings:
        """The settings as they were when an event happened."""
        if not self.state.changes or seq > self.state.changes[-1][0]:
            return self.settings
        return changed(self._made, *(changes for at, changes in self.state.changes if at < seq))

    def restore(self, seq: int, books: bytes, model: bytes) -> None:
        """Go back to what a snapshot has."""
        self._begin(msgspec.json.decode(books, type=State), Model.load(self.settings, model))
        self.seq = seq

    def take(self, model: Model) -> None:
        """Go on with another model."""
        self.model = model

    def dump(self) -> tuple[int, bytes, Callable[[], bytes]]:
        """Everything as it is now: the last event, the books, and a function that packs the model."""
        self.state.books = self.books.dump()
        return self.seq, msgspec.json.encode(self.state), self.model.dump()

    def _played(self, fact: Instance, seq: int, time: float) -> None:
        self.state.round += 1
        if fact.probability > 0.0 or fact.spent:
            self.state.spent = fact.spent
        if fact.asked:
            self.books.open(fact, seq, time)

    def replay(self, event: Event, fact: Instance) -> None:
        """Play a stored round again, and demand the stored decision, bit for bit."""
        ask, coin, _, _ = self.model.ask(row_codec.from_bytes(event.row), event.time)
        found = (ask.round, self.model.word(ask.prediction), ask.margin, ask.probability, coin, ask.query)
        stored = (fact.played, fact.prediction, fact.margin, fact.probability, fact.coin, fact.asked)
        if found != stored or (ask.certainty, ask.uncertainty) != (fact.certainty, fact.uncertainty):
            raise StoreError(
                f"round {fact.round} of stream {self.name}, played again, decides otherwise than the log says: "
                f"{found} and not {stored}; askwhen serve --from-snapshots goes on without playing again.",
                owner="serve",
            )

    def pass_over(self, event: Event, fact: Instance) -> None:
        """Take a stored round as decided, without playing it: the model does not know of it."""
        self._follow(event, fact)
        if fact.asked:
            self.books.questions[fact.round].played = UNPLAYED

    def _expect(self, event: Event) -> None:
        if event.seq != self.seq + 1:
            raise StoreError(f"the log of stream {self.name} lacks event {self.seq + 1}.", owner="serve")

    def _follow(self, event: Event, fact: Instance) -> None:
        self._expect(event)
        self._played(fact, event.seq, event.time)
        self.seq, self.state.time = event.seq, event.time

    def apply(self, event: Event, fact: Fact) -> None:
        """Make an event happen that is no round."""
        self._expect(event)
        if isinstance(fact, (Told, Forgotten)):
            self._teach(event, fact)
        if isinstance(fact, Volunteered):
            self._learn(fact)
        elif isinstance(fact, Received):
            self.state.received.append(event.seq)
        elif isinstance(fact, Handled):
            self.state.received.remove(fact.received)
        elif event.question is not None:
            self.books.apply(event.question, fact, event.time)
        elif isinstance(fact, Renamed):
            self.state.name = fact.name
        elif isinstance(fact, Changed):
            self.state.paused = event.kind == "paused"
            self.state.archived = event.kind == "archived"
        elif isinstance(fact, SettingsChanged):
            self.state.changes.append((event.seq, fact.changes))
            self.settings = changed(self.settings, fact.changes)
            self.books.change(self.settings)
        elif isinstance(fact, Replayed):
            self.state.replays.append(event.seq)
            for question in self.books.questions.values():
                self._remade(question)
        elif isinstance(fact, Erased):
            self.state.erased = max(self.state.erased, fact.until)
        elif not isinstance(fact, WentOn):
            raise StoreError(f"event {event.seq} of stream {self.name} is about nothing.", owner="serve")
        self.seq, self.state.time = event.seq, event.time

    def _teach(self, event: Event, fact: Told | Forgotten) -> None:
        """Tell the model; a question that it does not have open, since it went on elsewhere, is learnt as given."""
        question = self.books.find(event.question if event.question is not None else -1)
        if self.model.waits(question.played):
            if isinstance(fact, Told):
                self.model.tell(question.played, fact.label)
            else:
                self.model.forget(question.played)
        elif isinstance(fact, Told):
            self.model.learn(self.instance(question.seq), fact.label)

    def _learn(self, fact: Volunteered) -> None:
        """Learn a label that nobody asked for, as ``Sampler.learn`` does."""
        if fact.learnt and fact.label is not None:
            self.model.learn(self.instance(fact.instance), fact.label)
        self.books.know(fact.label)

    def event(self, seq: int) -> Event:
        """A committed event of the log."""
        found = self._look(seq)
        if found is None:
            raise NotFoundError(f"the log has no event {seq}.", owner="serve")
        return found

    def instance(self, seq: int) -> Any:
        """The instance of an event of the log, as it was predicted on."""
        return row_codec.from_bytes(self.event(seq).row)

    def read(self, events: Iterable[Event]) -> None:
        """Follow the log: rounds are played again, everything else happens again."""
        for event in events:
            fact = facts_of(event)
            if isinstance(fact, Instance):
                self._expect(event)
                self.replay(event, fact)
                self._follow(event, fact)
            else:
                self.apply(event, fact)

    def history(self, round: int) -> list[Event]:
        """What happened to an instance since it was asked about or labelled, in order."""
        events = [*self._look_all(round), *(event for event in self.out if event.question == round)]
        return [event for event in events if event.seq <= self.seq]

    def recall(self, round: int) -> Question | None:
        """A closed question, from what the log says of it."""
        books, found = Books(self._made, lambda _: None), None
        replays = iter([*self.state.replays, self.seq + 1])
        replay = next(replays)
        for event in self.history(round):
            while replay < event.seq:
                if found is not None:
                    self._remade(found)
                replay = next(replays)
            fact = facts_of(event)
            if isinstance(fact, Instance):
                books.settings = self.settings_at(event.seq)
                books.open(fact, event.seq, event.time)
                found = books.questions[round]
                found.erased = event.row is None
            elif found is not None and not isinstance(fact, BESIDE):
                books.questions[round] = found
                books.apply(round, fact, event.time)
        if found is not None and replay <= self.seq:
            self._remade(found)
        return found

    def _remade(self, question: Question) -> None:
        """Let a question know the model that was made again."""
        state, round = self.state, question.round
        before = bisect_left(state.passed, round)
        known = state.passed[before : before + 1] != [round]
        remade(question, round - before if known and round not in state.unasked else UNPLAYED, known)
