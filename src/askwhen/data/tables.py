"""Tables with a label column: CSV and Parquet files batch by batch, through pyarrow."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from .files import COMPRESSED, Report, blocks_of, needs, open_bytes
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


def batches_of(
    path: str | os.PathLike[str], kind: str, rows: int, columns: Columns, report: Report | None
) -> Iterator[Any]:
    """The record batches of a file."""
    arrow = needs("read", "pyarrow", f"a {kind} file")
    if kind == "parquet":
        read = _parquet(path, rows, report)
    else:
        read = _csv_piped(kind, columns) if os.fspath(path) == "-" else _csv(path, kind, columns, report)
    try:
        yield from read
    except (arrow.ArrowInvalid, arrow.ArrowKeyError, OSError, EOFError, zlib.error) as error:
        raise InputError(f"read: cannot read {path}: {_reason(error)}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"read: {path} is not in UTF-8.") from error


def _reason(error: BaseException) -> str:
    """What pyarrow says, in one sentence."""
    said = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    return said.split(". ")[0]


def _parquet(path: str | os.PathLike[str], rows: int, report: Report | None) -> Iterator[Any]:
    from pyarrow import parquet

    if os.fspath(path) == "-" or Path(path).suffix in COMPRESSED:
        raise InputError(f"read: a Parquet file must be a plain file, since it is not read in order, got {path}.")
    with parquet.ParquetFile(path) as file:
        total, size, done = file.metadata.num_rows, Path(path).stat().st_size, 0
        for batch in file.iter_batches(rows):
            done += batch.num_rows
            if report is not None:
                report(size * done // max(total, 1))
            yield batch


def _csv(path: str | os.PathLike[str], kind: str, columns: Columns, report: Report | None) -> Iterator[Any]:
    """A table of text. What the first megabyte holds decides which columns are numbers, words or flags."""
    from pyarrow import csv

    content, raw = open_bytes("read", path)
    with contextlib.ExitStack() as held:
        held.enter_context(raw)
        held.enter_context(content)
        head = content.read(1 << 20)
        layout = _Layout(head[: head.rfind(b"\n") + 1] or head, kind, columns, path)
        with layout.named(), csv.open_csv(_Chained(head, content), *layout.options()) as reader:
            for batch in reader:
                if report is not None:
                    report(raw.tell())
                yield batch


def _csv_piped(kind: str, columns: Columns) -> Iterator[Any]:
    """A table on the standard input, rows as they come; the first that come decide what the columns are."""
    from pyarrow import csv

    layout, rest, before = None, b"", 0
    for block in itertools.chain(blocks_of("read", "-"), [None]):
        rows = rest if block is None else rest + bytes(block)
        if block is not None and (rows.count(b'"') % 2 or (layout is None and rows.count(b"\n") < 2)):
            end = rows.rfind(b"\n", 0, rows.rfind(b'"')) + 1 if layout is not None else 0  # a row that has not ended
            rows, rest = rows[:end], rows[end:]
        else:
            rest = b""
        if not rows:
            continue
        first = layout is None
        layout = layout or _Layout(rows, kind, columns, "-")
        with layout.named(before):
            found = csv.read_csv(io.BytesIO(rows), *layout.options(header=first))
        before += found.num_rows
        yield from found.to_batches()


class _Layout:
    """What the columns of a table of text are, by its first rows."""

    def __init__(self, first: bytes, kind: str, columns: Columns, path: Any) -> None:
        import pyarrow as arrow
        from pyarrow import csv

        self._parsing = csv.ParseOptions(delimiter="\t" if kind == "tsv" else ",", newlines_in_values=True)
        lenient = csv.ParseOptions(
            delimiter=self._parsing.delimiter, newlines_in_values=True, invalid_row_handler=lambda _: "skip"
        )
        # The last of these rows may be half of one.
        schema = csv.open_csv(io.BytesIO(first), self._reading(), lenient).schema
        _check_names(schema.names, path)
        kinds = {
            field.name: arrow.float64()
            for field in schema
            if arrow.types.is_integer(field.type) or arrow.types.is_null(field.type)
        }
        if columns.text is not None:
            kinds[columns.text] = arrow.string()
        self._names = schema.names
        self._wanted = [name for name in schema.names if name not in columns.drop]
        self._converting = csv.ConvertOptions(column_types=kinds, include_columns=self._wanted)

    @staticmethod
    def _reading(names: list[str] | None = None) -> Any:
        from pyarrow import csv

        # One by one, so that errors name their row.
        return csv.ReadOptions(use_threads=False, block_size=1 << 24, column_names=names)

    def options(self, header: bool = True) -> tuple[Any, Any, Any]:
        """How to read rows, with or without the line that names the columns."""
        return self._reading(None if header else self._names), self._parsing, self._converting

    @contextlib.contextmanager
    def named(self, before: int = 0) -> Iterator[None]:
        """Name the column, and the row of the whole table, in whatever is refused inside."""
        import pyarrow as arrow

        try:
            yield
        except arrow.ArrowInvalid as error:
            said = re.sub(
                r"In CSV column #(\d+)", lambda found: f"in column {self._wanted[int(found[1])]!r}", str(error)
            )
            said = re.sub(r"Row #(\d+)", lambda found: f"Row #{before + int(found[1])}", said)
            raise arrow.ArrowInvalid(said) from error


class _Chained(io.RawIOBase):
    """What was read already, and then the rest."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self._head = memoryview(head)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if len(self._head):
            taken = bytes(self._head if size < 0 else self._head[:size])
            self._head = self._head[len(taken) :]
            return taken
        return self._rest.read(size)  # type: ignore[no-any-return]


