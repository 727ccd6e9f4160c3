"""What was shown of an instance, as the cells of a row."""

from __future__ import annotations

from typing import Any

import msgspec

from ..domain import row_codec
from ..domain.features import FeatureReader, schema_of_features
from ..events.settings import Features, Settings
from ..store.records import BacklogItem, Event

_FIRST = {"seq": int, "round": int, "id": str, "time": float, "source": str}

Row = dict[str, Any]


class ShownInstances:
    """The first columns of a table of instances, those of what was shown, and the last ones, which are given.

    Parameters
    ----------
    settings : Settings
        The settings of the stream.
    native : bool
        Whether lists and objects stay what they are; otherwise they are JSON texts.
    last : dict
        The last columns, by name.
    """

    def __init__(self, settings: Settings, native: bool, last: dict[str, type]) -> None:
        self._native = native
        self._reader = FeatureReader(settings.features, settings.version)
        shown = _shown_columns(settings.features)
        self._is_named = settings.features.kind in ("mixed", "columns") or bool(settings.features.names)
        taken = _FIRST.keys() | last.keys()
        self._names = {name: f"x.{name}" if name in taken else name for name in shown}
        self.columns = _FIRST | {self._names[name]: kind for name, kind in shown.items()} | last

    def row(self, each: Event | BacklogItem, source: str | None) -> Row:
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
