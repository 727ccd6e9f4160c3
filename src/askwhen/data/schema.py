"""The schema of a table: what each column is taken for, and how a row becomes an instance.

An instance has its features in this order:

==========  ==========================================================
numbers     columns of numbers, two words and dates, in the order of the table; then the places of categories; then the
            features that mark missing numbers
vectors     one after the other
words       the places that texts and categories with very many values are hashed to
==========  ==========================================================
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .. import encoders
from ..contracts.kinds import Kinds, MixedRows
from ..errors import InputError, InputWarning, argument
from .column_table import ColumnTable
from .hashing import DEFAULT_FEATURES
from .record_checks import check_names, check_record
from .records import Records
from .schema_columns import (
    ASKED,
    GAP,
    CategoryColumn,
    Column,
    MeasuredColumn,
    NumberColumn,
    OtherColumn,
    RecordColumn,
    TextColumn,
    VectorColumn,
    WordsColumn,
)
from .written_values import is_missing

ANY_GAP = "another number is missing"


class TextEncoder(NamedTuple):
    """An encoder of texts as schemas store it; another encoder is refused."""

    name: str
    checksum: str | None
    width: int


Encode = Callable[[list[str]], np.ndarray]
"""Makes a vector of each text."""


@dataclass(frozen=True)
class Schema:
    r"""What each column of a table is taken for, found from its first rows; ``Stream.schema`` has it.

    Parameters
    ----------
    columns : tuple of Column
        All columns, in the order of the table, also those that are not features.
    places : int
        Number of places that words are hashed to.
    missing : {"auto", "feature", "refuse"}
        Whether a missing value is marked by a feature or refused; with "feature" every number has a feature of its own.

    Examples
    --------
    >>> import askwhen as aw, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "orders.csv"
    >>> rows = [f"a{i},{i}.5,{'xyz'[i % 3]},{i % 2}\n" for i in range(30)]
    >>> _ = path.write_text("id,price,city,label\n" + "".join(rows))
    >>> schema = aw.data.read(path).schema
    >>> schema.described()[0]
    ('id', 'dropped', 'an identifier: every value is different')
    >>> schema.names[:3], schema.kinds.numbers
    (('price', 'city=x', 'city=y'), 7)
    >>> schema.row({"price": 2, "city": "y"}).tolist()
    [2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    """

    columns: tuple[Column, ...] = ()
    places: int = DEFAULT_FEATURES
    missing: str = "auto"
    encoder: TextEncoder | None = None

    def _of(self, kind: type[Any]) -> tuple[Any, ...]:
        return tuple(column for column in self.columns if isinstance(column, kind))

    @cached_property
    def _measured(self) -> tuple[MeasuredColumn, ...]:
        return self._of(MeasuredColumn)

    @cached_property
    def _categories(self) -> tuple[CategoryColumn, ...]:
        return self._of(CategoryColumn)

    @cached_property
    def _own_gaps(self) -> tuple[MeasuredColumn, ...]:
        """The columns with a feature of their own for missing numbers."""
        return tuple(column for column in self._measured if column.gaps)

    @cached_property
    def _shares_gap(self) -> bool:
        """Whether one feature marks the missing numbers of all other columns."""
        return self.missing != "refuse" and len(self._own_gaps) < len(self._measured)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the features that are numbers, in their order."""
        found = [name for column in (*self._measured, *self._categories) for name in column.names]
        found += [column.name + GAP for column in self._own_gaps]
        return tuple([*found, ANY_GAP] if self._shares_gap else found)

    @cached_property
    def kinds(self) -> Kinds:
        """How many features there are of each kind."""
        vectors = tuple(column.width for column in self._of(VectorColumn))
        if self.encoder is not None:
            vectors += (self.encoder.width,) * len(self._of(TextColumn))
        return Kinds(len(self.names), vectors, self.places if self._of(WordsColumn) else 0)

    @property
    def has_words_only(self) -> bool:
        """Whether there are texts, and no encoder that makes vectors of them."""
        return self.encoder is None and bool(self._of(TextColumn))

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """The columns of a file that features are made of."""
        return tuple(dict.fromkeys(name for column in self.columns for name in column.needed))

    @property
    def takes_any(self) -> bool:
        """Whether instances are records with any names, each value of which is a feature."""
        return bool(self._of(RecordColumn))

    @property
    def text(self) -> str | None:
        """The column that instances are made of, where they are texts and nothing else."""
        (name, *more) = self.needed or ("",)
        return name if name and not more and len(self._of(TextColumn)) == 1 else None

    @cached_property
    def read_as_numbers(self) -> frozenset[str]:
        """The columns of a file of text that are parsed as numbers; all others are texts."""
        numbers = (
            column for column in self._of(NumberColumn) if not (column.lenient or column.width or column.writing)
        )
        vectors = (column for column in self._of(VectorColumn) if column.parts)
        return frozenset(name for column in (*numbers, *vectors) for name in column.needed)

    @property
    def told(self) -> set[str]:
        """The columns whose decision says that some values are taken for missing."""
        return {column.name for column in self._of(NumberColumn) if "missing, such as" in column.why}

    @property
    def label(self) -> str | None:
        """The column of labels, where it is known."""
        return next((column.name for column in self._of(OtherColumn) if column.role == "label"), None)

    def described(self) -> list[tuple[str, str, str]]:
        """The name of each column, its role, and why."""
        return [(column.name, column.role, column.why) for column in self.columns]

    def summary(self) -> str:
        """All decisions in one line, with how numbers are written, and without what was left out on request."""
        counts: dict[str, int] = {}
        for column in self.columns:
            counts[column.role] = counts.get(column.role, 0) + 1
        some = [_counted(counts[role], role) for role in _PLURALS if role in counts]
        left = [column for column in self._of(OtherColumn) if column.role == "dropped" and column.why != ASKED]
        out = ", ".join(f"{column.name} ({column.why.partition(':')[0]})" for column in left[:_SOME])
        more = f" and {len(left) - _SOME:,} more" if len(left) > _SOME else ""
        special = [note for column in self._of(NumberColumn) if (note := column.note)]
        notes = "".join(f"; {note}" for note in special[:_SOME])
        notes += f"; {len(special) - _SOME:,} more such columns" if len(special) > _SOME else ""
        return f"Columns: {', '.join(some) or 'no feature'}{notes}{f'; left out {out}{more}' if out else ''}."

    def check(self, names: Iterable[str], path: Any) -> None:
        """Refuse a table that lacks a column that features are made of."""
        check_names(self.needed, list(names), path)

    def rows(
        self,
        table: ColumnTable,
        before: int = 0,
        path: Any = "the table",
        encode: Encode | None = None,
        told: set[str] | None = None,
    ) -> np.ndarray | MixedRows:
        """The instances of a table; ``before`` is the number of rows before it, for errors.

        A text that is taken for a missing value is said in a warning, once for each column that is not in ``told``.
        """
        place = _Place(before, path, set() if told is None else told)
        dense = self._numbers(table, place)
        vectors, words = self._of(VectorColumn), self._of(WordsColumn)
        if not vectors and not words:
            return dense
        parts = [_sparse(dense)] if dense.shape[1] else []
        parts += [_sparse(self._whole(column, table, place)) for column in vectors]
        parts += self._encoded(table, encode)
        if words:
            if self.missing == "refuse":
                for column in words:
                    texts = table.words(column.name)
                    place.refuse_first(column.name, np.array([text is None for text in texts]))
            hashed = [column.words(table, self.places) for column in words]
            parts.append(sum(hashed[1:], hashed[0]))
        return MixedRows.of(parts[0] if len(parts) == 1 else sp.hstack(parts, "csr"), self.kinds)

    def _encoded(self, table: ColumnTable, encode: Encode | None) -> list[sp.csr_matrix]:
        """The vectors of all texts, a matrix for each column of texts; the texts of a row are encoded together."""
        texts = self._of(TextColumn)
        if self.encoder is None or not texts:
            return []
        if encode is None:
            encode = encoders.find(self.encoder._asdict()).encode
        columns = [table.words(column.name) for column in texts]
        found = encode([text or "" for row in zip(*columns, strict=True) for text in row]).astype(float)
        each = found.reshape(table.rows, len(texts), self.encoder.width)
        return [sp.csr_matrix(each[:, j]) for j in range(len(texts))]

    def row(self, record: Mapping[str, Any], what: str = "the record") -> np.ndarray | MixedRows:
        """One record as an instance, the same as in a table: a vector, or a matrix with one row.

        It must have every column, with None or NaN where a value is missing. A category that the schema does not know
        has the place of all other values.
        """
        check_record(self.columns, record, what)
        found = self.rows(
            Records([dict(record) if self.takes_any else {name: record[name] for name in self.needed}], what)
        )
        return found[0] if isinstance(found, np.ndarray) else found

    def _numbers(self, table: ColumnTable, place: _Place) -> np.ndarray:
        """The features that are numbers."""
        found, at, starts = np.zeros((table.rows, len(self.names))), 0, []
        for column in self._measured:
            starts.append(at)
            values = column.numbers(table, place.before)
            if column.wanted:
                place.warn_of_odd(column, table, values)
            found[:, at : at + values.shape[1]] = values
            at += values.shape[1]
        gaps = self._filled(found[:, :at], starts, place)
        row = np.arange(table.rows)
        for category in self._categories:
            places = category.places(table)
            if self.missing == "refuse":
                place.refuse_first(category.name, places == len(category.values) + 1)
            found[row, at + places] = 1.0
            at += len(category.names)
        if gaps is not None:
            own = np.array([column.gaps for column in self._measured])
            found[:, at : at + own.sum()] = gaps[:, own]
            if self._shares_gap:
                found[:, -1] = gaps[:, ~own].any(axis=1)
        return found

    def _filled(self, measured: np.ndarray, starts: list[int], place: _Place) -> np.ndarray | None:
        """Replace missing numbers by 0, in place; says where each column had some, or None if there are none."""
        if not measured.size or np.isfinite(measured.sum()):
            return None
        where = np.isnan(measured) if self.missing == "refuse" else ~np.isfinite(measured)
        gaps = np.logical_or.reduceat(where, starts, axis=1)
        if self.missing == "refuse":
            for column, missing in zip(self._measured, gaps.T, strict=True):
                place.refuse_first(column.name, missing)
            return None
        measured[where] = 0.0
        return gaps

    def _whole(self, column: VectorColumn, table: ColumnTable, place: _Place) -> np.ndarray:
        """Vectors, of which those with a missing number are zero."""
        found = column.vectors(table, place.before)
        if np.isfinite(found.sum()):
            return found
        gaps = ~np.isfinite(found).all(axis=1)
        if self.missing == "refuse":
            place.refuse_first(column.name, gaps)
        found[gaps] = 0.0
        return found


def _sparse(dense: np.ndarray) -> sp.csr_matrix:
    """A dense matrix as a sparse one; scipy looks for zeros in ten times the time, even where there are none."""
    n, d = dense.shape
    if not dense.all() or dense.size > np.iinfo(np.int32).max:
        return sp.csr_matrix(dense)
    indices, starts = np.tile(np.arange(d, dtype=np.int32), n), np.arange(n + 1, dtype=np.int32) * np.int32(d)
    return sp.csr_matrix((dense.ravel(), indices, starts), dense.shape)


class _Place(NamedTuple):
    """Where rows are, for errors: how many came before them, and the file."""

    before: int
    path: Any
    told: set[str]

    def warn_of_odd(self, column: MeasuredColumn, table: ColumnTable, values: np.ndarray) -> None:
        """Warn of the first text of a column that is taken for a missing value without being one."""
        gaps = np.isnan(values[:, 0])
        if column.name in self.told or not gaps.any():
            return
        texts, index = table.coded(column.name)
        odd = np.flatnonzero(gaps & ~np.array([is_missing(text) for text in texts], bool)[index])
        if len(odd):
            self.told.add(column.name)
            text = texts[int(index[odd[0]])]
            warnings.warn(
                f"Column {column.name!r} of {self.path} holds {text!r:.80} in instance {self.before + int(odd[0]):,}, "
                f"counted from 0, which is not {column.wanted}: such values are taken for missing.",
                InputWarning,
                stacklevel=2,
            )

    def refuse_first(self, name: str, gaps: np.ndarray) -> None:
        """Refuse the first missing value of a column, if there is one."""
        if not gaps.any():
            return
        row = self.before + int(np.argmax(gaps))
        cure = f"leave out {argument('missing', 'refuse')}, or name it in {argument('drop')}"
        raise InputError(
            f"column {name!r} of {self.path} is empty or NaN in instance {row:,}, counted from 0; {cure}.",
            owner="read",
            file=str(self.path),
            column=name,
            row=row,
            mend={"missing": "auto"},
        )


_SOME = 12
_PLURALS = {
    "number": "numbers",
    "date": "dates",
    "category": "categories",
    "text": "texts",
    "vector": "vectors",
}


def _counted(n: int, role: str) -> str:
    return f"{n:,} {role if n == 1 else _PLURALS[role]}"
