"""Count the rows of a file without reading its values, so that a share of labels can be a share of the whole file."""

from __future__ import annotations

import csv
import io
import os
from contextlib import closing

from ..errors import InputError
from .files import blocks_of, is_piped, needs, open_bytes
from .formats import format_of
from .formats.csv_tables import DELIMITERS


def count_rows(
    path: str | os.PathLike[str], format: str | None = None, delimiter: str | None = None, encoding: str | None = None
) -> int | None:
    """The number of rows; None where they can be read only once, or cannot be read at all.

    What is wrong with a file is said by those who read its values, and they say it better.
    """
    if is_piped(path):
        return None
    try:
        kind = format_of(path, format)
        if kind == "parquet":
            needs("read", "pyarrow", "a parquet file")
            from pyarrow import ArrowException, parquet

            try:
                return int(parquet.read_metadata(path).num_rows)
            except ArrowException:
                return None
        return (
            _table_rows(path, delimiter or DELIMITERS[kind], encoding) if kind in DELIMITERS else _lines(path, encoding)
        )
    except (InputError, OSError, EOFError, LookupError, UnicodeError, csv.Error):
        return None


def _lines(path: str | os.PathLike[str], encoding: str | None) -> int:
    """The number of lines that are neither blank nor a comment."""
    found = 0
    with closing(blocks_of("read", path, encoding=encoding)) as blocks:
        for block in blocks:
            found += sum(1 for line in bytes(block).splitlines() if line.strip() and line[:1] != b"#")
    return found


def _table_rows(path: str | os.PathLike[str], delimiter: str, encoding: str | None) -> int:
    """The number of rows under the line of names; quoted values may go over several lines."""
    found = 0
    with closing(blocks_of("read", path, encoding=encoding)) as blocks:
        for block in blocks:
            if b'"' in bytes(block):
                return _quoted_rows(path, delimiter, encoding)
            found += sum(1 for line in bytes(block).splitlines() if line)
    return max(found - 1, 0)


def _quoted_rows(path: str | os.PathLike[str], delimiter: str, encoding: str | None) -> int:
    content, file = open_bytes("read", path)
    with file, content, io.TextIOWrapper(content, encoding or "utf-8", errors="replace", newline="") as text:
        return max(sum(1 for row in csv.reader(text, delimiter=delimiter) if row) - 1, 0)
