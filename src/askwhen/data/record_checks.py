"""Checks that tables and single records have the columns that features are made of, and the right values in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InputError
from .files import listed, perhaps
from .schema_columns import Column
from .written_values import is_missing

NO_VALUE = "; where a value is missing, give None (null in JSON) under its name"
"""How to go on, at the end of a refusal of a record."""

_SOME = 12


def check_names(needed: Sequence[str], names: Sequence[str], path: Any, cure: str = "") -> None:
    """Refuse a table that lacks a column, with the nearest name that it has."""
    lacking = [name for name in needed if name not in names]
    if not lacking:
        return
    some = ", and no ".join(f"column {name!r}{perhaps(name, names)}" for name in lacking[:_SOME])
    more = f", and no {len(lacking) - _SOME} more" if len(lacking) > _SOME else ""
    raise InputError(
        f"{path} has no {some}{more}, which the features are made of; it has {listed(list(names))}{cure}.",
        owner="read",
        file=str(path),
        column=lacking[0],
    )


def check_record(columns: Sequence[Column], record: Mapping[str, Any], what: str) -> None:
    """Refuse a record that lacks a column, or has something else in it than these columns hold."""
    needed = [name for column in columns for name in column.needed]
    if not record.keys() >= {*needed}:
        check_names(needed, list(record), what, NO_VALUE)
    for column in columns:
        for name in column.needed:
            value = record[name]
            if value is None or value != value or (isinstance(value, str) and is_missing(value)):
                continue
            expected = column.expected(value)
            if expected is not None:
                raise InputError(
                    f"{what} must have {expected} as {name!r}, got {value!r:.80}.",
                    owner="row",
                    column=name,
                    expected=expected,
                    got=value,
                )
