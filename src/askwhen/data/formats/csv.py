"""CSV, and other tables of text: blocks of whole rows, each parsed by pyarrow out of memory.

Arrow is given copies in memory of its own, never a Python file: it reads ahead in threads, which must not call Python
when the interpreter ends.
"""

from __future__ import annotations

import csv as csv_reader
import io
import re
import warnings
from collections.abc import Generator
from contextlib import closing
from typing import Any

import numpy as np

from ...compiled.steps import entry
from ...errors import InputError, InputWarning, argument
from ..advice import MARKS, odd_sentence
from ..files import blocks_of, is_piped, listed, needs, not_decoded, one_sentence, open_bytes, parsed_in_order
from ..format import Format
from ..instances import Columns
from ..lines import NEWLINE
from ..read_request import Chunk, ReadRequest, chunks_of_tables
from ..tables import ArrowTable
from .svmlight import RETURN

HEAD = 1 << 20
"""Number of bytes from which the types of the columns are found."""
LONGEST = 1 << 26
"""Largest number of bytes of a row."""

QUOTE = np.uint8(ord('"'))
_ODD_VALUE = re.compile(
    r"In CSV column #(\d+): Row #(\d+): CSV conversion error to (.*): invalid value '(.*)'$", re.DOTALL
)
_KINDS = {"double": "a number", "bool": "true or false"}


@entry
def row_end(text: Any, delimiter: int, limit: int) -> Any:
    """The end of the last complete row within ``limit`` bytes; a quote opens only at the beginning of a value."""
    end = 0
    quoted, fresh = False, True
    for i in range(min(len(text), limit)):
        c = text[i]
        if c == QUOTE and (quoted or fresh):
            quoted = not quoted
            fresh = not quoted  # a second quote just after this one opens again: it was a quote in quotes
        elif not quoted:
            ends = (c == NEWLINE) | (c == RETURN)
            if ends:
                end = i + 1
            fresh = ends | (c == delimiter)
    return end


def _tables(request: ReadRequest, name: str, delimiter: str) -> Generator[ArrowTable]:
    """The tables of a file of text: the rows of each block; on a pipe, rows as they come."""
    arrow = needs("read", "pyarrow", f"a {name} file")
    path, piped = request.path, is_piped(request.path)
    rows = _rows_of(path, ord(delimiter), blocks_of("read", path, request.report, encoding=request.encoding))
    before = 0
    with closing(rows):
        first = _first(rows, 0 if piped else HEAD)
        if first is None:
            return
        layout = _Layout(first, delimiter, request.columns, path)
        parts = _numbered(first, rows)
        try:
            with closing(parsed_in_order(layout.parse, parts, wait=not piped)) as found:
                for table in found:
                    for batch in table.to_batches():
                        yield ArrowTable(batch, path, known=layout.known)
                    before += table.num_rows
        except (arrow.ArrowException, UnicodeDecodeError) as error:
            raise layout.refused(error, before) from error


def _check_between(names: list[str], delimiter: str, columns: Columns, path: Any) -> None:
    """Refuse a table that lacks columns if its names show that another character separates columns."""
    other = max((each for each in ",;\t|" if each != delimiter), key="".join(names).count)
    is_one = len(names) == 1 and not columns.names_it(names[0])
    if "".join(names).count(other) >= len(names) and (is_one or columns.trouble(names, path)):
        what = f"one column, {names[0]!r}" if len(names) == 1 else f"the columns {listed(names)}"
        raise InputError(
            f"{path} has {what}; give {argument('delimiter', other)} if that separates columns.",
            owner="read",
            file=str(path),
            mend={"delimiter": other},
        )


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
    found = bytearray()
    for block in rows:
        found += block
        if len(found) >= size and found.count(b"\n") >= 2:
            break
    return memoryview(found) if found else None


def _numbered(first: memoryview, rows: Generator[memoryview]) -> Generator[tuple[bool, memoryview]]:
    """Blocks, each with whether it is the first."""
    with closing(rows):
        yield True, first
        for block in rows:
            yield False, block


