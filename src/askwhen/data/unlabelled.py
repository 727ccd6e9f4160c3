"""Instances without labels, together with their records for annotators: rows of a table, or lines of NDJSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import encoders
from ..errors import InputError
from .column_choices import LABELS, ColumnChoices
from .column_table import ColumnTable
from .files import Report, check_readable, is_piped
from .format import Format
from .formats import FORMATS, format_of
from .instances import Instances
from .read_request import ReadRequest
from .reading_checks import check_reading, checked_choices, several_names
from .schema import Schema
from .whole_file import of_whole_file

_ROWS = 1 << 12


# So many parameters because they are those of data.read, by the same names.
def read_records(
    path: str | os.PathLike[str],
    *,
    text: str | Sequence[str] | None = None,
    drop: str | Sequence[str] = (),
    categories: str | Sequence[str] = (),
    numbers: str | Sequence[str] = (),
    vector: str | Sequence[str] = (),
    decimal: str | None = None,
    encoder: Any = None,
    schema: Schema | None = None,
    names: Sequence[str] | None = None,
    missing: str = "auto",
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    n_features: int | None = None,
    skip: int = 0,
    passed: Callable[[int, dict[str, Any]], None] | None = None,
    settled: Callable[[Instances], None] | None = None,
) -> Generator[tuple[Any, dict[str, Any]]]:
    """One instance and its record after the other: features as :func:`~askwhen.data.read` makes them, without labels.

    Parameters
    ----------
    path : str or path
        A CSV, TSV, Parquet or NDJSON file, or Prodigy's tasks; lines of NDJSON are objects with a value for each name.
    text, categories, numbers, vector : str or list of str, optional
        As for :func:`~askwhen.data.read`. Columns that cannot be decided about are in the record only.
    drop : str or list of str, optional
        Columns that are neither features nor in the record; columns named label, y, class or target never are.
    decimal, encoder, schema, names, missing, format, delimiter, encoding : optional
        As for :func:`~askwhen.data.read`.
    n_features : int, optional
        Number of places that words are hashed to; by default 262,144.
    skip : int, default 0
        Number of rows to skip.
    passed : callable, optional
        Receives the number and the record of each row that is skipped.
    settled : callable, optional
        Receives what makes the features, with the schema, once that is known.
    """
    name, found = os.fspath(path), format_of(path, format)
    _check_tables(found)
    check_reading(found, missing, delimiter, encoding, decimal)
    hidden = several_names("drop", drop)
    columns = ColumnChoices(
        text=several_names("text", text),
        categories=several_names("categories", categories),
        numbers=several_names("numbers", numbers),
        vector=several_names("vector", vector),
        drop=hidden,
        names=None if names is None else several_names("names", names),
        missing=missing,
        given_places=n_features,
        labelled=False,
        strict=False,
        encoder=encoders.chosen(encoder if schema is None or encoder != encoders.AUTO else None),
        decimal=decimal,
    )
    columns = checked_choices(found, columns, schema)._replace(drop=hidden)
    check_readable("read", name)
    request = ReadRequest(name, columns, rows=_ROWS, delimiter=delimiter, encoding=encoding)
    told = set[str]()
    if schema is None and names is None and not is_piped(name):
        schema = _schema_of(found, request)
        told = set() if schema is None else schema.told
    instances = Instances(columns, name, schema, told)
    tables = tables_of(name, found, columns, delimiter, encoding, instances=instances)
    with closing(tables), closing(instances):
        yield from _rows(tables, instances, skip, passed, settled)


def _schema_of(format: Format, request: ReadRequest) -> Schema | None:
    """What each column of a file is taken for; None for a file without rows."""
    instances = Instances(request.columns, request.path)
    with closing(_check_tables(format)(request._replace(instances=instances))) as tables:
        next(tables, None)
    return None if instances.schema is None else of_whole_file(instances.schema, format, request)


def _rows(
    tables: Iterable[ColumnTable],
    instances: Instances,
    skip: int,
    passed: Callable[[int, dict[str, Any]], None] | None,
    settled: Callable[[Instances], None] | None,
) -> Generator[tuple[Any, dict[str, Any]]]:
    """The instances and records of tables, after those that are skipped."""
    columns, at = instances.columns, 0
    hidden = {*columns.drop, *LABELS} - {*columns.features}
    for table in tables:
        shown = [{key: each[key] for key in each if key not in hidden} for each in table.records()]
        left = min(max(skip - at, 0), len(shown))
        if passed is not None:
            for i in range(left):
                passed(at + i, shown[i])
        at += len(shown)
        X: Any = None
        if left == len(shown):
            instances.skip(table)
        else:
            X, _, _ = instances.of(table)
        if settled is not None:
            settled(instances)
        for i in range(left, len(shown)):
            yield X[i] if sp.issparse(X) else np.ascontiguousarray(X[i]), shown[i]


def tables_of(
    path: str,
    format: Format,
    columns: ColumnChoices,
    delimiter: str | None = None,
    encoding: str | None = None,
    report: Report | None = None,
    instances: Instances | None = None,
) -> Generator[ColumnTable]:
    """The tables of a file, whose format must have them."""
    read_tables = _check_tables(format)
    request = ReadRequest(path, columns, rows=_ROWS, delimiter=delimiter, encoding=encoding, report=report)
    return read_tables(request._replace(instances=instances))


def _check_tables(format: Format) -> Callable[[ReadRequest], Generator[ColumnTable]]:
    """The function that reads the tables of a format; a format without tables is refused."""
    if format.tables is None:
        *others, last = (each.name for each in FORMATS.values() if each.tables is not None)
        raise InputError(f"records come from {', '.join(others)} or {last}, got {format.name}.", owner="read")
    return format.tables
