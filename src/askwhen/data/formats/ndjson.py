"""Lines of JSON: objects, and records with a value for each name as tables."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import closing
from typing import Any

import numpy as np

from ...errors import InputError, argument
from ..advice import MARKS
from ..files import is_piped, listed, perhaps
from ..format import Format
from ..instances import LIST, NUMBER, Columns, widths
from ..json_lines import Lines, lines_of, plain
from ..pairs import Pairs, is_pair
from ..read_request import Chunk, ReadRequest, chunks_of_tables


class Records:
    """Records as a :class:`~askwhen.data.instances.ColumnTable`; ``first`` decides about names and types."""

    def __init__(self, records: list[dict[str, Any]], first: dict[str, Any], columns: Columns, path: Any) -> None:
        self.rows = len(records)
        self.names = [name for name in first if name not in columns.drop]
        self._kinds = {name: _kind(value, columns) for name, value in first.items()}
        if columns.missing == "feature":  # what the first record lacks may be in the others
            for name, width in widths(columns.names or (), self.names).items():
                if self._kinds.get(name, NUMBER) == NUMBER and first.get(name) is None:
                    self._kinds[name] = LIST if width else NUMBER
                    self.names += [] if name in self.names else [name]
            self.names += [name for name in (*columns.text, *columns.categories) if name not in self.names]
        self.known = [*self.names, *columns.drop]
        self._records, self._path, self._missing = records, path, columns.missing

    def records(self) -> list[dict[str, Any]]:
        """Every row as values by name."""
        return self._records

    def kind(self, name: str) -> str:
        """NUMBER, LIST, or what else a column holds."""
        return self._kinds[name]

    def gap(self, name: str) -> int | None:
        """The first row that has no such value, or NaN, or an empty text."""
        return next((i for i, value in enumerate(self._column(name)) if value in (None, "") or value != value), None)

    def values(self, name: str, before: int) -> np.ndarray:
        """A label or a time of each row, unchanged."""
        column = self._column(name)
        if not {*map(type, column)} <= {str, int, float, bool}:
            self._refuse(name, column, before, (str, int, float), "a number, a text, true or false")
        return plain(column)

    def numbers(self, name: str, before: int) -> np.ndarray:
        """A number of each row, NaN where there is none."""
        column = self._column(name)
        if not {*map(type, column)} <= {int, float, bool, type(None)}:
            if self._missing == "feature":
                column = [None if value in ("", *MARKS) else value for value in column]
            self._refuse(name, column, before, (int, float), "a number")
        return self._floats(name, column)

    def lists(self, name: str, before: int) -> tuple[np.ndarray, np.ndarray]:
        """How many numbers each row has, and all of them in a row."""
        column = self._column(name)
        if not {*map(type, column)} <= {list, type(None)}:
            self._refuse(name, column, before, (list,), "a list of numbers")
        flat = [part for value in column for part in value or ()]
        if not {*map(type, flat)} <= {int, float, bool, type(None)}:
            row = next(i for i, value in enumerate(column) if value and _kind(value) != LIST)
            raise InputError(f"{self._path} must have numbers in {name!r} in instance {before + row}.", owner="read")
        return np.array([len(value or ()) for value in column]), self._floats(name, flat)

    def words(self, name: str) -> list[str | None]:
        """A text or a category of each row."""
        return [_text(value) for value in self._column(name)]

    def _column(self, name: str) -> list[Any]:
        return [record.get(name) for record in self._records]

    def _floats(self, name: str, values: list[Any]) -> np.ndarray:
        try:
            return np.array(values, float)
        except OverflowError:
            raise InputError(f"{self._path} has a number in {name!r} that is too large.", owner="read") from None

    def _refuse(self, name: str, column: list[Any], before: int, types: tuple[type, ...], what: str) -> None:
        found = next(((i, v) for i, v in enumerate(column) if v is not None and not isinstance(v, types)), None)
        if found is None:
            return
        row, strange = found
        marked = types == (int, float) and strange in ("", *MARKS) and self._missing == "refuse"
        cure = f"; give {argument('missing', 'feature')} if it stands for a missing one" if marked else ""
        raise InputError(
            f"{self._path} must have {what} as {name!r} in instance {before + row}, got {strange!r}{cure}.",
            owner="read",
            file=str(self._path),
            column=name,
            row=before + row,
            mend={"missing": "feature"} if marked else None,
        )


def tables_of(path: str | os.PathLike[str], columns: Columns, blocks: Generator[Lines]) -> Generator[Records]:
    """The records of a file, block by block, each like the first."""
    first: dict[str, Any] | None = None
    known: set[str] = set()
    with closing(_with_columns(path, columns.drop, blocks)) as checked:
        for records, numbers in checked:
            if first is None:
                first = records[0]
                known = {*first, *columns.drop, *columns.text, *columns.categories}
            if columns.strict and columns.names is None:
                for number, record in zip(numbers, records, strict=True):
                    _check_known(path, number, record, known)
            yield Records(records, first, columns, path)


def _with_columns(path: str | os.PathLike[str], names: tuple[str, ...], blocks: Generator[Lines]) -> Generator[Lines]:
    """The same blocks, of which at least one record must have each of these columns.

    In a small file that is checked before anything is given out; a pipe does not wait for more.
    """
    lacking, seen, held = {*names}, dict[str, None](), list[Lines]()
    with closing(blocks):
        for number, block in enumerate(blocks):
            if lacking:
                seen = {name: None for record in (seen, *block.records) for name in record}
                lacking.difference_update(seen)
            held.append(block)
            if not lacking or number > 1 or is_piped(path):  # the last line may be a block of its own
                yield from held
                held.clear()
    if lacking and seen:
        name = min(lacking)
        raise InputError(
            f"no record of {path} has a column {name!r}{perhaps(name, seen)}; they have {listed(list(seen))}.",
            owner="read",
            file=str(path),
        )
    yield from held


def _check_known(path: Any, number: int, record: dict[str, Any], known: set[str]) -> None:
    if not record.keys() <= known:
        new = next((name for name, value in record.items() if name not in known and value is not None), None)
        if new is not None:
            raise InputError(
                f"{path}, line {number}, has {new!r}, which the first record lacks; name it in {argument('drop')}.",
                owner="read",
            )


def _kind(value: Any, columns: Columns | None = None) -> str:
    """What a column holds, by a value of it."""
    if value is None:
        return NUMBER if columns is None or columns.strict else "nothing"
    if isinstance(value, (int, float)):
        return NUMBER
    if isinstance(value, list) and value and {*map(type, value)} <= {int, float, bool, type(None)}:
        return LIST
    return "text" if isinstance(value, str) else "objects" if isinstance(value, dict) else "lists"


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


def chunks(request: ReadRequest) -> Generator[Chunk]:
    """The chunks of a file, of records or of pairs."""
    with closing(lines_of(request.path, request.report, request.encoding)) as blocks:
        first = next(blocks, None)
        if first is None:
            return
        lines = _put_back(first, blocks)
        if is_pair(first.records[0], request.columns):
            pairs = Pairs(request.path, request.columns)
            for each in lines:
                yield Chunk(*pairs.of(each))
        else:
            yield from chunks_of_tables(request, tables_of(request.path, request.columns, lines))


def _put_back(first: Any, others: Generator[Any]) -> Generator[Any]:
    yield first
    yield from others


def tables(request: ReadRequest) -> Generator[Records]:
    """The records of a file, as tables."""
    return tables_of(request.path, request.columns, lines_of(request.path, request.report, request.encoding))


FORMAT = Format("ndjson", chunks, (".ndjson", ".jsonl"), tables=tables, has_pairs=True)
