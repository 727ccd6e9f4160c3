"""The columns of a schema: what each is taken for, and the features that are made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ..errors import InputError, argument
from .column_table import NUMBER, ColumnTable
from .date_features import ISO, DateForm
from .hashing import counted, hashed_names, hashed_words
from .written_numbers import form_of
from .written_values import as_text, is_list, is_missing, is_number, list_in, number_in

GAP = " is missing"
OTHER = " is another value"
ASKED = "as asked"
"""Why a column was left out on request."""


@dataclass(frozen=True)
class Column:
    """A column of a table: its role, and one sentence that says why."""

    type: ClassVar[str] = ""
    name: str
    why: str = field(default="", kw_only=True)

    @property
    def role(self) -> str:
        """Number, category, text, vector or date; dropped, label or time."""
        return {"flag": "number", "names": "category"}.get(self.type, self.type)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features that are numbers."""
        return ()

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns of the file that are read for it."""
        return (self.name,)

    def expected(self, value: Any) -> str | None:
        """What a value of a single record must be instead, or None if it is fine; a missing one always is."""
        return None if isinstance(value, (str, *_NUMBERS)) else "a text"


@dataclass(frozen=True)
class OtherColumn(Column):
    """A column that is not a feature: the label, the time, or one that is left out."""

    type: ClassVar[str] = "other"
    what: str = "dropped"

    @property
    def role(self) -> str:
        """Dropped, label or time."""
        return self.what

    @property
    def needed(self) -> tuple[str, ...]:
        """Nothing is read for it."""
        return ()


@dataclass(frozen=True)
class MeasuredColumn(Column):
    """A column of numbers that may be missing; ``gaps`` says whether a feature of its own marks the missing ones."""

    gaps: bool = field(default=False, kw_only=True)

    @property
    def wanted(self) -> str:
        """What texts are read, in a column where others are missing values; empty where others are refused."""
        return ""

    def numbers(self, table: ColumnTable, before: int) -> np.ndarray:
        """The features of each row, NaN where there are none."""
        raise NotImplementedError


@dataclass(frozen=True)
class NumberColumn(MeasuredColumn):
    """Numbers, or lists of so many numbers; a ``lenient`` one takes what is not a number for missing.

    ``writing`` is the code of a :class:`~askwhen.data.written_numbers.NumberForm`, empty for plain numbers.
    """

    type: ClassVar[str] = "number"
    width: int = 0
    lenient: bool = False
    writing: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the column, or one for each place of a list."""
        return tuple(f"{self.name}[{i}]" for i in range(self.width)) if self.width else (self.name,)

    def expected(self, value: Any) -> str | None:
        """A number, or a list of so many."""
        if self.width:
            return _expected_list(value, self.width)
        if self.writing and isinstance(value, str):
            return None if self.lenient or np.isfinite(self._written([value])).all() else self._what
        is_one = is_number(value) if isinstance(value, str) else isinstance(value, _NUMBERS)
        return None if is_one or self.lenient else "a number"

    @property
    def wanted(self) -> str:
        """Numbers, where others are missing."""
        return self._what if self.lenient else ""

    @property
    def _what(self) -> str:
        """What a text of the column must be."""
        form = form_of(self.writing)
        return "a number" if form is None else f"a number with {form.described}"

    @property
    def note(self) -> str:
        """What is special about the numbers: how they are written, and which are taken for missing."""
        form, missing = form_of(self.writing), self.why.partition("; ")[2]
        parts = [f"{self.name} has {form.described}"] if form is not None else []
        return ", ".join([*parts, f"of {self.name} {missing}"] if missing else parts)

    def _written(self, texts: Sequence[str | None]) -> np.ndarray:
        """The numbers that texts are, in the way of writing of the column."""
        form = form_of(self.writing)
        assert form is not None
        return np.array([np.nan if is_missing(text) else form.number(text) for text in texts])

    def numbers(self, table: ColumnTable, before: int) -> np.ndarray:
        """The numbers of each row."""
        if self.width:
            return lists_of(table, self.name, self.width, before)
        if self.writing and table.kind(self.name) != NUMBER:
            texts, index = table.coded(self.name)
            found = self._written(texts)
            if not self.lenient:
                odd = np.isnan(found) & ~np.array([is_missing(text) for text in texts], bool)
                _refuse_odd(self.name, self._what, texts, odd, index, before)
            return found[index, None]
        if self.lenient:
            plain = table.plain_numbers(self.name)
            if plain is not None:
                return plain[0][:, None]
            texts, index = table.coded(self.name)
            return np.array([number_in(text) for text in texts])[index, None]
        return table.numbers(self.name, before)[:, None]


