"""The model made again from the corrected log.

Every instance is played again with its own coin, and every label that is held to be right by now is told when the old
one was. The new model may want to ask elsewhere: a question that was never asked is forgotten, so that the estimate of
the accuracy counts it as unknown, and a label that the new model did not ask for is learnt as one that nobody asked
for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import row_bytes
from .events import Corrected, Forgotten, Instance, Told, facts_of
from .kept import Kept
from .model import Model
from .questions import UNPLAYED
from .settings import Settings
from .store.rows import Event


class Remaking:
    """Follows a log. ``labels`` are those held to be right by now, by round; None where there is none.

    ``unasked`` has the rounds whose question the new model would not have asked, with the instance until it is told.
    """

    def __init__(self, settings: Settings, labels: dict[int, str | None]) -> None:
        self.model = Model(settings)
        self.labels = labels
        self.told: dict[int, str | None] = {}
        self.seq = 0
        self.unasked: dict[int, Any] = {}

    def follow(self, events: Iterable[Event]) -> None:
        """The next events of the log."""
        for event in events:
            fact = facts_of(event)
            if isinstance(fact, Instance):
                self._play(event, fact)
            elif isinstance(fact, (Told, Forgotten)) and event.question is not None:
                self._tell(event.question, fact.label if isinstance(fact, Told) else None)
            self.seq = event.seq

    def _play(self, event: Event, fact: Instance) -> None:
        x = row_bytes.from_bytes(event.row)
        ask, _ = self.model.ask(x, event.time)
        if ask.query and not fact.asked:
            self.model.forget(ask.round)
        elif fact.asked and not ask.query:
            self.unasked[fact.round] = x

    def _tell(self, round: int, told: str | None) -> None:
        label = self.labels.get(round, told)
        if round in self.unasked:
            x, self.unasked[round] = self.unasked[round], None
            if label is not None:
                self.model.learn(x, label)
        elif label is not None:
            self.model.tell(round, label)
        else:
            self.model.forget(round)
        self.told[round] = label


def last_labels(events: Iterable[Event]) -> dict[int, str | None]:
    """The label of every question that is held to be right at the end of a log, where the model was told another."""
    found: dict[int, str | None] = {}
    for event in events:
        fact = facts_of(event)
        if isinstance(fact, Corrected) and event.question is not None:
            found[event.question] = fact.label
    return found


def settle(kept: Kept, made: Remaking) -> None:
    """Drop the corrections that the new model knows, in place."""
    for round, correction in list(kept.corrections.items()):
        correction.played = UNPLAYED if round in made.unasked else round
        if round in made.told:
            correction.model = made.told[round]
            if correction.model == correction.label:
                del kept.corrections[round]
