"""The current names of labels in events that were recorded before a label was renamed or merged into another."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..store.records import BacklogItem, Event
from . import label_sets
from .advice import Advice, GivenAdvice, packed, unpacked
from .kinds import (
    Advised,
    Answered,
    Corrected,
    Fact,
    GoldAdded,
    GoldChosen,
    GoldClosed,
    Instance,
    Received,
    Reviewed,
    Told,
    Volunteered,
    encoded,
    facts_of,
)

_WITH_LABEL = (Answered, Corrected, GoldAdded, GoldChosen, GoldClosed, Received, Reviewed, Told, Volunteered)
_KINDS = frozenset(kind for each in (Instance, Advised, *_WITH_LABEL) for kind in each.event_kinds)

Relabelled = tuple[int, str, str]
"""The event that changed a label, its name until then, and its name since."""


class LabelNames:
    """Translates labels of earlier events.

    Parameters
    ----------
    changes : sequence of (int, str, str), optional
        All changes in order.
    several : bool, default False
        Whether a label in an event is a set of labels.
    """

    def __init__(self, changes: Sequence[Relabelled] = (), several: bool = False) -> None:
        self._changes, self._several = changes, several

    def now(self, label: str | None, seq: int = 0) -> str | None:
        """The current name of a label that had this name in an event."""
        for at, before, since in self._changes:
            if at > seq and label is not None and self._several:
                label = label_sets.renamed(label, before, since)
            elif at > seq and label == before:
                label = since
        return label

    def advice(self, given: GivenAdvice) -> Advice:
        """Advice with the current names of its labels."""
        if not self._changes:
            return given.said

        def name(label: str) -> str:
            return self.now(label, given.seq) or label

        return {adviser: said.renamed(name) for adviser, said in given.said.items()}

    def item(self, item: BacklogItem) -> BacklogItem:
        """An instance of the backlog with the current names of the labels in its advice."""
        given = unpacked(item.advice) if self._changes else None
        if given is None:
            return item
        return item._replace(advice=packed(GivenAdvice(self._changes[-1][0], self.advice(given))))

    def event(self, event: Event) -> Event:
        """An event with the current names of its labels."""
        if not self._changes or event.kind not in _KINDS or event.seq > self._changes[-1][0]:
            return event
        return event._replace(facts=encoded(self.facts(event)))

    def facts(self, event: Event) -> Fact:
        """The facts of an event, with the current names of its labels."""
        fact: Fact = facts_of(event)
        if isinstance(fact, Instance):
            return msgspec.structs.replace(
                fact,
                prediction=self.now(fact.prediction, event.seq),
                answer=self.now(fact.answer, event.seq),
                second=self.now(fact.second, event.seq),
                advice=None if fact.advice is None else self.advice(GivenAdvice(event.seq, fact.advice)),
            )
        if isinstance(fact, Advised):
            return msgspec.structs.replace(fact, advice=self.advice(GivenAdvice(event.seq, fact.advice)))
        if isinstance(fact, GoldChosen):
            fact = msgspec.structs.replace(fact, prediction=self.now(fact.prediction, event.seq))
        if isinstance(fact, GoldAdded) and fact.advice is not None:
            fact = msgspec.structs.replace(fact, advice=self.advice(GivenAdvice(event.seq, fact.advice)))
        if isinstance(fact, _WITH_LABEL):
            return msgspec.structs.replace(fact, label=self.now(fact.label, event.seq))
        return fact
