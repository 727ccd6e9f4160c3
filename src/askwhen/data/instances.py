"""Columns as instances: numbers as they are, words and categories hashed, missing values refused or made features.

An instance is, in this order: the places that words and categories are hashed to, if there are any; the columns of
numbers, where a column of lists is as many as a list has numbers; and with ``missing="feature"`` an indicator for each
of those columns, which is 1 where the number was missing.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from ..errors import InputError, argument
from .advice import refusal, suggestions
from .files import listed, nearest, not_decoded, perhaps
from .hashing import DEFAULT_FEATURES, counted, hashed_names, hashed_words
from .times import Times

LABELS = ("label", "y", "class", "target")
"""Names by which a label column is found where none is given."""

NUMBER, LIST, UNDECODED = "number", "list of numbers", "bytes"
_GAP = " is missing"

_DENSE_PLACES, _MOST_DENSE = 64, 8
"""Number of places of each category, and the largest number of categories that have so many: where there is no text."""


class Columns(NamedTuple):
    """The user's choices about the columns of a table.

    ``given_places`` is the number of places that words are hashed to, if the user chose one. ``labelled`` says whether
    labels are wanted, and ``strict`` whether a column of words that the user did not name is refused instead of left
    out. ``written`` are columns that stay texts even if they look like numbers; they may be absent. ``time_format`` is
    the format of times. ``numbers`` are columns of numbers whatever they look like, and ``vector`` those of vectors.
    """

    label: str | None = None
    time: str | None = None
    text: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None
    missing: str = "auto"
    given_places: int | None = None
    labelled: bool = True
    strict: bool = True
    written: tuple[str, ...] = ()
    time_format: str | None = None
    numbers: tuple[str, ...] = ()
    vector: tuple[str, ...] = ()

    @property
    def is_narrow(self) -> bool:
        """Whether categories are few enough to have dense places, which are scaled like all other numbers."""
        return 0 < len(self.categories) <= _MOST_DENSE and not self.text and self.given_places is None

    @property
    def places(self) -> int:
        """Number of places that words and categories are hashed to."""
        return _DENSE_PLACES * len(self.categories) if self.is_narrow else self.given_places or DEFAULT_FEATURES

    def names_it(self, name: str) -> bool:
        """Whether the user named this column."""
        return name in (self.label, self.time, *self.features, *self.drop, *(self.names or ()))

    @property
    def features(self) -> tuple[str, ...]:
        """The columns whose features the user chose."""
        return (*self.text, *self.categories, *self.numbers, *self.vector)

    def label_in(self, names: list[str]) -> str | None:
        """The label column: the one that the user named, or one with a usual name."""
        others = (self.time, *self.features, *self.drop)
        return self.label or next((name for name in LABELS if name in names and name not in others), None)

    def features_in(self, names: list[str]) -> list[str]:
        """The columns that may be numbers, in the order of the table; with ``names``, in that order."""
        if self.names is not None:
            return list(widths(self.names, names))
        others = {self.time, *self.text, *self.categories, *self.drop}
        if self.labelled or self.label is not None:
            others.add(self.label_in(names))
        else:
            others.update(LABELS)
        return [name for name in names if name not in others]

    def used_in(self, names: list[str]) -> list[str]:
        """The columns that need to be read at all."""
        if not self.strict:
            return [name for name in names if name not in self.drop]
        used = {self.label, self.time, *self.text, *self.categories, *self.features_in(names)}
        if self.labelled:
            used.add(self.label_in(names))
        return [name for name in names if name in used and name not in self.drop]

    def check(self, names: list[str], path: Any) -> None:
        """Refuse a table that lacks a column that was named, or has one twice."""
        trouble = self.trouble(names, path)
        if trouble is not None:
            raise InputError(trouble, owner="read", file=str(path), mend=self._renamed(names))

    def _renamed(self, names: list[str]) -> dict[str, Any]:
        """Arguments in which columns that a table lacks have the nearest names that it has."""
        usual = [name for name in names if name.strip().lower() in LABELS]
        found: dict[str, Any] = {}
        if usual and self.labelled and self.label_in(names) is None:
            found["label"] = usual[0]
        for what in ("label", "time", "text", "categories", "numbers", "vector", "drop"):
            given = getattr(self, what)
            before = (given,) if isinstance(given, str) else given or ()
            after = tuple(name if name in names else nearest(name, names) for name in before)
            if None in after or len({*after}) < len(after):
                return {}
            if after != before:
                found[what] = after[0] if isinstance(given, str) else after
        return found

    def trouble(self, names: list[str], path: Any) -> str | None:
        """A sentence about what is wrong with the names of a table's columns, or None."""
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            return f"{path} has more than one column {twice!r}."
        needed = [name for name in (self.label, self.time, *self.features) if name is not None]
        for name in needed:
            if name in self.drop:
                return f"column {name!r} is needed, and named in {argument('drop')} too."
        if self.label in self.features:
            return f"column {self.label!r} is {argument('label')}, and must not be a feature too."
        twice = next((name for name in self.features if self.features.count(name) > 1), None)
        if twice is not None:
            return f"column {twice!r} is named twice, and must be one thing."
        lacking = [name for name in dict.fromkeys((*needed, *self.drop)) if name not in names]
        if lacking:
            return f"{path} has no {_named(lacking, names)}; it has {listed(names)}."
        if self.labelled and self.label_in(names) is None:
            return f"{path} needs {argument('label')}, the name of its label column; it has {listed(names)}."
        lacking = [name for name in widths(self.names or (), names) if name not in names]
        if lacking:
            what = "one of the features that were named" if len(lacking) == 1 else "features that were named"
            return f"{path} has no {_named(lacking, names)}, {what}; it has {listed(names)}."
        return None


