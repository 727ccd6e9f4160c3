"""The first rows of a table of text, in which its columns are found: every value as written, and parsed numbers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from .tables import ArrowTable


class HeadTable(ArrowTable):
    """Rows of texts, which are parsed only where numbers do not say enough.

    Parameters
    ----------
    parsed : pyarrow.RecordBatch
        The rows, each column of the type that its values show.
    as_written : callable
        Returns the named columns of the same rows, as texts.
    """

    def __init__(self, parsed: Any, as_written: Callable[[list[str]], Any], path: Any, known: list[str]) -> None:
        super().__init__(parsed, path, known=known)
        self.names = known
        self._as_written, self._texts = as_written, dict[str, Any]()
        kinds = {field.name: str(field.type) for field in parsed.schema}
        self._decimals = [name for name in known if kinds[name] == "double"]

    def head(self, rows: int) -> HeadTable:
        """The first rows."""
        found = copy.copy(self)
        found.rows = min(rows, self.rows)
        return found

    def records(self) -> list[dict[str, Any]]:
        """Every row as texts by name."""
        columns = [self._column(name).to_pylist() for name in self.names]
        return [dict(zip(self.names, row, strict=True)) for row in zip(*columns, strict=True)]

    def plain_numbers(self, name: str) -> tuple[np.ndarray, bool] | None:
        """A number of each row, and whether all are written as whole numbers; None if some value is not a number."""
        if name in self._decimals:
            found = np.asarray(self._batch.column(name).to_numpy(zero_copy_only=False))[: self.rows]
            with np.errstate(invalid="ignore"):
                if (np.abs(found - np.trunc(found)) > 0.0).any():  # so that it is not written as a whole number
                    return found, False
        return super().plain_numbers(name)

    def _column(self, name: str) -> Any:
        if name not in self._texts:
            is_decimal = name in self._decimals
            several = [other for other in self.names if (other in self._decimals) == is_decimal]
            found = self._as_written(several)
            self._texts |= {other: found.column(other) for other in several}
        return self._texts[name].slice(0, self.rows)
