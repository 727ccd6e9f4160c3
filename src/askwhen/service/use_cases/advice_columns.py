"""Advice in tables: for each adviser a column with its label, and one with the probability that it states of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..domain.stream import ServiceStream
from ..events.advice import Advice
from ..events.kinds import Advised, facts_of
from ..store.records import Reader
from .predicting import advice_of

CHUNK, MOST = 1_000, 100
"""Events that are read at once, and advisers that have columns."""

_BEFORE, _LATE = ("advice", "confidence"), ("late_advice", "late_confidence")


class AdviceColumns:
    """The columns of some advisers: of what came before the decisions, and of what came after them.

    Parameters
    ----------
    names, late : sequence of str
        The advisers of each.
    """

    def __init__(self, names: Sequence[str] = (), late: Sequence[str] = ()) -> None:
        self._names, self._late = names, late
        self.columns: dict[str, type] = {}
        for prefixes, advisers in ((_BEFORE, names), (_LATE, late)):
            for name in advisers:
                self.columns |= dict(zip((f"{prefix}.{name}" for prefix in prefixes), (str, float), strict=True))

    @property
    def labels(self) -> list[str]:
        """The columns that have labels."""
        return [name for name, kind in self.columns.items() if kind is str]

    def cells(self, advice: Advice | None, late: Advice | None) -> dict[str, Any]:
        """The cells of a row; an adviser that says nothing has empty ones."""
        return _cells(_BEFORE, self._names, advice or {}) | _cells(_LATE, self._late, late or {})


def _cells(prefixes: tuple[str, str], names: Sequence[str], advice: Advice) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in names:
        cells = advice[name].named if name in advice else (None, None)
        found |= {f"{prefix}.{name}": cell for prefix, cell in zip(prefixes, cells, strict=True)}
    return found


def advisers_of(stream: ServiceStream) -> list[str]:
    """The advisers that a stream knows, or has heard."""
    wanted = stream.settings.advisers
    return list(dict.fromkeys([*(wanted if isinstance(wanted, list) else ()), *stream.model.advisers]))


def advice_columns(
    reader: Reader, stream: int, advisers: Sequence[str], until: int, waiting: bool = False
) -> AdviceColumns:
    """The columns of the advisers of a stream, and of those whose advice came late, up to an event.

    With ``waiting`` also of those who have said something only of instances that wait.
    """
    names, late = dict.fromkeys(advisers), dict[str, None]()
    after = 0
    while len(late) < MOST and (events := reader.events(stream, after, CHUNK, ("advised",))):
        after = events[-1].seq
        for event in events:
            fact: Advised = facts_of(event)
            late |= dict.fromkeys(fact.advice) if event.seq <= until else {}
    place = 0
    while waiting and len(names) < MOST and (items := reader.backlog(stream, place, CHUNK)):
        place = items[-1].place
        for item in items:
            names |= dict.fromkeys(advice_of(item) or {})
    return AdviceColumns(list(names)[:MOST], list(late)[:MOST])