def _named(lacking: list[str], names: list[str]) -> str:
    """Columns that a table lacks, each with the nearest name that it has."""
    some = [f"column {name!r}{perhaps(name, names)}" for name in lacking[:12]]
    more = [f"{len(lacking) - 12} more columns"] if len(lacking) > 12 else []
    return ", and no ".join([*some, *more])


def widths(names: tuple[str, ...], known: list[str]) -> dict[str, int]:
    """The columns that features with these names are made of, and how many numbers of a list each has, or 0."""
    found: dict[str, int] = {}
    for name in names:
        stem = name.removesuffix(_GAP)
        part = re.fullmatch(r"(.*)\[(\d+)\]", name, re.DOTALL)
        if name in known or (stem == name and part is None):
            found.setdefault(name, 0)
        elif part is not None:
            found[part[1]] = max(found.get(part[1], 0), int(part[2]) + 1)
        else:
            found.setdefault(stem, 0)
    return found


class ColumnTable(Protocol):
    """Rows with a value for each name, in any format. Missing numbers are NaN, missing words None.

    ``known`` are all columns of the file, ``names`` those that were read.
    """

    names: list[str]
    known: list[str]
    rows: int

    def records(self) -> list[dict[str, Any]]:
        """Every row as values by name."""

    def kind(self, name: str) -> str:
        """NUMBER, LIST, UNDECODED, or what else a column holds."""

    def gap(self, name: str) -> int | None:
        """The first row without a label or time."""

    def values(self, name: str, before: int) -> np.ndarray:
        """A label or a time of each row, as it is."""

    def numbers(self, name: str, before: int) -> np.ndarray:
        """A number of each row."""

    def lists(self, name: str, before: int) -> tuple[np.ndarray, np.ndarray]:
        """How many numbers each row has, and all of them in a row."""

    def words(self, name: str) -> list[str | None]:
        """A text or a category of each row."""


class TypedTable(ColumnTable, Protocol):
    """A table of which is found what each column holds."""

    def head(self, rows: int) -> TypedTable:
        """The first rows."""

    def plain_numbers(self, name: str) -> tuple[np.ndarray, bool] | None:
        """A number of each row, and whether all are written as whole numbers; None if some value is not a number."""

    def coded(self, name: str) -> tuple[list[str | None], np.ndarray]:
        """The different texts of a column, and which of them each row has."""


