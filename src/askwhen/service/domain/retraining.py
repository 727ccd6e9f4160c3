"""The model made again from the corrected log.

Every instance is played again with its own coin, and every label that is held to be right by now is told when the old
one was. The new model may want to ask elsewhere: a question that was never asked is forgotten, so that the estimate of
the accuracy counts it as unknown, and a label that the new model did not ask for is learnt as one that nobody asked
for. A label that nobody asked for is learnt where the first of its round was, as it is held to be right by now.
Instances that were erased are passed over, and their labels with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..events.kinds import Corrected, Forgotten, Instance, Told, Volunteered, facts_of
from ..events.settings import Settings
from ..store.records import Event
from . import row_codec
from .model import Model
from .question_snapshot import QuestionSnapshot
from .questions import UNPLAYED


class Retraining:
    """Follows a log. ``labels`` are those held to be right by now, by round; None where there is none.

    ``given`` are those that nobody asked for, the same way, and ``look`` gives an event by its number. ``unasked`` has
    the rounds whose question the new model would not have asked, with the instance until it is told; ``passed`` those
    that it cannot play, in order; ``played`` its own number of a round whose question it has asked.
    """

    def __init__(
        self,
        settings: Settings,
        labels: dict[int, str | None],
        given: dict[int, str | None] | None = None,
        look: Callable[[int], Event | None] = lambda _: None,
    ) -> None:
        self.model = Model(settings)
        self.labels, self._given, self._look = labels, {} if given is None else given, look
        self.told: dict[int, str | None] = {}
        self.seq = 0
        self.unasked: dict[int, Any] = {}
        self.passed: list[int] = []
        self.played: dict[int, int] = {}

    def follow(self, events: Iterable[Event]) -> None:
        """The next events of the log."""
        for event in events:
            fact = facts_of(event)
            if isinstance(fact, Instance):
                self._play(event, fact)
            elif isinstance(fact, (Told, Forgotten)) and event.question is not None and event.question not in self.told:
                self._tell(event.question, fact.label if isinstance(fact, Told) else None)
            elif isinstance(fact, Volunteered) and fact.learnt and event.question is not None:
                self._learn(event.question, fact)
            self.seq = event.seq

    def _learn(self, round: int, fact: Volunteered) -> None:
        label = self._given.get(round, fact.label)
        event = self._look(fact.instance)
        if label is not None and event is not None and event.row is not None:
            self.model.learn(row_codec.from_bytes(event.row), label)

    def _play(self, event: Event, fact: Instance) -> None:
        if event.row is None:
            self.passed.append(fact.round)
            return
        x = row_codec.from_bytes(event.row)
        ask = self.model.ask(x, event.time).ask
        if ask.query and fact.asked:
            self.played[fact.round] = ask.round
        elif ask.query:
            self.model.forget(ask.round)
        elif fact.asked:
            self.unasked[fact.round] = x

    def _tell(self, round: int, told: str | None) -> None:
        label = self.labels.get(round, told)
        if round in self.unasked:
            x, self.unasked[round] = self.unasked[round], None
            if label is not None:
                self.model.learn(x, label)
        elif round not in self.played:
            label = None
        elif label is not None:
            self.model.tell(self.played[round], label)
        else:
            self.model.forget(self.played[round])
        self.told[round] = label


def last_labels(events: Iterable[Event]) -> dict[int, str | None]:
    """The label of every question that is held to be right at the end of a log, where the model was told another."""
    found: dict[int, str | None] = {}
    for event in events:
        fact = facts_of(event)
        if isinstance(fact, Corrected) and event.question is not None:
            found[event.question] = fact.label
    return found


def last_given(events: Iterable[Event]) -> dict[int, str | None]:
    """The labels that nobody asked for, by round, at the end of a log: the last one that was not taken back."""
    standing: dict[int, dict[str, str]] = {}
    for event in events:
        fact = facts_of(event)
        if isinstance(fact, Volunteered) and event.question is not None:
            labels = standing.setdefault(event.question, {})
            labels.pop(fact.annotator, None)
            if fact.label is not None:
                labels[fact.annotator] = fact.label
    return {round: list(labels.values())[-1] if labels else None for round, labels in standing.items()}


def drop_learnt_corrections(stored: QuestionSnapshot, made: Retraining) -> None:
    """Drop the corrections that the new model knows, in place."""
    for round, correction in list(stored.corrections.items()):
        correction.played = made.played.get(round, UNPLAYED)
        if round in made.told:
            correction.model = made.told[round]
            if correction.model == correction.label:
                del stored.corrections[round]
