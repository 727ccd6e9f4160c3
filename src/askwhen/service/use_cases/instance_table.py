"""The table of instances: what was shown, its label, by whom, and the prediction then and now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from ..domain import row_codec
from ..domain.features import FeatureReader, schema_of_features
from ..domain.model import Guess
from ..events.kinds import Instance, facts_of
from ..events.settings import Features, Settings
from ..store.records import BacklogItem, Event, Reader
from .instance_outcomes import Outcome, outcomes_of
from .predicting import Predictor

CHUNK = 1_000

_FIRST = {"seq": int, "round": int, "id": str, "time": float, "source": str}
_LAST = {
    "show": str,
    "state": str,
    "label": str,
    "by": str,
    "reviewer": str,
    "answers": int,
    "comments": int,
    "flagged": bool,
    "prediction": str,
    "certainty": float,
    "prediction_now": str,
    "certainty_now": float,
    "delivered": str,
    "delivered_by": str,
}
"""``label`` is that of people, ``prediction`` and ``certainty`` what the model said when the instance was decided, and
the same ``_now`` what today's model says. ``delivered`` is the label, or else the prediction, and ``delivered_by`` says
which. Instances of the backlog come last and have neither seq nor round."""

Row = dict[str, Any]


class InstanceTable:
    """The columns and rows of a stream.

    Parameters
    ----------
    settings : Settings
        The settings of the stream.
    predictor : Predictor
        Says what today's model predicts.
    native : bool
        Whether lists and objects stay what they are; otherwise they are JSON texts.
    """

    def __init__(self, settings: Settings, predictor: Predictor, native: bool) -> None:
        self._settings, self._predictor, self._native = settings, predictor, native
        self._reader = FeatureReader(settings.features, settings.version)
        shown = _shown_columns(settings.features)
        self._is_named = settings.features.kind in ("mixed", "columns") or bool(settings.features.names)
        taken = _FIRST.keys() | _LAST.keys()
        self._names = {name: f"x.{name}" if name in taken else name for name in shown}
        self.columns = _FIRST | {self._names[name]: kind for name, kind in shown.items()} | _LAST

    def chunks(self, reader: Reader, stream: int, after: int, until: int) -> Iterator[list[Row]]:
        """The rows after an event, a chunk at a time; then the instances that wait in the backlog."""
        for events in _instances(reader, stream, after, until):
            yield self._decided(reader, stream, events, until)
        place, placed = 0, set()
        while items := reader.backlog(stream, place, CHUNK):
            place = items[-1].place
            placed |= {item.place for item in items}
            yield self._waiting(items)
        # Those that were decided meanwhile were in neither list.
        for events in _instances(reader, stream, until, 1 << 62):
            late = [event for event in events if (fact := facts_of(event)).place and fact.place not in placed]
            yield self._decided(reader, stream, late, 1 << 62)

    def _decided(self, reader: Reader, stream: int, events: list[Event], until: int) -> list[Row]:
        pairs = [(event, fact) for event in events if not (fact := facts_of(event)).back]  # others wait, or came later
        events, facts = [event for event, _ in pairs], [fact for _, fact in pairs]
        outcomes = outcomes_of(reader, stream, facts, until)
        guesses = self._predictor.guesses([event.row for event in events])
        return [
            self._row(event, fact, outcomes[fact.round], guess)
            for (event, fact), guess in zip(pairs, guesses, strict=True)
        ]

    def _row(self, event: Event, fact: Instance, outcome: Outcome, now: Guess) -> Row:
        delivered = fact.prediction if outcome.label is None else outcome.label
        by = None if delivered is None else "model" if outcome.label is None else "people"
        return self._shown(event, fact.source) | {
            "seq": event.seq,
            "round": fact.round,
            "state": outcome.state,
            "label": outcome.label,
            "by": ", ".join(outcome.people) or None,
            "reviewer": outcome.reviewer,
            "answers": outcome.answers,
            "comments": outcome.comments,
            "flagged": outcome.flagged,
            "prediction": fact.prediction,
            "certainty": fact.certainty,
            "prediction_now": now[0],
            "certainty_now": now[1],
            "delivered": delivered,
            "delivered_by": by,
        }

    def _waiting(self, items: list[BacklogItem]) -> list[Row]:
        guesses = self._predictor.guesses([item.row for item in items])
        return [
            self._shown(item, item.source)
            | {"state": "waiting", "answers": 0, "comments": 0, "flagged": False}
            | {"prediction_now": now[0], "certainty_now": now[1]}
            for item, now in zip(items, guesses, strict=True)
        ]

    def _shown(self, each: Event | BacklogItem, source: str | None) -> Row:
        """A row with what was shown of an instance."""
        found: Row = dict.fromkeys(self.columns)
        found |= {"id": None if each.key is None else each.key[2:], "time": each.time, "source": source or None}
        if each.row is None:
            return found
        seen: dict[str, Any] = {} if each.shown is None else msgspec.json.decode(each.shown)
        x = seen.get("x") if self._reader.keeps_input else self._reader.shown(row_codec.from_bytes(each.row))
        found["show"] = self._cell(seen.get("show"), str)
        values: Any = x if self._is_named else {"text": x, "x": x}
        for name, own in self._names.items():
            found[own] = self._cell(values.get(name), self.columns[own])
        return found

    def _cell(self, value: Any, kind: type) -> Any:
        if value is None or self._native:
            return value
        if kind is float:
            return float(value) if isinstance(value, (int, float)) else None
        return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _instances(reader: Reader, stream: int, after: int, until: int) -> Iterable[list[Event]]:
    """Decided instances after an event and up to another, in chunks."""
    while after < until and (events := reader.events(stream, after, CHUNK, ("instance",))):
        after = events[-1].seq
        yield [event for event in events if event.seq <= until]


def _shown_columns(features: Features) -> dict[str, type]:
    """The columns that hold what the model sees: one for each name that the features have."""
    if features.kind == "text":
        return {"text": str}
    if features.kind == "mixed":
        return dict.fromkeys(features.text, str) | dict.fromkeys(features.names or [], float)
    schema = schema_of_features(features)
    if schema is not None:
        return {name: float if name in schema.read_as_numbers else str for name in schema.needed}
    if features.kind == "numbers" and features.names:
        return dict.fromkeys(features.names, float)
    return {"x": str}
