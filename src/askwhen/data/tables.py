"""Tables with a label column: CSV and Parquet files batch by batch, through pyarrow."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from .files import Report, needs, open_bytes
from .hashing import hash_text

LABELS = ("label", "y", "class", "target")
"""Names by which a label column is found where none is given."""


class Columns(NamedTuple):
    """Which columns of a table are the label, the time, and text to be hashed; which are left out."""

    label: str | None
    time: str | None
    text: str | None
    drop: tuple[str, ...]
    features: int


def batches_of(path: str | os.PathLike[str], kind: str, rows: int, report: Report | None) -> Iterator[Any]:
    """The record batches of a file."""
    arrow = needs("read", "pyarrow", f"a {kind} file")
    if kind == "parquet":
        from pyarrow import parquet

        try:
            file = parquet.ParquetFile(path)
        except (OSError, arrow.ArrowInvalid) as error:
            raise InputError(f"read: cannot read {path}: {str(error).splitlines()[0]}.") from error
        total, size, done = file.metadata.num_rows, Path(path).stat().st_size, 0
        with file:
            for batch in file.iter_batches(rows):
                done += batch.num_rows
                if report is not None:
                    report(size * done // max(total, 1))
                yield batch
        return
    from pyarrow import csv

    content, raw = open_bytes("read", path)
    options = csv.ParseOptions(delimiter="\t" if kind == "tsv" else ",")
    with contextlib.ExitStack() as held:
        if os.fspath(path) != "-":
            held.enter_context(raw)
            held.enter_context(content)
        try:
            with csv.open_csv(content, csv.ReadOptions(block_size=1 << 22), options) as reader:
                for batch in reader:
                    if report is not None and raw.seekable():
                        report(raw.tell())
                    yield batch
        except (arrow.ArrowInvalid, arrow.ArrowKeyError, OSError, EOFError) as error:
            raise InputError(f"read: cannot read {path}: {str(error).splitlines()[0]}.") from error


def split(batch: Any, columns: Columns, path: Any, before: int) -> tuple[Any, np.ndarray, Any]:
    """Instances, labels and times (or None) of a batch of which ``before`` rows came earlier."""
    names = batch.schema.names
    for name in (columns.label, columns.time, columns.text, *columns.drop):
        if name is not None and name not in names:
            raise InputError(f"read: {path} has no column {name!r}; it has {_listed(names)}.")
    label = columns.label or next((name for name in LABELS if name in names), None)
    if label is None:
        raise InputError(f"read: {path} needs label=, the name of its label column; it has {_listed(names)}.")
    taken = {label, columns.time, columns.text, *columns.drop}
    numbers = [name for name in names if name not in taken]
    dense = np.empty((batch.num_rows, len(numbers)))
    for j, name in enumerate(numbers):
        dense[:, j] = _numbers(batch.column(name), name, path, before)
    y = batch.column(label).to_numpy(zero_copy_only=False)
    _refuse_empty(batch.column(label), label, path, before)
    times = None if columns.time is None else batch.column(columns.time).to_numpy(zero_copy_only=False)
    if columns.text is None:
        return dense, y, times
    _refuse_empty(batch.column(columns.text), columns.text, path, before)
    words = hash_text(batch.column(columns.text).cast("string").to_pylist(), columns.features)
    return sp.hstack([words, sp.csr_matrix(dense)], "csr") if numbers else words, y, times


def _numbers(column: Any, name: str, path: Any, before: int) -> np.ndarray:
    import pyarrow as arrow

    kind = column.type
    if arrow.types.is_null(kind):
        _refuse_empty(column, name, path, before)
    if not (arrow.types.is_integer(kind) or arrow.types.is_floating(kind) or arrow.types.is_boolean(kind)):
        raise InputError(
            f"read: column {name!r} of {path} holds {kind}, not numbers; name it in drop=, or as text= to hash it."
        )
    _refuse_empty(column, name, path, before)
    return np.asarray(column.to_numpy(zero_copy_only=False), float)


def _refuse_empty(column: Any, name: str, path: Any, before: int) -> None:
    if column.null_count:
        row = before + int(np.flatnonzero(np.asarray(column.is_null()))[0])
        raise InputError(f"read: column {name!r} of {path} is empty in row {row}, counted from 0 after the header.")


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:12])) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
