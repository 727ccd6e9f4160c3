"""Rows with named values: data frames and records, whose columns say by their types what kind of features they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...data.column_choices import ColumnChoices
from ...data.column_table import NUMBER, ColumnTable
from ...data.columns import Columns
from ...data.files import listed
from ...data.inference import ROWS, complete, infer
from ...data.label_copies import warn_of_copies
from ...data.record_checks import NO_VALUE, check_names
from ...data.records import Records
from ...data.schema import Schema
from ...data.schema_columns import Column, NamesColumn, NumberColumn, OtherColumn, TextColumn, VectorColumn
from ...data.tables import ArrowTable
from ...errors import InputError, at_row

_WORDS_OF_TEXT = 3
"""A single value with at least so many words is taken for a text."""


TEXT = "text"
"""The name of the column of texts that come without a name."""


def as_text(choices: Columns | None) -> Columns:
    """The same choices for texts that come without a name."""
    return dataclasses.replace(choices or Columns(), text=TEXT)


def is_record(x: Any) -> bool:
    """Whether this is one row with named values: a dict, or a pandas Series."""
    return isinstance(x, Mapping) or _is_series(x)


def _is_series(x: Any) -> bool:
    """Whether this is a Series of pandas: a row, or a column if its index has no names."""
    return hasattr(x, "iloc") and getattr(x, "ndim", 2) == 1


def is_table(X: Any) -> bool:
    """Whether these are rows with named values: a data frame of pandas, polars or Arrow, or a list of dicts."""
    if isinstance(X, (list, tuple)):
        return bool(X) and all(isinstance(row, Mapping) for row in X)
    return hasattr(X, "column_names") or (hasattr(X, "columns") and not isinstance(X, np.ndarray))


def texts_as_records(X: Any, name: str) -> Any:
    """A text, or a list, an array or a column of texts, as records with one value; anything else as it is."""
    if isinstance(X, str):
        return {name: X}
    texts = X if isinstance(X, (list, tuple)) else _column_values(X)
    if not texts or not isinstance(next((x for x in texts if not _is_missing(x)), None), str):
        return X
    found = [None if _is_missing(x) else x for x in texts]
    return [{name: x} for x in found] if all(isinstance(x, (str, type(None))) for x in found) else X


def check_unnamed(owner: str, X: Any, schema: Schema) -> None:
    """Refuse rows without names that cannot be those of a schema, neither as they are nor as its features."""
    names, shape, d = f"the columns {listed(list(schema.needed))} by name", getattr(X, "shape", ()), schema.kinds.d
    if texts_as_records(X, TEXT) is not X:
        raise InputError(f"X must have {names}, got texts without a name.", owner=owner)
    if shape and shape[-1] != d:
        raise InputError(
            f"X must have {names}, or the {d:,} features that are made of them, got shape {shape}.", owner=owner
        )


def check_in_memory(X: Any) -> None:
    """Refuse a data frame of polars that is not computed yet."""
    if type(X).__name__ == "LazyFrame":
        raise InputError("X must have its rows in memory, got a LazyFrame; give X.collect().")


def _column_values(X: Any) -> list[Any]:
    """The values of a column of numpy, pandas, polars or Arrow; none of anything else, and of a row with names."""
    if isinstance(X, np.ndarray):
        return X.tolist() if X.dtype.kind in "UO" and X.ndim == 1 else []
    if _is_series(X):
        return [] if all(isinstance(name, str) for name in X.index) else list(X)
    if hasattr(X, "column_names") or hasattr(X, "columns"):
        return []
    convert = getattr(X, "to_pylist", None) or getattr(X, "to_list", None)  # of Arrow, and of polars
    return convert() if convert is not None else []


def _is_missing(value: Any) -> bool:
    """Whether a value stands for no text, as None and NaN do."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and value != value)


def schema_of(X: Any, choices: Columns | None) -> Schema | None:
    """The schema of a first record or table; None for a table of numbers alone about which nothing was said.

    A table that lacks some numbers has a schema, which says what becomes of them.

    A record is taken by the types of its values, since one row does not show which words recur.
    """
    if is_record(X):
        record = _record(X)
        plain = all(_is_number(value) for value in record.values())
        return None if plain and choices is None and not isinstance(X, Mapping) else _of_record(record, choices)
    if choices is None and _only_numbers(X):
        return None
    table = table_of(X)
    return infer(table, (choices or Columns()).choices(), "X")


def rows_of(X: Any, schema: Schema, owner: str) -> Any:
    """The instances of a record or a table, by the schema."""
    if is_record(X):
        return schema.row(_record(X))
    table = table_of(X)
    schema.check(table.names, "X")
    if isinstance(X, (list, tuple)):
        _check_names(X, schema)
    if not table.rows:
        raise InputError("X must have at least one row.", owner=owner)
    return schema.rows(table, path="X")


def warn_of_labels(X: Any, labels: np.ndarray, schema: Schema) -> None:
    """Warn of columns of a table that are the labels written otherwise."""
    table = table_of(X).head(ROWS)
    cure = "leave it out of X, or by columns=aw.Columns(drop={0!r})"
    warn_of_copies("X", table, schema.columns, labels[: table.rows], cure)


