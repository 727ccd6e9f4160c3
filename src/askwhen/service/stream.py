"""One stream: its model, its books, and the log that both follow from. Knows no HTTP, no SQL and no clock.

A command checks, then notes what happened: the event gets its number, is applied in memory, and waits in ``out`` for
whoever owns the stream to commit it. Nobody may be told of it before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from . import row_bytes
from .books import Books, Happening
from .errors import ConflictError, NotFoundError, StoreError
from .events import (
    Changed,
    Fact,
    Forgotten,
    Instance,
    Renamed,
    Replayed,
    Told,
    Undone,
    WentOn,
    encoded,
    facts_of,
)
from .features import Reader
from .kept import Kept
from .model import Model
from .questions import UNPLAYED, Question, remade
from .settings import Settings
from .store.rows import Event

ASKED, COIN, SPENT = "worth asking", "the coin said no", "the budget is spent"


Played = tuple[Event, Instance]
"""A round as an event, and its facts."""


class State(msgspec.Struct):
    """What a snapshot has of a stream, beside its model.

    ``replays`` are the events that made the model again, ``unasked`` the questions that the last model made so would
    not have asked.
    """

    name: str
    books: Kept
    round: int = 0
    time: float = 0.0
    paused: bool = False
    archived: bool = False
    replays: list[int] = []
    unasked: set[int] = set()


class Stream:
    """A stream.

    Parameters
    ----------
    number : int
        The number of its log.
    name, settings
        What it is.
    look : callable
        ``look(seq)`` gives an event of the log, ``look_all(round)`` all those of a question; both only what is
        committed.
    """

    def __init__(
        self,
        number: int,
        name: str,
        settings: Settings,
        look: Callable[[int], Event | None],
        look_all: Callable[[int], list[Event]],
    ) -> None:
        self.number, self.settings = number, settings
        self.seq = 0
        self.out: list[Event] = []
        self.reader = Reader(settings.features)
        self._look, self._look_all = look, look_all
        self._begin(State(name, Kept()), Model(settings))

    def _begin(self, state: State, model: Model) -> None:
        self.state, self.model = state, model
        self.books = Books(self.settings, self.recall, state.books)
        self._switches = len(model.sampler.engine.switches)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.state.name

    def restore(self, seq: int, books: bytes, model: bytes) -> None:
        """Go back to what a snapshot has."""
        self._begin(msgspec.json.decode(books, type=State), Model.load(self.settings, model))
        self.seq = seq

    def take(self, model: Model) -> None:
        """Go on with another model."""
        self.model = model
        self._switches = len(model.sampler.engine.switches)

    def dump(self) -> tuple[int, bytes, Callable[[], bytes]]:
        """Everything as it is now: the last event, the books, and a function that packs the model."""
        self.state.books = self.books.dump()
        return self.seq, msgspec.json.encode(self.state), self.model.dump()

    # Rounds.

    def check_playing(self) -> None:
        """Refuse instances while the stream is paused or archived."""
        if self.state.archived:
            raise ConflictError(f"the stream {self.name} is archived.", owner="instance")
        if self.state.paused:
            raise ConflictError(f"the stream {self.name} is paused; resume it first.", owner="instance")

    def play(self, x: Any, shown: bytes | None, key: str | None, now: float, priority: float = 0.0) -> Played:
        """Play one round on an instance as the reader made it; what was decided, as an event."""
        time = max(now, self.state.time)
        ask, coin = self.model.ask(x, time)
        switches = len(self.model.sampler.engine.switches)
        fact = Instance(
            self.state.round,
            self.model.word(ask.prediction),
            ask.margin,
            ask.probability,
            coin,
            ask.query,
            ASKED if ask.query else COIN if ask.probability > 0.0 else SPENT,
            ask.round,
            ask.certainty,
            ask.uncertainty,
            self.model.level(ask.round) if ask.query else 0,
            priority,
            switches > self._switches,
        )
        self._switches = switches
        seq = self.seq + 1
        question = fact.round if ask.query else None
        event = Event(self.number, seq, time, "instance", question, key, encoded(fact), row_bytes.to_bytes(x), shown)
        self._played(fact, seq, time)
        self.seq, self.state.time = seq, time
        self.out.append(event)
        return event, fact

    def _played(self, fact: Instance, seq: int, time: float) -> None:
        self.state.round += 1
        if fact.asked:
            self.books.open(fact, seq, time)

    def replay(self, event: Event, fact: Instance) -> None:
        """Play a stored round again, and demand the stored decision, bit for bit."""
        ask, coin = self.model.ask(row_bytes.from_bytes(event.row), event.time)
        found = (ask.round, self.model.word(ask.prediction), ask.margin, ask.probability, coin, ask.query)
        stored = (fact.played, fact.prediction, fact.margin, fact.probability, fact.coin, fact.asked)
        if found != stored or (ask.certainty, ask.uncertainty) != (fact.certainty, fact.uncertainty):
            raise StoreError(
                f"round {fact.round} of stream {self.name}, played again, decides otherwise than the log says: "
                f"{found} and not {stored}; askwhen serve --from-snapshots goes on without playing again.",
                owner="serve",
            )
        self._switches = len(self.model.sampler.engine.switches)

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

    # Questions.

    def note(self, kind: str, fact: Fact, now: float, question: int | None = None, key: str | None = None) -> Event:
        """Number an event, make it happen, and let it wait for the commit."""
        time = max(now, self.state.time)
        event = Event(self.number, self.seq + 1, time, kind, question, key, encoded(fact))
        self.apply(event, fact)
        self.out.append(event)
        return event

    def happen(self, happening: Happening, now: float, key: str | None = None) -> Event:
        """Note what a command of the books said is to happen to a question."""
        round, fact = happening
        return self.note(type(fact).__name__.lower(), fact, now, round, key)

    def tick(self, now: float) -> None:
        """Tell the model what is due, and forget what has expired."""
        now = max(now, self.state.time)
        for happening in self.books.due(now):
            self.happen(happening, now)

    def answer(
        self, round: int, annotator: str, label: str | None, now: float, lead: float | None, key: str | None
    ) -> Event:
        """Fill a slot of a question."""
        self.books.check_label(label, "answer")
        event = self.happen(self.books.answer(round, annotator, label, self._now(now), lead), now, key)
        self.tick(now)
        return event

    def undo(self, round: int | None, annotator: str, now: float, key: str | None = None) -> Event:
        """Take an answer back; where the model knew it, that is a correction."""
        happening = self.books.undo(round, annotator, self._now(now))
        event = self.happen(happening, now, key)
        round, fact = happening
        if isinstance(fact, Undone) and fact.told:
            self.happen(self.books.after_undo(self.books.questions[round]), now)
        return event

    def review(self, round: int, annotator: str, label: str | None, now: float, key: str | None = None) -> Event:
        """Decide what the label of a question is."""
        self.books.check_label(label, "review")
        event = self.happen(self.books.review(round, annotator, label), now, key)
        question = self.books.questions[round]
        for happening in self.books.settled(question, label, "a reviewer said that it has none"):
            self.happen(happening, now)
        return event

    def _now(self, now: float) -> float:
        return max(now, self.state.time)

    def recall(self, round: int) -> Question | None:
        """A closed question, from what the log says of it."""
        books, found = Books(self.settings, lambda _: None), None
        waiting = [event for event in self.out if event.question == round]
        replays = iter([*self.state.replays, self.seq + 1])
        replay = next(replays)
        for event in [*self._look_all(round), *waiting]:
            if event.seq > self.seq:
                break
            while replay < event.seq:
                if found is not None:
                    remade(found, round not in self.state.unasked)
                replay = next(replays)
            fact = facts_of(event)
            if isinstance(fact, Instance):
                books.open(fact, event.seq, event.time)
                found = books.questions[round]
            elif found is not None:
                books.questions[round] = found
                books.apply(round, fact, event.time)
        if found is not None and replay <= self.seq:
            remade(found, round not in self.state.unasked)
        return found

    # Events, live and from the log.

    def apply(self, event: Event, fact: Fact) -> None:
        """Make an event happen that is no round."""
        self._expect(event)
        if isinstance(fact, (Told, Forgotten)):
            self._teach(event, fact)
        if event.question is not None:
            self.books.apply(event.question, fact, event.time)
        elif isinstance(fact, Renamed):
            self.state.name = fact.name
        elif isinstance(fact, Changed):
            self.state.paused = event.kind == "paused"
            self.state.archived = event.kind == "archived"
        elif isinstance(fact, Replayed):
            self.state.replays.append(event.seq)
            for question in self.books.questions.values():
                remade(question, question.round not in self.state.unasked)
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

    def instance(self, seq: int) -> Any:
        """The instance of an event of the log, as it was predicted on."""
        event = self._look(seq)
        if event is None:
            raise NotFoundError(f"the log has no event {seq}.", owner="serve")
        return row_bytes.from_bytes(event.row)

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
