"""Checks of the arguments that say how a file is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import encoders
from ..errors import InputError, argument
from ..validation import check_choice
from .column_choices import ColumnChoices
from .files import check_encoding, listed
from .format import Format
from .formats import FORMATS
from .schema import Schema
from .schema_columns import GAP


def checked_choices(format: Format, columns: ColumnChoices, schema: Schema | None) -> ColumnChoices:
    """The user's choices about columns, which must go with the format and with a schema that is given."""
    if format.tables is None:
        _refuse_columns(columns, schema, format.name)
    if schema is not None:
        return _with_schema(columns, schema)
    if columns.names is not None and columns.missing == "auto":
        gaps = any(name.endswith(GAP) for name in columns.names)
        columns = columns._replace(missing="feature" if gaps else "refuse")
    return format.columns(columns)


def _with_schema(columns: ColumnChoices, schema: Schema) -> ColumnChoices:
    """The choices that are left where a schema says what columns are; others are refused."""
    if not isinstance(schema, Schema):
        raise InputError(f"schema= must be the schema of a stream, got {type(schema).__name__}.", owner="read")
    given = next((name for name in ("text", "categories", "numbers", "vector") if getattr(columns, name)), None)
    given = given or ("names" if columns.names is not None else None)
    if given is not None:
        raise InputError(
            f"{argument(given)} must not be given with a schema, which says what columns are.", owner="read"
        )
    needed = next((name for name in columns.drop if name in schema.needed), None)
    if needed is not None:
        raise InputError(
            f"column {needed!r} is a feature of the schema, and must not be in {argument('drop')}.", owner="read"
        )
    if columns.encoder is not None and schema.encoder is None:
        raise InputError(f"{argument('encoder')} must not be given with a schema of words only.", owner="read")
    if isinstance(columns.encoder, encoders.Encoder) and schema.encoder is not None:
        columns.encoder.check(schema.encoder._asdict())
        encoders.remember(columns.encoder)
    return columns._replace(drop=())


def check_no_encoder(encoder: Any, schema: Schema | None) -> None:
    """Refuse to leave the vectors out that a schema has features of; ``None`` says nothing about them."""
    if encoder == encoders.NONE and schema is not None and schema.encoder is not None:
        raise InputError(
            f"{argument('encoder', encoders.NONE)} must not be given with a schema whose texts have the vectors of "
            f"{schema.encoder.name}.",
            owner="read",
        )


def _refuse_columns(columns: ColumnChoices, schema: Schema | None, format: str) -> None:
    """Refuse arguments about columns for a format without columns."""
    every = ("label", "time", "text", "categories", "numbers", "vector", "drop")
    what = [argument(name) for name in every if getattr(columns, name)]
    what += ["a schema"] if schema is not None else []
    what += [argument("encoder")] if columns.encoder is not None else []
    what += [argument("decimal")] if columns.decimal is not None else []
    what += [argument("missing")] if columns.missing == "feature" else []
    what += ["a feature by its name"] if columns.names is not None else []
    if what:
        raise InputError(f"{what[0]} is only for tables, got {format}.", owner="read")


def check_reading(format: Format, missing: str, delimiter: Any, encoding: Any, decimal: Any = None) -> None:
    """Refuse arguments that do not go with a format."""
    if decimal is not None:
        check_choice("read", argument("decimal"), decimal, (".", ","))
    check_choice("read", argument("missing"), missing, ("auto", "feature", "refuse"))
    got = argument("format", format.name)
    if delimiter is not None:
        if format.delimiter is None:
            takers = " and ".join(each.name for each in FORMATS.values() if each.delimiter is not None)
            raise InputError(f"{argument('delimiter')} is only for {takers}, got {got}.", owner="read")
        if not isinstance(delimiter, str) or len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
            raise InputError(
                f"{argument('delimiter')} must be one character, such as ';', got {delimiter!r}.", owner="read"
            )
    if encoding is not None:
        check_encoding("read", encoding)
        if not format.is_text:
            raise InputError(f"{argument('encoding')} is only for files of text, got {got}.", owner="read")


def several_names(what: str, names: str | Sequence[str] | None) -> tuple[str, ...]:
    """The names of columns, given as one or as a list."""
    found = () if names is None else (names,) if isinstance(names, str) else tuple(names)
    if not all(isinstance(name, str) for name in found) or len({*found}) < len(found):
        raise InputError(
            f"{what}= must be different names of columns, got {listed(list(map(str, found)))}.", owner="read"
        )
    return found
