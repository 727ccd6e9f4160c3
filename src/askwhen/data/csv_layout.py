"""The names and types of the columns of a table of text, and its blocks of rows as tables of Arrow."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np

from ..compiled.steps import entry
from ..errors import InputError, InputWarning, argument
from .column_choices import ColumnChoices
from .csv_dialect import DELIMITERS, first_rows, has_names
from .csv_head import HeadTable
from .files import listed, not_decoded, one_sentence
from .lines import NEWLINE
from .read_request import ReadRequest
from .tables import ArrowTable
from .written_values import NULLS

HEAD = 1 << 20
"""Number of bytes from which the types of the columns are found."""

QUOTE, RETURN = np.uint8(ord('"')), np.uint8(ord("\r"))
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


def _check_between(names: list[str], delimiter: str, columns: ColumnChoices, path: Any) -> None:
    """Refuse a table that lacks columns if its names show that another character separates columns."""
    other = max((each for each in DELIMITERS if each != delimiter), key="".join(names).count)
    is_one = len(names) == 1 and not columns.names_it(names[0])
    if "".join(names).count(other) >= len(names) and (is_one or columns.trouble(names, path)):
        what = f"one column, {names[0]!r}" if len(names) == 1 else f"the columns {listed(names)}"
        raise InputError(
            f"{path} has {what}; give {argument('delimiter', other)} if that separates columns.",
            owner="read",
            file=str(path),
            mend={"delimiter": other},
        )


def _one_batch(table: Any) -> Any:
    """A table as one batch, also where it has no rows."""
    import pyarrow as arrow

    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else arrow.RecordBatch.from_pylist([], table.schema)


class CsvLayout:
    """The names and types of the columns of a table of text, found from its first rows."""

    def __init__(self, first: memoryview, delimiter: str, request: ReadRequest) -> None:
        from pyarrow import csv

        columns = request.columns
        self._path, self._instances = request.path, request.instances
        self._parsing = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
        head = self._head(first, delimiter)
        self._names, self._has_names = self._column_names(bytes(head), delimiter, columns)
        parsed = self._looked_at(head, None)
        schema = parsed.schema
        names: list[str] = schema.names
        self.known = [name for name in names if name.strip() or columns.names_it(name)]
        _check_between(self.known, delimiter, columns, self._path)
        if self._instances is None:
            columns.check(self.known, self._path)
            kinds = dict.fromkeys((*columns.text, *columns.categories, *columns.written), "string")
            self._used = [name for name in self.known if name not in columns.drop]
        else:
            self._instances.settle(self._as_texts(head, parsed))
            kinds = dict.fromkeys(self._instances.texts_in(self.known), "string")
            kinds |= dict.fromkeys(self._instances.numbers, "float64")
            self._used = self._instances.used_in(self.known)
        self._warn_of_unnamed(schema)
        self._converting = self._conversion(schema, kinds)

    def _head(self, first: memoryview, delimiter: str) -> memoryview:
        """The first whole rows, in UTF-8, so that Arrow may quote them in its errors."""
        end = row_end(np.frombuffer(first, np.uint8), ord(delimiter), HEAD) or len(first)
        head = bytes(first[:end])
        names = head.partition(b"\n")[0]
        if b"\0" in names:
            raise not_decoded(self._path)  # two bytes for each character
        try:
            str(names, "utf-8")
        except UnicodeDecodeError as error:
            raise not_decoded(self._path) from error
        return memoryview(head.decode("utf-8", "replace").encode())

    def _column_names(self, head: bytes, delimiter: str, columns: ColumnChoices) -> tuple[list[str] | None, bool]:
        """The names of the columns if the first line is a row of values, and whether it has them."""
        rows = first_rows(head, delimiter)
        if not rows:  # the first line is very long, so that it has the names of very many columns
            return None, True
        names = [f"column{1 + j}" for j in range(len(rows[0]))]
        wanted = columns.named if self._instances is None else self._instances.wanted
        by_place = any(name in names for name in wanted) and not any(name in rows[0] for name in wanted)
        if not by_place and (has_names(rows) or any(columns.names_it(name) for name in rows[0])):
            return None, True
        warnings.warn(
            f"{self._path} has no line with the names of its columns; they are called column1 to {names[-1]}.",
            InputWarning,
            stacklevel=2,
        )
        return names, False

    def _looked_at(self, head: memoryview, types: dict[str, Any] | None) -> Any:
        """The first rows as a table; a bad row is refused when it is read, with its number."""
        import pyarrow as arrow
        from pyarrow import csv

        lenient = csv.ParseOptions(
            delimiter=self._parsing.delimiter, newlines_in_values=True, invalid_row_handler=lambda _: "skip"
        )
        converting = csv.ConvertOptions(null_values=NULLS, column_types=types, include_columns=list(types or ()))
        try:
            return self._read(head, self._names, lenient, converting)
        except UnicodeDecodeError as error:
            raise not_decoded(self._path) from error
        except arrow.ArrowException as error:
            raise InputError(f"cannot read {self._path}: {one_sentence(error)}.", owner="read") from error

    def _as_texts(self, head: memoryview, parsed: Any) -> ArrowTable:
        """The first rows, with every value as it is written, where names tell columns apart."""
        import pyarrow as arrow

        def as_written(names: list[str]) -> Any:
            return _one_batch(self._looked_at(head, dict.fromkeys(names, arrow.string())))

        batch = _one_batch(parsed)
        if not self.known or len({*self.known}) < len(self.known):
            return ArrowTable(batch, self._path, known=self.known)
        return HeadTable(batch, as_written, self._path, self.known)

    def _warn_of_unnamed(self, schema: Any) -> None:
        """Warn of all columns without a name, if the first rows of one of them are not empty."""
        fields = [(i, field) for i, field in enumerate(schema) if field.name not in self.known]
        unnamed = [str(1 + i) for i, _ in fields]
        if any(str(field.type) != "null" for _, field in fields):
            what = ("columns", "have", "are") if len(unnamed) > 1 else ("column", "has", "is")
            warnings.warn(
                f"{self._path}: {what[0]} {', '.join(unnamed)} of {len(schema)} {what[1]} no name in the first line, "
                f"and {what[2]} left out.",
                InputWarning,
                stacklevel=2,
            )

    def _conversion(self, schema: Any, kinds: dict[str, str]) -> Any:
        """How the values of all rows are parsed; other columns than those of ``kinds`` as the first rows look."""
        import pyarrow as arrow
        from pyarrow import csv

        types = {
            field.name: arrow.float64()
            for field in schema
            if arrow.types.is_integer(field.type) or arrow.types.is_null(field.type)
        }
        types |= {name: getattr(arrow, kind)() for name, kind in kinds.items()}
        self._names = schema.names
        return csv.ConvertOptions(column_types=types, include_columns=self._used, null_values=NULLS)

    def parse(self, block: tuple[bool, memoryview]) -> Any:
        """The table of a block of whole rows, of which the first begins with the names."""
        first, rows = block
        names = None if first and self._has_names else self._names
        return self._read(rows, names, self._parsing, self._converting)

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
        lines = 1 if before == 0 and self._has_names else 0  # the line of names is a row too
        odd = _ODD_VALUE.match(message)
        if odd is not None:
            return self._odd_value(
                (self._names or self._used)[int(odd[1])], before + int(odd[2]) - 1 - lines, odd[4], odd[3]
            )
        message = re.sub(
            r"In CSV column #(\d+)", lambda found: f"in column {(self._names or self._used)[int(found[1])]!r}", message
        )
        rows = before + 1 if before and self._has_names else before
        message = re.sub(r"Row #(\d+)", lambda found: f"Row #{rows + int(found[1])}", message)
        return InputError(f"cannot read {self._path}: {message}.", owner="read")

    def _odd_value(self, name: str, row: int, value: str, kind: str) -> InputError:
        """The error for a value that is not of the type that the first rows of its column have."""
        what = _KINDS.get(kind, f"a {kind}")
        cure, mend = f"correct it, or name the column in {argument('drop')}", dict[str, Any]()
        if what == "a number" and self._instances is not None and name in self._instances.numbers:
            cure = f"correct it, or name the column in {argument('numbers')}, so that what is not a number is missing"
            mend = {"numbers": (*self._instances.columns.numbers, name)}
        return InputError(
            f"column {name!r} of {self._path} holds {value!r} in instance {row:,}, counted from 0, where {what} is "
            f"expected; {cure}.",
            owner="read",
            file=str(self._path),
            column=name,
            row=row,
            mend=mend,
        )