@dataclass(frozen=True)
class FlagColumn(MeasuredColumn):
    """Two words, such as no and yes, as 0 and 1; any other word is a missing value."""

    type: ClassVar[str] = "flag"
    words: tuple[str, str] = ("no", "yes")

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the column."""
        return (self.name,)

    @property
    def _known(self) -> dict[str, float]:
        """The number of each word."""
        return {"0": 0.0, "1": 1.0} | dict(zip(self.words, (0.0, 1.0), strict=True))

    @property
    def wanted(self) -> str:
        """The two words."""
        return f"{self.words[0]!r} or {self.words[1]!r}"

    def expected(self, value: Any) -> str | None:
        """One of the two words, true or false, 0 or 1."""
        is_one = isinstance(value, bool) or (as_text(value) or "").strip().lower() in self._known
        return None if is_one else self.wanted

    def numbers(self, table: ColumnTable, before: int) -> np.ndarray:
        """0 or 1 for each row."""
        texts, index = table.coded(self.name)
        known = self._known
        found = [known.get((text or "").strip().lower(), np.nan) for text in texts]
        return np.asarray(np.array(found)[index, None])


@dataclass(frozen=True)
class DateColumn(MeasuredColumn):
    """Dates as the days since the first one, and as places in the day, the week and the year."""

    type: ClassVar[str] = "date"
    form: DateForm = ISO

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the numbers that are made of a date."""
        return self.form.names(self.name)

    @property
    def wanted(self) -> str:
        """Dates in the format of the column."""
        return f"a date written as {self.form.format}" if self.form.format else "a date such as 2026-01-31"

    def expected(self, value: Any) -> str | None:
        """A date that is written as the others."""
        if isinstance(value, (str, *_NUMBERS)) and np.isfinite(self.form.numbers([as_text(value)])).all():
            return None
        return self.wanted

    def numbers(self, table: ColumnTable, before: int) -> np.ndarray:
        """The numbers of each row."""
        texts, index = table.coded(self.name)
        return np.asarray(self.form.numbers(texts)[index])


@dataclass(frozen=True)
class CategoryColumn(Column):
    """Words with a place for each known one, one for all others, and one for a missing word."""

    type: ClassVar[str] = "category"
    values: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each place."""
        return (*(f"{self.name}={value}" for value in self.values), self.name + OTHER, self.name + GAP)

    def places(self, table: ColumnTable) -> np.ndarray:
        """The place of each row's value."""
        texts, index = table.coded(self.name)
        known = {value: i for i, value in enumerate(self.values)}
        n = len(known)
        found = [n + 1 if text is None or is_missing(text) else known.get(text, n) for text in texts]
        return np.asarray(np.array(found, np.int64)[index])


@dataclass(frozen=True)
class WordsColumn(Column):
    """Something that is hashed to so many places."""

    def words(self, table: ColumnTable, places: int) -> sp.csr_matrix:
        """The hashed features of each row."""
        raise NotImplementedError


@dataclass(frozen=True)
class NamesColumn(WordsColumn):
    """A category with very many values, each hashed from ``column=value``; a missing one has no feature."""

    type: ClassVar[str] = "names"

    def words(self, table: ColumnTable, places: int) -> sp.csr_matrix:
        """One feature for each row that has a value."""
        texts, index = table.coded(self.name)
        gaps = np.array([is_missing(text) for text in texts], bool)[index]
        hashed = hashed_names([f"{self.name}={text or ''}" for text in texts], places)[index]
        indptr = np.concatenate([[0], np.cumsum(~gaps)])
        return counted(np.ones(indptr[-1]), hashed[~gaps], indptr, places)


