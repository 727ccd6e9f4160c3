"""Predictions as text or as a file: columns of values, written piece by piece as CSV, NDJSON or Parquet."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from ..errors import InputError
from ..system.atomic_file import whole_file
from ..trace.trace import needed

SUFFIXES = (".csv", ".ndjson", ".jsonl", ".parquet")
"""The endings of the files that can be written."""

Columns = dict[str, Any]
Write = Callable[[Columns], object]


class ColumnText:
    """Columns as lines of JSON, or of CSV with the names of the columns before the first ones."""

    def __init__(self, as_json: bool) -> None:
        self._json = as_json
        self._begun = False

    def lines(self, columns: Columns) -> str:
        """The lines of the next rows."""
        plain = {name: values.tolist() if hasattr(values, "tolist") else values for name, values in columns.items()}
        rows = zip(*plain.values(), strict=True)
        if self._json:
            return "".join(f"{json.dumps(dict(zip(plain, row, strict=True)))}\n" for row in rows)
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        if not self._begun:
            writer.writerow(plain)
            self._begun = True
        writer.writerows(rows)
        return text.getvalue()


@contextlib.contextmanager
def opened(path: str) -> Iterator[Write]:
    """A function that writes columns to a file, which appears under its name when all is written."""
    try:
        with whole_file(path) as file:
            if path.lower().endswith(".parquet"):
                with _parquet(file) as write:
                    yield write
            else:
                text = ColumnText(not path.lower().endswith(".csv"))
                yield lambda columns: file.write(text.lines(columns).encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}.") from error


@contextlib.contextmanager
def _parquet(file: BinaryIO) -> Iterator[Write]:
    arrow, parquet = needed("predict", "pyarrow"), needed("predict", "pyarrow.parquet")
    writers: list[Any] = []

    def write(columns: Columns) -> None:
        table = arrow.table({name: arrow.array(list(values)) for name, values in columns.items()})
        if not writers:  # the schema is known only now
            writers.append(parquet.ParquetWriter(file, table.schema))
        writers[0].write_table(table)

    try:
        yield write
    finally:
        for writer in writers:
            writer.close()
