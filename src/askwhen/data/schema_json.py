"""Schemas as values that JSON knows, for saved models; what is read back is checked."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

from ..errors import InputError
from .date_features import CYCLES, DateForm
from .schema import Schema, TextEncoder
from .schema_columns import TYPES, Column, VectorColumn
from .written_numbers import form_of

MOST = 1 << 31
"""Largest number of places or features in a stored schema."""
_ROLES = ("dropped", "label", "time")


def to_json(schema: Schema) -> dict[str, Any]:
    """A schema as dicts, lists, texts and numbers."""
    columns = [{"type": column.type, **_written(column)} for column in schema.columns]
    found = {"columns": columns, "places": schema.places, "missing": schema.missing}
    return found if schema.encoder is None else found | {"encoder": schema.encoder._asdict()}


def from_json(value: Any) -> Schema:
    """A schema that :func:`to_json` has written; anything else is refused."""
    if not isinstance(value, dict) or set(value) - {"encoder"} != {"columns", "places", "missing"}:
        raise _refusal("must be an object with columns, places and missing")
    if not isinstance(value["columns"], list):
        raise _refusal("must have a list of columns")
    if not _is_count(value["places"]) or value["missing"] not in ("auto", "feature", "refuse"):
        raise _refusal("must have a number of places, and missing as auto, feature or refuse")
    columns = tuple(_column(each) for each in value["columns"])
    names = [column.name for column in columns]
    needed = [name for column in columns for name in column.needed]
    if len({*names}) < len(names) or len({*needed}) < len(needed):
        raise _refusal("must have each column once")
    schema = Schema(columns, value["places"], value["missing"], _encoder(value.get("encoder")))
    if not 0 <= schema.kinds.d < MOST:
        raise _refusal("has too many features")
    return schema


def _encoder(value: Any) -> TextEncoder | None:
    """The encoder of texts, if there is one."""
    if value is None:
        return None
    if not isinstance(value, dict) or set(value) != {*TextEncoder._fields}:
        raise _refusal("must have an encoder with a name, a checksum and a width")
    found = TextEncoder(**value)
    if not isinstance(found.name, str) or not isinstance(found.checksum, str | None) or not _is_count(found.width):
        raise _refusal("must have an encoder with a name, a checksum and a width")
    return found


def _written(column: Column) -> dict[str, Any]:
    """The fields of a column that differ from their defaults."""
    found = {}
    for field in dataclasses.fields(column):
        value = getattr(column, field.name)
        if value != field.default:
            found[field.name] = (
                value._asdict() | {"cycles": list(value.cycles)} if isinstance(value, DateForm) else value
            )
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def _column(value: Any) -> Column:
    """One column."""
    if not isinstance(value, dict) or value.get("type") not in TYPES:
        raise _refusal(f"has a column of no known type: {value!r:.80}")
    kind = TYPES[value["type"]]
    fields = {field.name for field in dataclasses.fields(kind)}
    given: dict[str, Any] = {name: each for name, each in value.items() if name != "type"}
    strange = [name for name, each in given.items() if name not in fields or not _CHECKS[name](each)]
    if strange or "name" not in given:
        raise _refusal(f"has a column {given.get('name')!r:.80} with a wrong {(strange or ['name'])[0]!r:.80}")
    if "form" in given:
        given["form"] = DateForm(**{**given["form"], "cycles": tuple(given["form"]["cycles"])})
    given = {name: tuple(each) if isinstance(each, list) else each for name, each in given.items()}
    column = kind(**given)
    if isinstance(column, VectorColumn) and (column.width < 1 or len(column.parts) not in (0, column.width)):
        raise _refusal(f"has a vector {column.name!r:.80} of a wrong width")
    return column


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _are_texts(value: Any) -> bool:
    """Whether these are different texts."""
    return isinstance(value, list) and all(map(_is_text, value)) and len({*value}) == len(value)


def _is_form(value: Any) -> bool:
    if not isinstance(value, dict) or set(value) != set(DateForm._fields):
        return False
    origin, cycles = value["origin"], value["cycles"]
    is_number = isinstance(origin, (int, float)) and not isinstance(origin, bool) and math.isfinite(origin)
    return is_number and _is_text(value["format"]) and _are_texts(cycles) and {*cycles} <= {*CYCLES}


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "name": _is_text,
    "why": _is_text,
    "salt": _is_text,
    "what": lambda value: value in _ROLES,
    "gaps": _is_flag,
    "lenient": _is_flag,
    "writing": lambda value: _is_text(value) and (value == "" or form_of(value) is not None),
    "width": _is_count,
    "parts": _are_texts,
    "values": _are_texts,
    "words": lambda value: _are_texts(value) and len(value) == 2,
    "form": _is_form,
}
"""What the value of each field must be."""


def _refusal(what: str) -> InputError:
    return InputError(f"a stored schema {what}.", owner="schema")