@dataclass(frozen=True)
class TextColumn(WordsColumn):
    """Texts, of which each word is hashed; with a ``salt`` to other places than the same word elsewhere."""

    type: ClassVar[str] = "text"
    salt: str = ""

    def expected(self, value: Any) -> str | None:
        """A text."""
        return None if isinstance(value, str) else "a text"

    def words(self, table: ColumnTable, places: int) -> sp.csr_matrix:
        """How often each word comes in each row."""
        return hashed_words([text or "" for text in table.words(self.name)], places, self.salt)


@dataclass(frozen=True)
class RecordColumn(WordsColumn):
    """All values of a record, whatever names it has: each hashed by its name, a text with its name."""

    type: ClassVar[str] = "record"

    @property
    def needed(self) -> tuple[str, ...]:
        """No column must be there."""
        return ()

    def words(self, table: ColumnTable, places: int) -> sp.csr_matrix:
        """The numbers, texts and truth values of each row."""
        names, values, ends = [], [], [0]
        for record in table.records():
            for name, value in record.items():
                if isinstance(value, str):
                    names.append(f"{name}={value}")
                    values.append(1.0)
                elif isinstance(value, _NUMBERS) and value == value:
                    names.append(name)
                    values.append(float(value))
            ends.append(len(names))
        return counted(np.array(values), hashed_names(names, places), np.array(ends), places)


@dataclass(frozen=True)
class VectorColumn(Column):
    """Lists of so many numbers, or as many columns of numbers, of which only the direction matters."""

    type: ClassVar[str] = "vector"
    width: int = 1
    parts: tuple[str, ...] = ()

    @property
    def needed(self) -> tuple[str, ...]:
        """The column of lists, or the columns of numbers."""
        return self.parts or (self.name,)

    def expected(self, value: Any) -> str | None:
        """A list of so many numbers, or one of the numbers."""
        return NumberColumn(self.name, 0 if self.parts else self.width).expected(value)

    def vectors(self, table: ColumnTable, before: int) -> np.ndarray:
        """The vector of each row: NaN where one of its numbers is missing."""
        if not self.parts:
            return lists_of(table, self.name, self.width, before)
        return np.column_stack([table.numbers(part, before) for part in self.parts])


TYPES: dict[str, type[Column]] = {
    each.type: each
    for each in (
        OtherColumn,
        NumberColumn,
        FlagColumn,
        DateColumn,
        CategoryColumn,
        NamesColumn,
        TextColumn,
        RecordColumn,
        VectorColumn,
    )
}
"""All kinds of columns, by the word with which they are stored."""


_NUMBERS = (int, float, np.number, np.bool_)


def _refuse_odd(name: str, what: str, texts: Sequence[str | None], odd: np.ndarray, index: Any, before: int) -> None:
    """Refuse the first row with a text that is marked as odd."""
    rows = np.flatnonzero(odd[index])
    if not len(rows):
        return
    row, text = before + int(rows[0]), texts[int(index[rows[0]])]
    raise InputError(
        f"column {name!r} holds {text!r:.80} in instance {row:,}, counted from 0, where {what} is expected; correct "
        f"it, or name the column in {argument('numbers')}, so that what is not one is missing.",
        owner="read",
        column=name,
        row=row,
        mend={"numbers": (name,)},
    )


def _expected_list(value: Any, width: int) -> str | None:
    """What must stand for a list of so many numbers, or None if it is one."""
    if isinstance(value, str):
        value = list_in(value.strip()) if is_list(value.strip()) else value
    is_one = isinstance(value, (list, tuple)) and len(value) == width
    if is_one and all(part is None or isinstance(part, _NUMBERS) for part in value):
        return None
    return f"a list of {width} numbers"


def lists_of(table: ColumnTable, name: str, width: int, before: int) -> np.ndarray:
    """Lists of numbers as rows, NaN where there is none; one of another length is refused."""
    lengths, flat = table.lists(name, before)
    strange = np.flatnonzero((lengths != width) & (lengths > 0))
    if len(strange):
        row = before + int(strange[0])
        raise InputError(
            f"column {name!r} must hold {width} numbers in every row, got {lengths[strange[0]]} in instance {row:,}, "
            "counted from 0.",
            owner="read",
            column=name,
            row=row,
        )
    found = np.full((table.rows, width), np.nan)
    found[lengths > 0] = flat.reshape(-1, width)
    return found
