"""The kinds of webhook messages: each with the event that causes it and the data that is sent.

Messages never have the contents of an instance. Nothing here needs an extra, since ``askwhen webhook --help`` lists the
kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..events.kinds import Answered, Corrected, Instance, PromiseChecked, Told
    from ..store.records import Event

Data = dict[str, Any]


class Kind(NamedTuple):
    """A kind of message: its name, the kind of event that may cause it, and its data; None where none is sent."""

    name: str
    event: str = ""
    data: Callable[[Event, Any], Data | None] = lambda _event, _fact: None


def _round(event: Event, fact: Instance) -> Data:
    return {"round": fact.round, "id": fact.id if fact.withheld else None if event.key is None else event.key[2:]}


def _opened(event: Event, fact: Instance) -> Data | None:
    if not fact.is_question:
        return None
    names = ("prediction", "margin", "probability", "certainty", "priority")
    return {"question": fact.round} | _round(event, fact) | {name: getattr(fact, name) for name in names}


def _answered(event: Event, fact: Answered) -> Data:
    given = {"question": event.question, "annotator": fact.annotator, "label": fact.label}
    return given | {"unsure": fact.label is None}


def _certified(event: Event, fact: Instance) -> Data | None:
    return _round(event, fact) | {"label": fact.prediction, "by": "model"} if fact.is_certified else None


def _given(event: Event, fact: Told | Corrected) -> Data | None:
    return {"round": event.question, "id": fact.id, "label": fact.label, "by": "people"} if fact.delivered else None


def _certificate(event: Event, fact: PromiseChecked) -> Data:
    names = ("errors", "confidence", "delivered", "people", "certified")
    return {name: getattr(fact, name) for name in names}


OPENED = Kind("question.opened", "instance", _opened)
ANSWERED = Kind("question.answered", "answered", _answered)
SWITCHED = Kind("switch.detected", "instance", lambda event, fact: _round(event, fact) if fact.switched else None)
SPENT = Kind("budget.spent", "instance", lambda event, fact: _round(event, fact) if fact.spent else None)
DELIVERED = tuple(
    Kind("label.delivered", event, data)
    for event, data in (("instance", _certified), ("told", _given), ("corrected", _given))
)
MET, BROKEN = Kind("promise.met", "promise met", _certificate), Kind("promise.broken", "promise broken", _certificate)
BELOW = Kind("accuracy.below")
"""Follows from the estimated accuracy, and not from a single event."""

WAITING, DISPUTED = Kind("questions.waiting"), Kind("questions.disputed")
"""Follow from the questions that wait, and not from a single event."""

ALL = (OPENED, ANSWERED, *DELIVERED, MET, BROKEN, SWITCHED, SPENT, BELOW, WAITING, DISPUTED)
KINDS = tuple(dict.fromkeys(kind.name for kind in ALL))
TEST = "test"
"""The type of test messages, which webhooks get without having subscribed to it."""
