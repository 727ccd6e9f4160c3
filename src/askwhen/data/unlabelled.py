"""Instances without labels, together with their records for annotators: rows of a table, or lines of NDJSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from .files import Report, check_readable
from .format import Format
from .formats import FORMATS, format_of
from .instances import LABELS, Columns, ColumnTable, Instances
from .read_request import ReadRequest
from .stream import check_reading, several_names

_ROWS = 1 << 12


# So many parameters because they are those of data.read, by the same names.
def read_records(
    path: str | os.PathLike[str],
    *,
    text: str | Sequence[str] | None = None,
    drop: str | Sequence[str] = (),
    categories: str | Sequence[str] = (),
    missing: str = "refuse",
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    n_features: int | None = None,
    skip: int = 0,
    passed: Callable[[int, dict[str, Any]], None] | None = None,
    named: Callable[[tuple[str, ...]], None] | None = None,
    unlearnt: Callable[[tuple[str, ...]], None] | None = None,
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """One instance and its record after the other: features as :func:`~askwhen.data.read` makes them, without labels.

    Parameters
    ----------
    path : str or path
        A CSV, TSV, Parquet or NDJSON file, or Prodigy's tasks; lines of NDJSON are objects with a value for each name.
    text, categories : str or list of str, optional
        The columns whose words are hashed, and those whose values are. Other columns that hold no numbers are in the
        record only.
    drop : str or list of str, optional
        Columns that are neither features nor in the record; columns named label, y, class or target never are.
    missing, format, delimiter, encoding : str, optional
        As for :func:`~askwhen.data.read`.
    n_features : int, optional
        Number of places that words are hashed to; by default 262,144.
    skip : int, default 0
        Number of rows to skip.
    passed : callable, optional
        Receives the number and the record of each row that is skipped.
    named : callable, optional
        Receives the names of the features that are not hashed, once they are known: ``Stream.names``.
    unlearnt : callable, optional
        Receives once the columns that are in the record only, if there are any; :func:`~askwhen.data.read` would
        refuse them.
    """
    name, found = os.fspath(path), format_of(path, format)
    _check_tables(found)
    check_reading(found, missing, delimiter, encoding)
    check_readable("read", name)
    columns = found.columns(
        Columns(
            text=several_names("text", text),
            categories=several_names("categories", categories),
            drop=several_names("drop", drop),
            missing=missing,
            given_places=n_features,
            labelled=False,
            strict=False,
        )
    )
    with closing(tables_of(name, found, columns, delimiter, encoding)) as tables:
        yield from _rows(tables, Instances(columns, name), skip, _Callbacks(passed, named, unlearnt))


class _Callbacks(NamedTuple):
    """The functions that receive skipped rows, names of features, and columns that are not learnt from."""

    passed: Callable[[int, dict[str, Any]], None] | None
    named: Callable[[tuple[str, ...]], None] | None
    unlearnt: Callable[[tuple[str, ...]], None] | None


def _rows(
    tables: Iterable[ColumnTable], instances: Instances, skip: int, callbacks: _Callbacks
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The instances and records of tables, after those that are skipped."""
    columns, at, is_first = instances.columns, 0, True
    hidden = {*columns.drop, *LABELS} - {*columns.text, *columns.categories}
    for table in tables:
        shown = [{key: each[key] for key in each if key not in hidden} for each in table.records()]
        left = min(max(skip - at, 0), len(shown))
        if callbacks.passed is not None:
            for i in range(left):
                callbacks.passed(at + i, shown[i])
        at += len(shown)
        X: Any = None
        if left == len(shown):
            instances.skip(table)
        else:
            X, _, _ = instances.of(table)
        if callbacks.named is not None and instances.names is not None:
            callbacks.named(instances.names)
        if is_first and callbacks.unlearnt is not None and instances.shown_only:
            callbacks.unlearnt(instances.shown_only)
        is_first = False
        for i in range(left, len(shown)):
            yield X[i] if sp.issparse(X) else np.ascontiguousarray(X[i]), shown[i]


def tables_of(
    path: str,
    format: Format,
    columns: Columns,
    delimiter: str | None = None,
    encoding: str | None = None,
    report: Report | None = None,
) -> Generator[ColumnTable]:
    """The tables of a file, whose format must have them."""
    read_tables = _check_tables(format)
    return read_tables(ReadRequest(path, columns, rows=_ROWS, delimiter=delimiter, encoding=encoding, report=report))


def _check_tables(format: Format) -> Callable[[ReadRequest], Generator[ColumnTable]]:
    """The function that reads the tables of a format; a format without tables is refused."""
    if format.tables is None:
        *others, last = (each.name for each in FORMATS.values() if each.tables is not None)
        raise InputError(f"records come from {', '.join(others)} or {last}, got {format.name}.", owner="read")
    return format.tables
