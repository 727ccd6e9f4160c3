"""CSV, and other tables of text: blocks of whole rows, each parsed by pyarrow out of memory.

Arrow is given copies in memory of its own, never a Python file: it reads ahead in threads, which must not call Python
when the interpreter ends.
"""

from __future__ import annotations

import csv as csv_reader
import io
from collections.abc import Generator
from contextlib import closing
from typing import Any

import numpy as np

from ...errors import InputError
from ..csv_dialect import delimiter_of, first_rows, has_names
from ..csv_layout import HEAD, QUOTE, CsvLayout, row_end
from ..files import blocks_of, is_piped, needs, open_bytes, parsed_in_order
from ..format import Format
from ..lines import NEWLINE
from ..read_request import Chunk, ReadRequest, chunks_of_tables
from ..tables import ArrowTable

LONGEST = 1 << 26
"""Largest number of bytes of a row."""


def _tables(request: ReadRequest, name: str, usual: str) -> Generator[ArrowTable]:
    """The tables of a file of text: the rows of each block; on a pipe, rows as they come."""
    needs("read", "pyarrow", f"a {name} file")
    with closing(blocks_of("read", request.path, request.report, encoding=request.encoding)) as blocks:
        start = next(blocks, None)
        if start is None:
            return
        delimiter = request.delimiter or delimiter_of(bytes(start[: 2 * HEAD]), usual)
        rows = _rows_of(request.path, ord(delimiter), _put_back(start, blocks))
        yield from _tables_of(request, delimiter, rows)


def _tables_of(request: ReadRequest, delimiter: str, rows: Generator[memoryview]) -> Generator[ArrowTable]:
    """The tables of rows of text."""
    import pyarrow as arrow

    path, piped, before = request.path, is_piped(request.path), 0
    with closing(rows):
        first = _first(rows, 0 if piped else HEAD)
        if first is None:
            return
        layout = CsvLayout(first, delimiter, request)
        parts, ahead = _numbered(first, rows), not (piped or request.settles_only)
        try:
            with closing(parsed_in_order(layout.parse, parts, wait=ahead)) as found:
                for table in found:
                    for batch in table.to_batches():
                        yield ArrowTable(batch, path, known=layout.known)
                    before += table.num_rows
        except (arrow.ArrowException, UnicodeDecodeError) as error:
            raise layout.refused(error, before) from error


def _put_back(first: memoryview, others: Generator[memoryview]) -> Generator[memoryview]:
    yield first
    yield from others


def _rows_of(path: Any, delimiter: int, blocks: Generator[memoryview]) -> Generator[memoryview]:
    """Blocks of whole rows out of blocks of whole lines: a quoted value may go on in the next line."""
    rest = b""
    with closing(blocks):
        for block in blocks:
            rows = memoryview(bytearray(rest) + block) if rest else block
            text = np.frombuffer(rows, np.uint8)
            end = row_end(text, delimiter, len(text)) if rest or (text == QUOTE).any() else len(text)
            if end:
                yield rows[:end]
            rest = bytes(rows[end:])
            if len(rest) > LONGEST:
                raise InputError(
                    f"cannot read {path}: a row is longer than {LONGEST >> 20} MB; perhaps a quote is not closed.",
                    owner="read",
                )
    if rest:
        yield memoryview(bytearray(rest))


def _first(rows: Generator[memoryview], size: int) -> memoryview | None:
    """At least ``size`` bytes, and at least the line of names and one row; None if the file is empty."""
    found = memoryview(b"")
    for block in rows:
        found = memoryview(bytearray(found) + block) if found else block
        if len(found) >= size and np.count_nonzero(np.frombuffer(found, np.uint8) == NEWLINE) >= 2:
            break
    return found if found else None


def _numbered(first: memoryview, rows: Generator[memoryview]) -> Generator[tuple[bool, memoryview]]:
    """Blocks, each with whether it is the first."""
    with closing(rows):
        yield True, first
        for block in rows:
            yield False, block


def _count(request: ReadRequest, usual: str) -> int:
    """The number of rows under the line of names; quoted values may go over several lines."""
    found, names, delimiter = 0, None, usual
    with closing(blocks_of("read", request.path, encoding=request.encoding)) as blocks:
        for block in blocks:
            text = bytes(block)
            if names is None:
                delimiter = request.delimiter or delimiter_of(text, usual)
                names = int(has_names(first_rows(text, delimiter)))
            if b'"' in text:
                return max(_count_quoted(request, delimiter) - names, 0)
            found += sum(1 for line in text.splitlines() if line)
    return max(found - (names or 0), 0)


def _count_quoted(request: ReadRequest, delimiter: str) -> int:
    content, file = open_bytes("read", request.path)
    encoding = request.encoding or "utf-8"
    with file, content, io.TextIOWrapper(content, encoding, errors="replace", newline="") as text:
        return sum(1 for row in csv_reader.reader(text, delimiter=delimiter) if row)


def delimited(name: str, delimiter: str) -> Format:
    """A format of tables of text, with this character between values unless the user names another one."""

    def tables(request: ReadRequest) -> Generator[ArrowTable]:
        return _tables(request, name, delimiter)

    def chunks(request: ReadRequest) -> Generator[Chunk]:
        return chunks_of_tables(request, tables(request))

    def count(request: ReadRequest) -> int:
        return _count(request, delimiter)

    return Format(name, chunks, (f".{name}",), tables=tables, count=count, delimiter=delimiter)


FORMAT = delimited("csv", ",")