def check_same_index(owner: str, X: Any, y: Any) -> None:
    """Refuse labels of pandas whose index is not that of the instances: their order may be another one."""
    if not (hasattr(X, "iloc") and hasattr(y, "iloc")) or getattr(X, "ndim", 1) != 2:
        return
    if len(X) == len(y) and not X.index.equals(y.index):
        raise InputError(
            "y has another index than X; give y.loc[X.index] to match them by their index, or y.to_numpy() to match "
            "them by position.",
            owner=owner,
            parameter="y",
        )


def _check_names(rows: Sequence[Mapping[str, Any]], schema: Schema) -> None:
    """Refuse a record that lacks a column, as a single one is refused: a name may be mistyped."""
    needed = {*schema.needed}
    for i, row in enumerate(rows):
        if not row.keys() >= needed:
            check_names(schema.needed, list(row), at_row(i), NO_VALUE)


def table_of(X: Any) -> ColumnTable:
    """A data frame, or a list of dicts, as a table."""
    if isinstance(X, (list, tuple)):
        return Records([{name: _plain(value) for name, value in row.items()} for row in X], "X")
    arrow = _as_arrow(X)
    if arrow is None:
        rows = X.to_dicts() if hasattr(X, "to_dicts") else X.to_dict("records")
        return Records([{str(name): _plain(value) for name, value in row.items()} for row in rows], "X")
    batches = arrow.combine_chunks().to_batches()
    return ArrowTable(batches[0] if batches else _no_rows(arrow), "X")


def _as_arrow(X: Any) -> Any:
    """A data frame as an Arrow table, or None where Arrow is not installed or cannot hold it."""
    if hasattr(X, "column_names"):
        return X
    if find_spec("pyarrow") is None:
        return None
    import pyarrow as arrow

    try:
        if hasattr(X, "to_arrow"):
            return X.to_arrow()
        return arrow.Table.from_pandas(X.rename(columns=str), preserve_index=False)
    except (arrow.ArrowException, TypeError, ValueError):
        return None


def _no_rows(table: Any) -> Any:
    import pyarrow as arrow

    return arrow.RecordBatch.from_pylist([], schema=table.schema)


def _only_numbers(X: Any) -> bool:
    """Whether all columns of a data frame hold numbers, or true and false, and none is missing."""
    if isinstance(X, (list, tuple)):
        return False
    if hasattr(X, "dtypes") and hasattr(X, "iloc"):
        return all(getattr(kind, "kind", "O") in "fiub" for kind in X.dtypes) and not X.isna().any(axis=None)
    if hasattr(X, "column_names"):
        tables = [ArrowTable(batch, "X") for batch in X.to_batches()]
        numbers = all(table.kind(name) == NUMBER for table in tables[:1] for name in table.names)
        return numbers and all(table.gap(name) is None for table in tables for name in table.names)
    kinds = getattr(X, "dtypes", ())
    numbers = all(kind.is_numeric() or str(kind) == "Boolean" for kind in kinds)
    return numbers and not (hasattr(X, "null_count") and sum(X.null_count().row(0)))


def _record(x: Any) -> dict[str, Any]:
    """A record as a dict of values that JSON has."""
    return {str(name): _plain(value) for name, value in (x if isinstance(x, Mapping) else x.to_dict()).items()}


def _plain(value: Any) -> Any:
    """A value as plain Python has it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if type(value).__name__ in ("NAType", "NaTType"):  # of pandas, which need not be installed
        return None
    return value.isoformat() if hasattr(value, "isoformat") else value


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, (int, float))


def _of_record(record: dict[str, Any], choices: Columns | None) -> Schema:
    """The schema of a first record, by the types of its values and by what was said."""
    chosen = (choices or Columns()).choices()
    chosen.check(list(record), "x")
    columns = [_column(name, value, chosen) for name, value in record.items()]
    return complete(columns, chosen, "x")


def _column(name: str, value: Any, choices: ColumnChoices) -> Column:
    """One column of a record."""
    why = "as asked" if choices.names_it(name) else "by the type of its first value"
    if name in choices.drop:
        return OtherColumn(name, why="as asked")
    if name in choices.text:
        return TextColumn(name, why=why)
    if name in choices.categories:
        return NamesColumn(name, why=why)
    if isinstance(value, (list, tuple)) and value and all(_is_number(each) for each in value):
        kind = NumberColumn if name in choices.numbers else VectorColumn
        return kind(name, len(value), why=why)
    if name in choices.numbers or _is_number(value):
        return NumberColumn(name, lenient=not _is_number(value), why=why)
    if isinstance(value, str):
        return (TextColumn if len(value.split()) >= _WORDS_OF_TEXT else NamesColumn)(name, why=why)
    raise InputError(
        f"column {name!r} of x holds {type(value).__name__}; leave it out by columns=aw.Columns(drop=({name!r},)).",
        owner="ask",
        column=name,
    )