class Instances:
    """Converts the tables of a file to instances, one after the other; the first row decides what the features are.

    Attributes
    ----------
    columns : Columns
        The user's choices about columns.
    names : tuple of str or None
        The names of the features that are not hashed, once the first table was read.
    shown_only : tuple of str
        The columns of words that the user did not name and that are not features; empty if ``strict``.
    """

    def __init__(self, columns: Columns, path: Any) -> None:
        self.names: tuple[str, ...] | None = None
        self.shown_only: tuple[str, ...] = ()
        self.columns, self._path = columns, path
        self._times = Times(columns.time, path, columns.time_format)
        self._before = 0

    def of(self, table: ColumnTable) -> tuple[Any, np.ndarray | None, np.ndarray | None]:
        """Instances, labels and times of the next table; labels and times may be None."""
        if self.names is None:
            self._settle(table)
        columns, dense = self.columns, self._dense(table)
        words = [self._texts(table, name, k) for k, name in enumerate(columns.text)]
        words += [self._category(table, name) for name in columns.categories]
        y = self._values(table, self._label, "a label") if self._label is not None else None
        times = None
        if columns.time is not None:
            times = self._times.of(self._values(table, columns.time, "a time"), self._before)
        self._before += table.rows
        if not words:
            return dense, y, times
        hashed = sum(words[1:], words[0])
        if columns.is_narrow:
            return np.hstack([hashed.toarray(), dense]), y, times
        return sp.hstack([hashed, sp.csr_matrix(dense)], "csr") if dense.shape[1] else hashed, y, times

    def skip(self, table: ColumnTable) -> None:
        """Count the rows of a table that is skipped."""
        if self.names is None:
            self._settle(table)
        self._before += table.rows

    def _settle(self, table: ColumnTable) -> None:
        """Decide by the first table what the features are."""
        columns, path = self.columns, self._path
        columns.check(table.known, path)
        self._label = columns.label_in(table.names) if columns.labelled else None
        wanted, given = columns.features_in(table.names), widths(columns.names or (), table.names)
        self._widths: dict[str, int] = {}
        others: dict[str, str] = {}
        for name in wanted:
            kind = table.kind(name)
            if kind == LIST:
                self._widths[name] = given.get(name) or self._first_width(table, name)
            elif kind == NUMBER:
                self._widths[name] = 0
            elif kind == UNDECODED and columns.strict:
                raise not_decoded(path, f"column {name!r} of ")
            else:
                others[name] = kind
        if others and columns.strict:
            raise refusal(table, columns, others, list(self._widths), path)
        self.shown_only = tuple(others)
        if not self._widths and not columns.text and not columns.categories:
            if columns.labelled:
                raise InputError(f"{path} has no feature besides its label.", owner="read")
            raise InputError(
                f"{path} has no column of numbers; name the column of its {argument('text')} or "
                f"{argument('categories')}.",
                owner="read",
                mend=suggestions(table, columns, others),
            )
        values = [
            part
            for name, width in self._widths.items()
            for part in ([f"{name}[{i}]" for i in range(width)] if width else [name])
        ]
        gaps = [name + _GAP for name in self._widths]
        self._order: list[int] | None = None
        if columns.names is not None:
            places = {name: i for i, name in enumerate(values + gaps)}
            strange = next((name for name in columns.names if name not in places), None)
            if strange is not None:
                raise InputError(
                    f"{path} has no column {strange!r}, one of the features that were named.", owner="read"
                )
            self._order = [places[name] for name in columns.names]
            self.names = columns.names
        else:
            self.names = tuple(values + gaps if columns.missing == "feature" else values)
        self._total = len(values)

    def _first_width(self, table: ColumnTable, name: str) -> int:
        lengths, _ = table.lists(name, self._before)
        if lengths[0] <= 0:
            cure = f"which must show how many numbers it holds; name it in {argument('drop')}"
            raise self._fault(name, f"is empty in instance 0, {cure}.", 0)
        return int(lengths[0])

    def _dense(self, table: ColumnTable) -> np.ndarray:
        """All columns of numbers, and their indicators."""
        found, at = np.empty((table.rows, self._total)), 0
        for name, width in self._widths.items():
            if width:
                found[:, at : at + width] = self._list(table, name, width)
            else:
                found[:, at] = table.numbers(name, self._before)
            at += width or 1
        indicators = self._order is not None or self.columns.missing == "feature"
        if found.size and np.isnan(found.min()):
            gaps = self._filled(found)
        elif indicators:
            gaps = np.zeros((table.rows, len(self._widths)))
        if indicators:
            found = np.hstack([found, gaps])
        return found if self._order is None else np.ascontiguousarray(found[:, self._order])

    def _filled(self, found: np.ndarray) -> np.ndarray:
        """Replace missing numbers by 0, in place; returns their indicators, one for each column of the table."""
        where = np.isnan(found)
        starts = np.cumsum([0, *(width or 1 for width in self._widths.values())])[:-1]
        gaps = np.logical_or.reduceat(where, starts, axis=1)
        allowed = self.columns.missing == "feature"
        for j in np.flatnonzero(gaps.any(axis=0)).tolist():
            name = list(self._widths)[j]
            if not allowed or name + _GAP not in (self.names or ()):
                self._refuse_gap(name, int(np.flatnonzero(gaps[:, j])[0]))
        found[where] = 0.0
        return gaps.astype(float)

    def _fault(self, name: str, what: str, row: int, mend: dict[str, Any] | None = None) -> InputError:
        """The error about a value of a column, in a row of the whole file."""
        sentence = f"column {name!r} of {self._path} {what}"
        return InputError(sentence, owner="read", file=str(self._path), column=name, row=row, mend=mend)

    def _refuse_gap(self, name: str, row: int) -> None:
        cure, mend = f"give {argument('missing', 'feature')}, or name it in {argument('drop')}", {"missing": "feature"}
        if self.columns.missing == "feature":
            cure, mend = f"the features that were named have no {name + _GAP!r}", {}
        elif self.columns.names is not None:
            mend = {}
        row += self._before
        raise self._fault(name, f"is empty or NaN in instance {row}, counted from 0; {cure}.", row, mend)

    def _list(self, table: ColumnTable, name: str, width: int) -> np.ndarray:
        lengths, flat = table.lists(name, self._before)
        strange = np.flatnonzero((lengths != width) & (lengths > 0))
        if len(strange):
            row = self._before + int(strange[0])
            got = f"got {lengths[strange[0]]} in instance {row}"
            raise self._fault(name, f"must hold {width} numbers in every row, {got}.", row)
        found = np.full((table.rows, width), np.nan)
        found[lengths > 0] = flat.reshape(-1, width)
        return found

    def _values(self, table: ColumnTable, name: str, what: str) -> np.ndarray:
        row = table.gap(name)
        if row is not None:
            row += self._before
            why = f"every instance needs {what}"
            raise self._fault(name, f"is empty or NaN in instance {row}, counted from 0; {why}.", row)
        return table.values(name, self._before)

    def _texts(self, table: ColumnTable, name: str, k: int) -> sp.csr_matrix:
        texts = table.words(name)
        if self.columns.missing == "refuse" and self.columns.strict and None in texts:
            self._refuse_gap(name, texts.index(None))
        return hashed_words([text or "" for text in texts], self.columns.places, name if k else "")

    def _category(self, table: ColumnTable, name: str) -> sp.csr_matrix:
        values = [value or "" for value in table.words(name)]
        if self.columns.missing == "refuse" and "" in values:
            self._refuse_gap(name, values.index(""))
        indices = hashed_names([f"{name}={value}" for value in values], self.columns.places)
        return counted(np.ones(table.rows), indices, np.arange(table.rows + 1), self.columns.places)
