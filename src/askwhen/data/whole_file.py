"""Columns that are empty or always the same in the first rows of a table, and are not so later."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing, suppress
from typing import Any

from ..errors import InputError
from .column_choices import ColumnChoices
from .column_decisions import Undecided, decide, is_constant
from .column_table import ColumnTable
from .format import Format
from .inference import complete
from .read_request import ReadRequest
from .records import Records
from .schema import Schema
from .schema_columns import Column, OtherColumn
from .written_values import is_missing


def of_whole_file(schema: Schema, format: Format, request: ReadRequest) -> Schema:
    """The schema of a file by its first rows, in which columns that change later are what they are then.

    Only such columns are read, up to the row where the last of them has changed.
    """
    constant = [column.name for column in schema.columns if is_constant(column)]
    if not constant or format.tables is None or format.tasks is not None:
        return schema
    others = tuple(name for column in schema.columns if column.name not in constant for name in _names_of(column))
    columns = ColumnChoices(labelled=False, strict=False, drop=others, written=tuple(constant))
    found: dict[str, Column] = {}
    with suppress(InputError), closing(format.tables(request._replace(columns=columns, instances=None))) as tables:
        found = _changed(tables, constant, request)
    if not found:
        return schema
    return complete([found.get(column.name, column) for column in schema.columns], request.columns, request.path)


def _names_of(column: Column) -> tuple[str, ...]:
    """The names in the file of a column, or of the parts of a vector."""
    return column.needed or (column.name,)


def _changed(tables: Iterable[ColumnTable], names: list[str], request: ReadRequest) -> dict[str, Column]:
    """What columns are, by the first table in which they have a second value."""
    found, left, first = dict[str, Column](), list(names), dict[str, Any]()
    for table in tables:
        for name in [name for name in left if name in table.names]:
            texts = [None if text is None or is_missing(text) else text for text in table.coded(name)[0]]
            before = first.setdefault(name, texts[0] if texts else None)
            if any(text != before for text in texts):
                left.remove(name)
                found[name] = _decided(table, name, before, request)
        if not left:
            break
    return found


def _decided(table: ColumnTable, name: str, before: Any, request: ReadRequest) -> Column:
    """What a column is, by the table in which it changes, and by its value before."""
    rows = [{name: before}, *({name: text} for text in table.words(name))]
    choices = request.columns
    column = decide(Records(rows, request.path), name, choices.time_format, choices.decimal)
    if isinstance(column, Undecided):
        column = OtherColumn(name, why=f"the same in the first rows, and later {column.what}")
    return column
