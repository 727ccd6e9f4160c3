"""Records, which are values by name, as tables: lines of JSON, and single rows that a program has."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from .column_table import LIST, NUMBER
from .labels import plain
from .written_values import CODE, as_text, is_list, is_missing, is_number, list_in, number_in

_TEXT, _NOTHING, _MIXED = "text", "nothing", "values of several types"


class Records:
    """Records as a :class:`~askwhen.data.instances.ColumnTable`; a name that a record lacks is a missing value."""

    def __init__(self, records: list[dict[str, Any]], path: Any) -> None:
        self.rows = len(records)
        self.names = list(dict.fromkeys(name for record in records for name in record))
        self.known = self.names
        self._records, self.path = records, path

    def head(self, rows: int) -> Records:
        """The first rows."""
        return Records(self._records[:rows], self.path)

    def records(self) -> list[dict[str, Any]]:
        """Every row as values by name."""
        return self._records

    def kind(self, name: str) -> str:
        """NUMBER, LIST, or what else the values of a column are."""
        found = {kind for value in self._column(name) if (kind := _kind(value)) != _NOTHING} or {NUMBER}
        if found <= {NUMBER, _TEXT} and len(found) > 1:
            return _TEXT
        return found.pop() if len(found) == 1 else _MIXED

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
            column = [_number(value) for value in column]
            self._refuse(name, column, before, (int, float), "a number")
        return self._floats(name, column)

    def plain_numbers(self, name: str) -> tuple[np.ndarray, bool] | None:
        """A number of each row, and whether all are written as whole numbers; None if some value is not a number."""
        column = [value for value in self._column(name) if not isinstance(value, str) or not is_missing(value)]
        texts = [value for value in column if isinstance(value, str)]
        whole = all(isinstance(value, (int, str, type(None))) and not isinstance(value, bool) for value in column)
        whole = whole and all(text.strip().lstrip("+-").isdigit() for text in texts)
        others = [value for value in column if not isinstance(_number(value), (int, float, type(None), str))]
        if column and all(isinstance(value, (bool, type(None))) for value in column) and {*column} != {None}:
            return None
        if others or not all(is_number(text) and not CODE.fullmatch(text.strip()) for text in texts):
            return None
        return self.numbers(name, 0), whole

    def lists(self, name: str, before: int) -> tuple[np.ndarray, np.ndarray]:
        """How many numbers each row has, and all of them in a row."""
        column = [_list(value) for value in self._column(name)]
        if not {*map(type, column)} <= {list, tuple, type(None)}:
            self._refuse(name, column, before, (list, tuple), "a list of numbers")
        flat = [part for value in column for part in value or ()]
        if not {*map(type, flat)} <= {int, float, bool, type(None)}:
            row = next(i for i, value in enumerate(column) if value and _kind(value) != LIST)
            raise InputError(f"{self.path} must have numbers in {name!r} in instance {before + row}.", owner="read")
        return np.array([len(value or ()) for value in column]), self._floats(name, flat)

    def words(self, name: str) -> list[str | None]:
        """A text or a category of each row."""
        return [as_text(value) for value in self._column(name)]

    def coded(self, name: str) -> tuple[list[str | None], np.ndarray]:
        """The different texts of a column, and which of them each row has."""
        places: dict[str | None, int] = {}
        index = [places.setdefault(text, len(places)) for text in self.words(name)]
        return list(places), np.array(index, np.int64)

    def _column(self, name: str) -> list[Any]:
        return [record.get(name) for record in self._records]

    def _floats(self, name: str, values: list[Any]) -> np.ndarray:
        try:
            return np.array(values, float)
        except OverflowError:
            raise InputError(f"{self.path} has a number in {name!r} that is too large.", owner="read") from None

    def _refuse(self, name: str, column: list[Any], before: int, types: tuple[type, ...], what: str) -> None:
        found = next(((i, v) for i, v in enumerate(column) if v is not None and not isinstance(v, types)), None)
        if found is None:
            return
        row, strange = found
        raise InputError(
            f"{self.path} must have {what} as {name!r} in instance {before + row}, got {strange!r}.",
            owner="read",
            file=str(self.path),
            column=name,
            row=before + row,
        )


def _number(value: Any) -> Any:
    """A text as the number that it is, or None where it stands for a missing one, as an empty list does."""
    if isinstance(value, str):
        return None if is_missing(value) else number_in(value) if is_number(value) else value
    return float(value) if isinstance(value, np.number) else None if value == [] else value


def _list(value: Any) -> Any:
    """A list that is written as text as a list; other values unchanged."""
    if not isinstance(value, str):
        return value
    return list_in(value.strip()) if is_missing(value) or is_list(value.strip()) else value


def _kind(value: Any) -> str:
    """What a value is."""
    if value is None:
        return _NOTHING
    if isinstance(value, (int, float, np.number, np.bool_)):
        return NUMBER
    if isinstance(value, (list, tuple)):
        is_list = value and {*map(type, value)} <= {int, float, bool, type(None)}
        return LIST if is_list else "lists" if value else _NOTHING
    return "objects" if isinstance(value, dict) else _TEXT
