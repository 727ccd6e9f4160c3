"""A reader of the log that gives labels their current names, whatever they were called in an event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from ..events.label_names import LabelNames
from ..store.records import BacklogItem, Event, Reader

NamesOf = Callable[[int], LabelNames]
"""The current names of the labels of a stream, given its number."""


class _NamedReader:
    def __init__(self, reader: Reader, names_of: NamesOf) -> None:
        self._reader, self._names_of = reader, names_of

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def events(self, stream: int, after: int, limit: int, kinds: Sequence[str] = ()) -> list[Event]:
        return self._named(stream, self._reader.events(stream, after, limit, kinds))

    def event(self, stream: int, seq: int) -> Event | None:
        found = self._reader.event(stream, seq)
        return None if found is None else self._names_of(stream).event(found)

    def by_keys(self, stream: int, keys: Sequence[str]) -> list[Event]:
        return self._named(stream, self._reader.by_keys(stream, keys))

    def of_question(self, stream: int, question: int) -> list[Event]:
        return self._named(stream, self._reader.of_question(stream, question))

    def of_questions(self, stream: int, questions: Sequence[int]) -> list[Event]:
        return self._named(stream, self._reader.of_questions(stream, questions))

    def backlog(self, stream: int, after: int, limit: int) -> list[BacklogItem]:
        names = self._names_of(stream)
        return [names.item(item) for item in self._reader.backlog(stream, after, limit)]

    def _named(self, stream: int, events: Iterable[Event]) -> list[Event]:
        names = self._names_of(stream)
        return [names.event(event) for event in events]


def named(reader: Reader, names_of: NamesOf) -> Reader:
    """The same reader with the current names of labels."""
    return cast(Reader, _NamedReader(reader, names_of))
