"""Retrains a model from the corrected log.

Every instance is played again with the same random draw, and the corrected labels are given to the model at the places
of the old ones. The new model may ask about other instances. Where it asks a question that was never asked, the
question is dropped, so that the accuracy estimate counts it as unknown. A label that it does not ask for is learnt as
an unsolicited one. Unsolicited labels are learnt in their corrected form at the place of the first one of their round.
Erased instances are skipped, and their labels with them. A copy of an instance learns the corrected label of that.

Where labels are added or merged, the decisions of the log are taken over instead: what was asked and with which
probability stays, so that every answer counts and the accuracy of the new model can be estimated from all of them. So
they are with a promise, since the labels that were delivered stay: the new model takes over its account.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from ..events.kinds import Corrected, Forgotten, GoldPlaced, Instance, SettingsChanged, Told, Volunteered, facts_of
from ..events.label_names import LabelNames
from ..events.settings import Settings
from ..store.records import Event
from . import row_codec
from .model import Model
from .question_snapshot import QuestionSnapshot
from .questions import UNPLAYED
from .setting_changes import Changes, changed


class Retraining:
    """Builds a new model from the events of a log.

    Parameters
    ----------
    settings : Settings
        The settings of the stream.
    labels : dict
        Corrected labels by round; None where a question has no label any more.
    given : dict, optional
        Corrected unsolicited labels, in the same form.
    look : callable, optional
        Gives an event by its number.
    pair : list of str, optional
        The labels of a model of two, the negative one first.
    created : Settings, optional
        The settings that the stream was created with: their budget holds until the log has another one, and their
        advisers until it has more.
    names : LabelNames, optional
        The names that labels in the events are to have, where labels have changed: decisions of the log are taken over.

    Attributes
    ----------
    unasked : dict
        Rounds whose question the new model would not have asked, with the instance until its label is learnt.
    passed : list
        Rounds that are not played because their instances were erased, or since they are gold questions, in order.
    played : dict
        For rounds whose question the new model asks, its own number of the round.
    told : dict
        Labels that were given to the new model, by round.
    """

    def __init__(
        self,
        settings: Settings,
        labels: dict[int, str | None],
        given: dict[int, str | None] | None = None,
        look: Callable[[int], Event | None] = lambda _: None,
        pair: Sequence[str] = (),
        created: Settings | None = None,
        names: LabelNames | None = None,
    ) -> None:
        self._settings = settings
        if created is not None:
            self._settings = msgspec.structs.replace(settings, budget=created.budget, advisers=created.advisers)
        self.model = Model(self._settings, pair=pair)
        self._asked = 0
        self._copies: dict[int, int] = {}
        self._names = LabelNames() if names is None else names
        self._keep = names is not None or self.model.has_promise
        self.labels, self._given, self._look = labels, {} if given is None else given, look
        self.told: dict[int, str | None] = {}
        self.seq = 0
        self.unasked: dict[int, Any] = {}
        self.passed: list[int] = []
        self.played: dict[int, int] = {}

    def follow(self, events: Iterable[Event]) -> None:
        """Process the next events of the log."""
        for event in events:
            fact = self._names.facts(event)
            if isinstance(fact, Instance):
                self._play(event, fact)
            elif isinstance(fact, (Told, Forgotten)) and event.question is not None and event.question not in self.told:
                self._tell(event.question, fact.label if isinstance(fact, Told) else None)
            elif isinstance(fact, Volunteered) and fact.learnt and event.question is not None:
                self._learn(event.question, fact)
            elif isinstance(fact, SettingsChanged):
                self._change(fact)
            elif isinstance(fact, GoldPlaced):
                self.passed.append(fact.round)
            self.seq = event.seq

    def _change(self, fact: SettingsChanged) -> None:
        of_model: Changes = {name: fact.changes[name] for name in ("budget", "advisers") if name in fact.changes}
        self._settings = changed(self._settings, of_model)
        if "budget" in of_model:
            self.model.change_budget(self._settings, self._asked)
        if "advisers" in of_model:
            self.model.add_advisers(self._settings)

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
        kept: Any = (fact.asked, fact.probability) if self._keep else None
        if fact.repeats is not None:
            kept, self._copies[fact.round] = "certain", fact.repeats
        ask = self.model.ask(x, event.time, kept, fact.advice).ask
        self._asked += ask.query and fact.repeats is None
        if ask.query and fact.asked:
            self.played[fact.round] = ask.round
        elif ask.query:
            self.model.forget(ask.round)
        elif fact.asked:
            self.unasked[fact.round] = x

    def _tell(self, round: int, told: str | None) -> None:
        label = self.labels.get(round, self.labels.get(self._copies.get(round, round), told))
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
    """The last correction of every question whose label was corrected after the model had learnt it."""
    found: dict[int, str | None] = {}
    for event in events:
        fact = facts_of(event)
        if isinstance(fact, Corrected) and event.question is not None:
            found[event.question] = fact.label
    return found


def last_given(events: Iterable[Event]) -> dict[int, str | None]:
    """The unsolicited labels at the end of a log, by round: the last one that was not taken back."""
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
    """Drop, in place, the corrections that the new model has learnt."""
    for round, correction in list(stored.corrections.items()):
        correction.played = made.played.get(round, UNPLAYED)
        if round in made.told:
            correction.model = made.told[round]
            if correction.model == correction.label:
                del stored.corrections[round]
