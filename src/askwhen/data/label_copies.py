"""Columns that are the label written otherwise, such as its number beside its name: models must not see them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import InputWarning
from .column_table import ColumnTable
from .schema_columns import CategoryColumn, Column, FlagColumn, NamesColumn, NumberColumn
from .written_values import is_missing

_FEWEST, _RECURRING = 200, 5
"""With fewer rows, or rows for each label, a column may agree with the labels by chance."""

_START = 20
"""For each label, so many of the first rows are looked at before all are compared."""

_SHOWN = 3


def warn_of_copies(what: Any, table: ColumnTable, columns: Iterable[Column], labels: np.ndarray, cure: str) -> None:
    """Warn of columns with one value for each label and one label for each value; ``cure`` says how to drop them."""
    different, index = np.unique(labels, return_inverse=True)
    k, n = len(different), len(labels)
    if k < 2 or n < max(_FEWEST, _RECURRING * k):
        return
    kinds = (NumberColumn, FlagColumn, CategoryColumn, NamesColumn)
    asked = [column for column in columns if isinstance(column, kinds) and column.needed == (column.name,)]
    start = table.head(_START * (k + 1))
    names = [each.name for each in asked if not (isinstance(each, NumberColumn) and _has_more(start, each.name, k))]
    found = [name for name in names if _agrees(table, name, index, k)]
    if found:
        some = " and ".join(f"column {name!r}" for name in found[:_SHOWN])
        warnings.warn(
            f"{some} of {what} has one value for each label in the first {n:,} rows; if that is the label written "
            f"otherwise, no model should see it: {cure.format(','.join(found))}.",
            InputWarning,
            stacklevel=4,
        )


def _has_more(start: ColumnTable, name: str, k: int) -> bool:
    """Whether the first rows of a column have more than k numbers, so that it need not be compared with k labels."""
    found = start.plain_numbers(name)
    return found is not None and len(np.unique(found[0][np.isfinite(found[0])])) > k


def _agrees(table: ColumnTable, name: str, index: np.ndarray, k: int) -> bool:
    """Whether the values of a column tell k labels, and are told by them."""
    texts, values = table.coded(name)
    pairs = np.unique(np.column_stack([values, index]), axis=0)
    return len(pairs) == k == len({*values.tolist()}) and not any(text is None or is_missing(text) for text in texts)
