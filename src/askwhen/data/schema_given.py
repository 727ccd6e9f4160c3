"""Schemas that a user gives instead of letting them be found: names of columns, and what each of them is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import encoders
from ..errors import InputError
from .column_choices import ColumnChoices
from .column_decisions import PLACES
from .date_features import CYCLES, DateForm
from .inference import complete
from .schema import Schema
from .schema_columns import (
    ASKED,
    CategoryColumn,
    Column,
    DateColumn,
    NamesColumn,
    NumberColumn,
    OtherColumn,
    TextColumn,
    VectorColumn,
)
from .schema_json import from_json
from .written_numbers import form_of

MOST_COLUMNS = 100_000
_WHY = "as given"
_FORMS = (
    '"number", "date", "category", "text", "drop", {"category": [its values]}, {"date": its format}, {"number": '
    'its writing} or {"vector": n}'
)


def make_schema(
    columns: Mapping[str, Any], *, encoder: Any = None, missing: str = "auto", places: int | None = None
) -> Schema:
    """A schema from the names of columns and what each of them is, for ``Sampler(schema=)`` and keyed streams.

    Parameters
    ----------
    columns : dict
        For each name "number", "date", "category", "text" or "drop"; or with more about it ``{"category": ["Rome",
        "Oslo"]}``, at most 62 values, each of which gets a place of its own, and one more for all others;
        ``{"date": "%d/%m/%Y"}``, as for ``strptime``; ``{"number": ",€"}``, texts with this mark before decimals and
        this sign, one of %, $, €, £ and ¥ or none; ``{"vector": 384}``, lists of so many numbers.
        A "category" without values is hashed, as words are.
    encoder : str, path, callable or Encoder, optional
        What makes a vector of each text, beside its words, as for :func:`askwhen.encoders.load`.
    missing : {"auto", "feature", "refuse"}, default "auto"
        What to do with missing numbers, as for :func:`askwhen.data.read`.
    places : int, optional
        Number of places that words are hashed to; by default 262,144.

    Examples
    --------
    >>> import askwhen as aw
    >>> schema = aw.data.make_schema({"price": "number", "city": {"category": ["Rome", "Oslo"]}, "note": "drop"})
    >>> schema.names
    ('price', 'city=Rome', 'city=Oslo', 'city is another value', 'city is missing', 'another number is missing')
    >>> schema.row({"price": 2.5, "city": "Bern"}).tolist()
    [2.5, 0.0, 0.0, 1.0, 0.0, 0.0]
    """
    if not isinstance(columns, Mapping) or not 0 < len(columns) <= MOST_COLUMNS:
        raise InputError.about("schema", "columns", f"an object of 1 to {MOST_COLUMNS:,} columns", columns)
    if missing not in ("auto", "feature", "refuse"):
        raise InputError.about("schema", "missing", "'auto', 'feature' or 'refuse'", missing)
    found = [_column(name, given) for name, given in columns.items()]
    loaded = None if encoder is None else encoders.load(encoder)
    choices = ColumnChoices(labelled=False, missing=missing, given_places=places, encoder=loaded)
    return complete(found, choices, "the schema")


def schema_from(given: Any) -> Schema:
    """A schema, from itself, from what ``schema_json.to_json`` wrote of it, or from columns for ``make_schema``."""
    if isinstance(given, Schema):
        return given
    if isinstance(given, Mapping) and isinstance(given.get("schema"), Mapping):  # as --columns --json prints it
        given = given["schema"]
    if isinstance(given, Mapping) and isinstance(given.get("columns"), list):
        return from_json(dict(given))
    return make_schema(given)


def read_schema(path: str) -> Schema:
    """The schema of a JSON file."""
    try:
        content = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}.", owner="schema", file=path) from error
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}.", owner="schema", file=path) from error
    return schema_from(content)


def _column(name: Any, given: Any) -> Column:
    """One column by what it is said to be."""
    if not isinstance(name, str) or not name:
        raise InputError(f"the name of a column must be a text, got {name!r:.80}.", owner="schema")
    kind, more = next(iter(given.items())) if isinstance(given, Mapping) and len(given) == 1 else (given, None)
    if kind == "category" and more is not None and _are_values(more):
        return CategoryColumn(name, tuple(more), why=_WHY)
    if kind == "date" and (more is None or (isinstance(more, str) and "%" in more)):
        return DateColumn(name, DateForm(more or "", 0.0, CYCLES), why=_WHY)
    if kind == "number" and isinstance(more, str) and form_of(more) is not None:
        return NumberColumn(name, writing=more, why=_WHY)
    if kind == "vector" and isinstance(more, int) and not isinstance(more, bool) and 0 < more <= MOST_COLUMNS:
        return VectorColumn(name, more, why=_WHY)
    if more is None and kind == "drop":
        return OtherColumn(name, why=ASKED)
    plain: dict[str, type[Column]] = {"number": NumberColumn, "text": TextColumn, "category": NamesColumn}
    if more is None and isinstance(kind, str) and kind in plain:
        return plain[kind](name, why=_WHY)
    raise InputError(f"column {name!r:.80} must be {_FORMS}, got {given!r:.80}.", owner="schema", column=name)


def _are_values(values: Any) -> bool:
    """Whether these are different texts, no more than a category has places."""
    is_list = isinstance(values, (list, tuple)) and 0 < len(values) <= PLACES - 2
    return is_list and all(isinstance(value, str) for value in values) and len({*values}) == len(values)