def _check_names(names: list[str], path: Any) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"read: {path} has more than one column {twice!r}.")


def split(batch: Any, columns: Columns, path: Any, before: int) -> tuple[Any, np.ndarray, Any]:
    """Instances, labels and times (or None) of a batch of which ``before`` rows came earlier."""
    names = batch.schema.names
    _check_names(names, path)
    for name in (columns.label, columns.time, columns.text):
        if name is not None and name not in names:
            raise InputError(f"read: {path} has no column {name!r}; it has {_listed(names)}.")
    label = columns.label or next((name for name in LABELS if name in names), None)
    if label is None:
        raise InputError(f"read: {path} needs label=, the name of its label column; it has {_listed(names)}.")
    taken = {label, columns.time, columns.text, *columns.drop}
    numbers = [name for name in names if name not in taken]
    if not numbers and columns.text is None:
        raise InputError(f"read: {path} has no feature besides its label.")
    dense = np.empty((batch.num_rows, len(numbers)))
    for j, name in enumerate(numbers):
        dense[:, j] = _numbers(batch.column(name), name, path, before)
    y = batch.column(label).to_numpy(zero_copy_only=False)
    _refuse_empty(batch.column(label), label, path, before)
    times = None if columns.time is None else batch.column(columns.time).to_numpy(zero_copy_only=False)
    if columns.text is None:
        return dense, y, times
    _refuse_empty(batch.column(columns.text), columns.text, path, before)
    try:
        texts = batch.column(columns.text).cast("string").to_pylist()
    except (ValueError, UnicodeDecodeError):
        raise InputError(f"read: column {columns.text!r} of {path} is not in UTF-8.") from None
    words = hash_text(texts, columns.features)
    return sp.hstack([words, sp.csr_matrix(dense)], "csr") if numbers else words, y, times


def _numbers(column: Any, name: str, path: Any, before: int) -> np.ndarray:
    import pyarrow as arrow

    kind = column.type
    if arrow.types.is_null(kind):
        _refuse_empty(column, name, path, before)
    if arrow.types.is_binary(kind):
        raise InputError(f"read: column {name!r} of {path} is not in UTF-8.")
    if not (arrow.types.is_integer(kind) or arrow.types.is_floating(kind) or arrow.types.is_boolean(kind)):
        raise InputError(
            f"read: column {name!r} of {path} holds {kind}, not numbers; name it in drop=, or as text= to hash it."
        )
    _refuse_empty(column, name, path, before)
    return np.asarray(column.to_numpy(zero_copy_only=False), float)


def _refuse_empty(column: Any, name: str, path: Any, before: int) -> None:
    if column.null_count:
        row = before + int(np.flatnonzero(np.asarray(column.is_null()))[0])
        raise InputError(f"read: column {name!r} of {path} is empty or NaN in instance {row}, counted from 0.")


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:12])) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
