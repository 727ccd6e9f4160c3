"""The table of instances: what was shown, its label, by whom, and the prediction then and now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..domain.model import Guess
from ..events.kinds import Instance, facts_of
from ..events.settings import Settings
from ..store.records import BacklogItem, Event, Reader
from .advice_columns import AdviceColumns
from .instance_outcomes import Outcome, outcomes_of
from .predicting import Predictor, advice_of
from .shown_instances import Row, ShownInstances

CHUNK = 1_000

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
    advice : AdviceColumns, optional
        The columns of advisers.
    """

    def __init__(
        self, settings: Settings, predictor: Predictor, native: bool, advice: AdviceColumns | None = None
    ) -> None:
        self._predictor, self._advice = predictor, AdviceColumns() if advice is None else advice
        self._shown = ShownInstances(settings, native, _LAST | self._advice.columns)
        self.columns = self._shown.columns

    def chunks(self, reader: Reader, stream: int, after: int, until: int) -> Iterator[list[Row]]:
        """The rows after an event, a chunk at a time; then the instances that wait in the backlog."""
        for events in instances_between(reader, stream, after, until):
            yield self._decided(reader, stream, events, until)
        place, placed = 0, set()
        while items := reader.backlog(stream, place, CHUNK):
            place = items[-1].place
            placed |= {item.place for item in items}
            yield self._waiting(items)
        # Those that were decided meanwhile were in neither list.
        for events in instances_between(reader, stream, until, 1 << 62):
            late = [event for event in events if (fact := facts_of(event)).place and fact.place not in placed]
            yield self._decided(reader, stream, late, 1 << 62)

    def _decided(self, reader: Reader, stream: int, events: list[Event], until: int) -> list[Row]:
        found = with_outcomes(reader, stream, events, until)
        guesses = self._predictor.guesses([event for event, _, _ in found])
        return [self._row(*each, guess) for each, guess in zip(found, guesses, strict=True)]

    def _row(self, event: Event, fact: Instance, outcome: Outcome, now: Guess) -> Row:
        delivered, by = delivered_label(fact, outcome)
        return self._shown.row(event, fact.source) | {
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
            **self._advice.cells(fact.advice, outcome.late),
        }

    def _waiting(self, items: list[BacklogItem]) -> list[Row]:
        guesses = self._predictor.guesses(items)
        return [
            self._shown.row(item, item.source)
            | {"state": "waiting", "answers": 0, "comments": 0, "flagged": False}
            | {"prediction_now": now[0], "certainty_now": now[1]}
            | self._advice.cells(advice_of(item), None)
            for item, now in zip(items, guesses, strict=True)
        ]


def with_outcomes(
    reader: Reader, stream: int, events: Iterable[Event], until: int
) -> list[tuple[Event, Instance, Outcome]]:
    """Decided instances with their facts and outcomes; those that were withheld wait, or were decided later."""
    found = [(event, fact) for event in events if not (fact := facts_of(event)).back]
    outcomes = outcomes_of(reader, stream, [fact for _, fact in found], until)
    return [(event, fact, outcomes[fact.round]) for event, fact in found]


def delivered_label(fact: Instance, outcome: Outcome) -> tuple[str | None, str | None]:
    """The label of an instance or else its prediction, and which of the two; a promise delivers no open question."""
    if outcome.label is not None:
        return outcome.label, "people"
    is_open = fact.expected is not None and fact.asked
    return (None, None) if is_open or fact.prediction is None else (fact.prediction, "model")


def instances_between(reader: Reader, stream: int, after: int, until: int) -> Iterable[list[Event]]:
    """Decided instances after an event and up to another, in chunks."""
    while after < until and (events := reader.events(stream, after, CHUNK, ("instance",))):
        after = events[-1].seq
        yield [event for event in events if event.seq <= until]