class _Layout:
    """The names and types of the columns of a table of text, found from its first rows."""

    def __init__(self, first: memoryview, delimiter: str, columns: Columns, path: Any) -> None:
        import pyarrow as arrow
        from pyarrow import csv

        self._path = path
        self._parsing = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
        lenient = csv.ParseOptions(
            delimiter=delimiter, newlines_in_values=True, invalid_row_handler=lambda _: "skip"
        )  # a bad row is refused when it is read, with its number
        end = row_end(np.frombuffer(first, np.uint8), ord(delimiter), HEAD) or len(first)
        try:
            head = bytes(first[:end])
            if b"\0" in head.partition(b"\n")[0]:
                raise not_decoded(path)  # two bytes for each character
            str(head.partition(b"\n")[0], "utf-8")
            readable = memoryview(head.decode("utf-8", "replace").encode())  # which Arrow may quote in its errors
            nulls = [*csv.ConvertOptions().null_values, *(MARKS if columns.missing == "feature" else ())]
            schema = self._read(readable, None, lenient, csv.ConvertOptions(null_values=nulls)).schema
            names: list[str] = schema.names
        except UnicodeDecodeError as error:
            raise not_decoded(path) from error
        except arrow.ArrowException as error:
            raise InputError(f"cannot read {path}: {one_sentence(error)}.", owner="read") from error
        known = [name for name in names if name.strip() or columns.names_it(name)]
        _check_between(known, delimiter, columns, path)
        columns.check(known, path)
        unnamed = [
            str(1 + i) for i, field in enumerate(schema) if field.name not in known and str(field.type) != "null"
        ]
        if unnamed:
            what = ("columns", "have", "are") if len(unnamed) > 1 else ("column", "has", "is")
            warnings.warn(
                f"{path}: {what[0]} {', '.join(unnamed)} of {len(names)} {what[1]} no name in the first line, and "
                f"{what[2]} left out.",
                InputWarning,
                stacklevel=2,
            )
        kinds = {
            field.name: arrow.float64()
            for field in schema
            if arrow.types.is_integer(field.type) or arrow.types.is_null(field.type)
        }
        kinds |= dict.fromkeys((*columns.text, *columns.categories, *columns.written), arrow.string())
        self.known, self._names, self._missing = known, names, columns.missing
        self._used = columns.used_in(known)
        self._converting = csv.ConvertOptions(column_types=kinds, include_columns=self._used, null_values=nulls)

    def parse(self, block: tuple[bool, memoryview]) -> Any:
        """The table of a block of whole rows, of which the first begins with the names."""
        first, rows = block
        return self._read(rows, None if first else self._names, self._parsing, self._converting)

    @staticmethod
    def _read(rows: memoryview, names: list[str] | None, parsing: Any, converting: Any) -> Any:
        import pyarrow as arrow
        from pyarrow import csv

        memory = arrow.allocate_buffer(len(rows))
        np.frombuffer(memory, np.uint8)[:] = np.frombuffer(rows, np.uint8)
        # Without threads, so that errors name their row; other blocks are parsed meanwhile.
        reading = csv.ReadOptions(use_threads=False, block_size=len(rows) + 1, column_names=names)
        return csv.read_csv(arrow.BufferReader(memory), reading, parsing, converting)

    def refused(self, error: BaseException, before: int) -> InputError:
        """The error with the column by its name, and the row of the whole table."""
        message = one_sentence(error)
        if "UTF8" in message or isinstance(error, UnicodeDecodeError):
            return not_decoded(self._path)
        odd = _ODD_VALUE.match(message)
        if odd is not None:
            name, row = self._used[int(odd[1])], before + int(odd[2]) - (1 if before else 2)
            sentence = odd_sentence(name, odd[4], row, self._missing, self._path, _KINDS.get(odd[3], f"a {odd[3]}"))
            cured = odd[4] in MARKS and self._missing == "refuse"
            mend = {"missing": "feature"} if cured else {}
            return InputError(sentence, owner="read", file=str(self._path), column=name, row=row, mend=mend)
        message = re.sub(r"In CSV column #(\d+)", lambda found: f"in column {self._used[int(found[1])]!r}", message)
        rows = before + 1 if before else 0  # the line of names is a row too
        message = re.sub(r"Row #(\d+)", lambda found: f"Row #{rows + int(found[1])}", message)
        return InputError(f"cannot read {self._path}: {message}.", owner="read")


def _count(request: ReadRequest, delimiter: str) -> int:
    """The number of rows under the line of names; quoted values may go over several lines."""
    found = 0
    with closing(blocks_of("read", request.path, encoding=request.encoding)) as blocks:
        for block in blocks:
            if b'"' in bytes(block):
                return _count_quoted(request, delimiter)
            found += sum(1 for line in bytes(block).splitlines() if line)
    return max(found - 1, 0)


def _count_quoted(request: ReadRequest, delimiter: str) -> int:
    content, file = open_bytes("read", request.path)
    encoding = request.encoding or "utf-8"
    with file, content, io.TextIOWrapper(content, encoding, errors="replace", newline="") as text:
        return max(sum(1 for row in csv_reader.reader(text, delimiter=delimiter) if row) - 1, 0)


def delimited(name: str, delimiter: str) -> Format:
    """A format of tables of text, with this character between values unless the user names another one."""

    def tables(request: ReadRequest) -> Generator[ArrowTable]:
        return _tables(request, name, request.delimiter or delimiter)

    def chunks(request: ReadRequest) -> Generator[Chunk]:
        return chunks_of_tables(request, tables(request))

    def count(request: ReadRequest) -> int:
        return _count(request, request.delimiter or delimiter)

    return Format(name, chunks, (f".{name}",), tables=tables, count=count, delimiter=delimiter)


FORMAT = delimited("csv", ",")
