"""One stream: its model, its books, and the log that both follow from. Knows no HTTP, no SQL and no clock.

A command checks, then notes what happened: the event gets its number, is applied in memory, and waits in ``out`` for
whoever owns the stream to commit it. Nobody may be told of it before.
"""

from __future__ import annotations

from typing import Any

from ...errors import AskwhenError
from ..errors import ConflictError
from ..events.kinds import Fact, Instance, Undone, Volunteered, encoded, facts_of
from ..store.records import Event
from . import row_codec
from .event_sourced_stream import Logged
from .question_commands import Happening

ASKED, COIN, SPENT, SURE = "worth asking", "the coin said no", "the budget is spent", "not worth asking"

Played = tuple[Event, Instance]
"""A round as an event, and its facts."""


class Stream(Logged):
    """What can be done to a stream."""

    def check_playing(self) -> None:
        """Refuse instances while the stream is paused or archived."""
        if self.state.archived:
            raise ConflictError(f"the stream {self.name} is archived.", owner="instance")
        if self.state.paused:
            raise ConflictError(f"the stream {self.name} is paused; resume it first.", owner="instance")

    def play(
        self,
        x: Any,
        shown: bytes | None,
        key: str | None,
        now: float,
        priority: float = 0.0,
        subject: str | None = None,
    ) -> Played:
        """Play one round on an instance as the reader made it; what was decided, as an event."""
        time = max(now, self.state.time)
        ask, coin, switched, level = self.model.ask(x, time)
        fact = Instance(
            self.state.round,
            self.model.word(ask.prediction),
            ask.margin,
            ask.probability,
            coin,
            ask.query,
            ASKED if ask.query else COIN if ask.probability > 0.0 else SPENT if self.model.has_budget else SURE,
            ask.round,
            ask.certainty,
            ask.uncertainty,
            level,
            priority,
            switched,
            not self.state.spent and ask.probability == 0.0 and self._is_spent(),
        )
        seq = self.seq + 1
        question = fact.round if ask.query else None
        row = row_codec.to_bytes(x)
        event = Event(self.number, seq, time, "instance", question, key, encoded(fact), row, shown, subject)
        self._played(fact, seq, time)
        self.seq, self.state.time = seq, time
        self.out.append(event)
        return event, fact

    def _is_spent(self) -> bool:
        """Whether nothing may be asked any more, in this period or ever, where the budget is a number of labels."""
        budget = self.settings.budget
        if budget is None or not self.model.has_budget:
            return False
        return budget.count is not None or (budget.most is not None and self.books.kept.asked >= budget.most)

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
        return self.note(fact.event_kind, fact, now, round, key)

    def tick(self, now: float) -> None:
        """Tell the model what is due, and forget what has expired."""
        now = max(now, self.state.time)
        try:
            for happening in self.books.due(now):
                self.happen(happening, now)
        except AskwhenError as error:  # it was checked when it came, so that this is no refusal
            raise RuntimeError("what is due cannot be done") from error

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

    def volunteer(
        self, instance: Event, annotator: str, label: str | None, now: float, key: str | None = None
    ) -> Event:
        """Take the label of a committed instance that no question waits for, or without one take it back."""
        fact = facts_of(instance)
        assert isinstance(fact, Instance)
        self.books.check_label(label, "label")
        if fact.asked:
            self.books.check_unlabelled(fact.round)
        if self.event(instance.seq).row is None:
            raise ConflictError(
                "the contents of this instance were erased, so that nothing can be learnt.", owner="label"
            )
        before = self.volunteered(fact.round)
        if label is None and next((each.label for each in before[::-1] if each.annotator == annotator), None) is None:
            raise ConflictError(f"{annotator} has given no label of this instance.", owner="label")
        known = any(each.learnt for each in before)
        said = Volunteered(instance.seq, annotator, label, label is not None and not known)
        return self.note("volunteered", said, now, fact.round, key)

    def volunteered(self, round: int) -> list[Volunteered]:
        """What people said of an instance that no question waited for, in order."""
        found = map(facts_of, self.history(round))
        return [fact for fact in found if isinstance(fact, Volunteered)]

    def _now(self, now: float) -> float:
        return max(now, self.state.time)
