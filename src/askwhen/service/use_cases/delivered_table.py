"""The table of delivered labels: what was shown, its label, and whether people or the model gave it."""

from __future__ import annotations

from collections.abc import Iterator

from ..events.kinds import Instance
from ..events.settings import Settings
from ..store.records import Event, Reader
from .instance_outcomes import Outcome
from .instance_table import delivered_label, instances_between, with_outcomes
from .shown_instances import Row, ShownInstances

_LAST = {"show": str, "label": str, "by": str, "people": str, "certainty": float}
"""``by`` is "people" or "model", ``people`` their names, and ``certainty`` that of the prediction when it was made.
``time`` is when the label was delivered."""


class DeliveredTable:
    """The columns and rows of the labels that a stream has delivered.

    Instances that wait, for their decision or for an answer, are not in it.

    Parameters
    ----------
    settings : Settings
        The settings of the stream.
    native : bool
        Whether lists and objects stay what they are; otherwise they are JSON texts.
    """

    def __init__(self, settings: Settings, native: bool) -> None:
        self._shown = ShownInstances(settings, native, _LAST)
        self.columns = self._shown.columns

    def chunks(self, reader: Reader, stream: int, after: int, until: int) -> Iterator[list[Row]]:
        """The rows after an event, a chunk at a time."""
        for events in instances_between(reader, stream, after, until):
            rows = (self._row(*each) for each in with_outcomes(reader, stream, events, until))
            yield [row for row in rows if row["label"] is not None]

    def _row(self, event: Event, fact: Instance, outcome: Outcome) -> Row:
        label, by = delivered_label(fact, outcome)
        return self._shown.row(event, fact.source) | {
            "seq": event.seq,
            "round": fact.round,
            "time": event.time if outcome.time is None else outcome.time,
            "label": label,
            "by": by,
            "people": ", ".join(outcome.people) or None,
            "certainty": fact.certainty,
        }
