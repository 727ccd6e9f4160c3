"""Features as versions before 0.2 made them, by their names: for models that learnt from such features.

An instance is, in this order: the places that words and categories are hashed to, if there are any; then the named
numbers, of which ``a is missing`` is 1 where the number ``a`` is missing, and ``e[2]`` the third number of a list.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError, argument
from .column_choices import ColumnChoices
from .column_table import ColumnTable
from .files import listed
from .hashing import DEFAULT_FEATURES, counted, hashed_names, hashed_words
from .schema_columns import GAP, lists_of

_DENSE_PLACES, _MOST_DENSE = 64, 8
"""Number of places of each category, and the largest number of categories that have so many: where there is no text."""


class NamedFeatures:
    """Features by their names, and the columns whose words are hashed.

    Parameters
    ----------
    columns : ColumnChoices
        The user's choices: columns of text and categories, and ``names``.
    """

    def __init__(self, columns: ColumnChoices) -> None:
        self.columns = columns
        self.names: tuple[str, ...] = columns.names or ()
        self._is_narrow = 0 < len(columns.categories) <= _MOST_DENSE and not columns.text and not columns.given_places
        few = _DENSE_PLACES * len(columns.categories)
        self._places = few if self._is_narrow else columns.given_places or DEFAULT_FEATURES
        self._widths: dict[str, int] = {}

    @property
    def read_as_numbers(self) -> frozenset[str]:
        """No column is parsed as numbers if its first rows do not look so."""
        return frozenset()

    def needed(self, known: list[str]) -> tuple[str, ...]:
        """The columns of a file that features are made of."""
        return (*self.columns.text, *self.columns.categories, *widths(self.names, known))

    def check(self, known: list[str], path: Any) -> None:
        """Refuse a table that lacks a column that features are made of."""
        self._widths = widths(self.names, known)
        lacking = [name for name in self._widths if name not in known]
        if lacking:
            what = "one of the features that were named" if len(lacking) == 1 else "features that were named"
            raise InputError(
                f"{path} has no {self.columns.lacking(lacking, known)}, {what}; it has {listed(known)}.",
                owner="read",
                file=str(path),
            )

    def rows(self, table: ColumnTable, before: int, path: Any) -> Any:
        """The instances of a table; ``before`` is the number of rows before it, for errors."""
        columns, dense = self.columns, self._dense(table, before, path)
        words = [self._texts(table, name, name if k else "") for k, name in enumerate(columns.text)]
        words += [self._category(table, name, before, path) for name in columns.categories]
        if not words:
            return dense
        hashed = sum(words[1:], words[0])
        if self._is_narrow:
            return np.hstack([hashed.toarray(), dense])
        return sp.hstack([hashed, sp.csr_matrix(dense)], "csr") if dense.shape[1] else hashed

    def _dense(self, table: ColumnTable, before: int, path: Any) -> np.ndarray:
        """The named numbers and indicators."""
        found: dict[str, np.ndarray] = {}
        for name, width in self._widths.items():
            values = lists_of(table, name, width, before) if width else table.numbers(name, before).copy()[:, None]
            gaps = np.isnan(values)
            rows = gaps.any(axis=1)
            if rows.any() and name + GAP not in self.names:
                self._refuse_gap(name, before + int(np.argmax(rows)), path)
            values[gaps] = 0.0
            found[name + GAP] = rows.astype(float)
            found |= {f"{name}[{i}]": values[:, i] for i in range(width)} if width else {name: values[:, 0]}
        return np.column_stack([found[name] for name in self.names]) if self.names else np.zeros((table.rows, 0))

    def _refuse_gap(self, name: str, row: int, path: Any) -> None:
        cure = f"the features that were named have no {name + GAP!r}"
        if self.columns.missing == "refuse":
            cure = f"this was read with {argument('missing', 'refuse')}"
        raise InputError(
            f"column {name!r} of {path} is empty or NaN in instance {row}, counted from 0; {cure}.",
            owner="read",
            file=str(path),
            column=name,
            row=row,
        )

    def _texts(self, table: ColumnTable, name: str, salt: str) -> sp.csr_matrix:
        return hashed_words([text or "" for text in table.words(name)], self._places, salt)

    def _category(self, table: ColumnTable, name: str, before: int, path: Any) -> sp.csr_matrix:
        values = [value or "" for value in table.words(name)]
        if self.columns.missing == "refuse" and "" in values:
            self._refuse_gap(name, before + values.index(""), path)
        indices = hashed_names([f"{name}={value}" for value in values], self._places)
        return counted(np.ones(table.rows), indices, np.arange(table.rows + 1), self._places)


def widths(names: tuple[str, ...], known: list[str]) -> dict[str, int]:
    """The columns that features with these names are made of, and how many numbers of a list each has, or 0."""
    found: dict[str, int] = {}
    for name in names:
        stem = name.removesuffix(GAP)
        part = re.fullmatch(r"(.*)\[(\d+)\]", name, re.DOTALL)
        if name in known or (stem == name and part is None):
            found.setdefault(name, 0)
        elif part is not None:
            found[part[1]] = max(found.get(part[1], 0), int(part[2]) + 1)
        else:
            found.setdefault(stem, 0)
    return found
