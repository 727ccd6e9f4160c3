"""Lines of JSON that are pairs: ``{"x": numbers, names with values, or a text; "y": label; perhaps "time"}``."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..errors import InputError, argument
from .column_choices import ColumnChoices
from .hashing import counted, hash_text, hashed_names
from .json_lines import Lines
from .labels import plain
from .lines import LineError
from .times import Times


def is_pair(record: dict[str, Any], columns: ColumnChoices) -> bool:
    """Whether this is an instance ``x`` with its label ``y``, and not a record with columns."""
    if "x" not in record or columns.label or columns.features or columns.names is not None:
        return False
    if columns.labelled:
        return "y" in record
    return isinstance(record["x"], (dict, list, str)) and {*record} <= {"x", "y", "time"}


class Pairs:
    """Converts pairs to instances; all pairs of a file must have the same form."""

    def __init__(self, path: Any, columns: ColumnChoices) -> None:
        for name, value in (("drop", columns.drop), ("time", columns.time not in (None, "time"))):
            if value:
                raise InputError(
                    f'{argument(name)} is for columns, and {path} has lines such as {{"x": ..., "y": ...}}, which are '
                    'read as they are, with their "time".',
                    owner="read",
                    file=str(path),
                )
        self._path, self._places, self._labelled = path, columns.places, columns.labelled
        self._times, self._before = Times("time", path, columns.time_format), 0
        self._first: tuple[Any, ...] | None = None

    def of(self, lines: Lines) -> tuple[Any, np.ndarray | None, np.ndarray | None]:
        """Instances, labels and times of the next lines; labels and times may be None."""
        try:
            X, y, times = self._instances(lines)
        except LineError as error:
            raise InputError(
                f"{self._path}, line {error.line}, {error.trouble}.",
                owner="read",
                file=str(self._path),
                line=error.line,
            ) from None
        times = None if times is None else self._times.of(times, self._before)
        self._before += len(lines.records)
        kind = (type(X), X.shape[1], times is None)
        self._first = self._first or kind
        if kind != self._first:
            raise InputError(
                f"{self._path}, line {lines.numbers[0]}, must have an x and a time like the lines before.", owner="read"
            )
        return X, y, times

    def _instances(self, lines: Lines) -> tuple[Any, np.ndarray | None, np.ndarray | None]:
        xs: list[Any] = []
        for number, record in zip(lines.numbers, lines.records, strict=True):
            if "x" not in record or (self._labelled and "y" not in record):
                raise LineError(number, 'must be an object such as {"x": [0.5, 1], "y": 1}')
            _check_pair(number, record["x"], record["y"] if self._labelled else 0, xs)
            if ("time" in record) != ("time" in lines.records[0]):
                raise LineError(number, "must have a time if the lines before have one, and none otherwise")
            xs.append(record["x"])
        y = plain([record["y"] for record in lines.records]) if self._labelled else None
        times = np.array([record["time"] for record in lines.records]) if "time" in lines.records[0] else None
        if isinstance(xs[0], str):
            return hash_text(xs, self._places), y, times
        if isinstance(xs[0], list):
            return np.array(xs, float), y, times
        indptr = np.cumsum([0] + [len(x) for x in xs])
        indices = hashed_names([name for x in xs for name in x], self._places)
        data = np.array([value for x in xs for value in x.values()], float)
        return counted(data, indices, indptr, self._places), y, times


def _check_pair(number: int, x: Any, y: Any, before: list[Any]) -> None:
    if before and (type(x) is not type(before[0]) or (isinstance(x, list) and len(x) != len(before[0]))):
        raise LineError(number, "must have an x like the lines before")
    if isinstance(x, dict) and not all(_is_number(value) for value in x.values()):
        raise LineError(number, "must have numbers as the values of x")
    if isinstance(x, list) and (not x or not all(_is_number(value) for value in x)):
        raise LineError(number, "must have numbers in x")
    if not isinstance(x, (dict, list, str)):
        raise LineError(number, "must have an x that is a list of numbers, an object, or a text")
    if not isinstance(y, (str, int, float)):
        raise LineError(number, "must have a y that is a number, a text, true or false")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and abs(value) <= sys.float_info.max
