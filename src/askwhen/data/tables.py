"""Batches of Arrow columns, as CSV and Parquet files give them, read as numbers, words and labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError, argument
from .files import not_decoded
from .instances import LIST, NUMBER, UNDECODED


class ArrowTable:
    """A record batch as a :class:`~askwhen.data.instances.ColumnTable`."""

    def __init__(self, batch: Any, path: Any, decodable: bool = True, known: list[str] | None = None) -> None:
        self.names: list[str] = batch.schema.names
        self.known = self.names if known is None else known
        self.rows: int = batch.num_rows
        self._batch, self._path, self._decodable = batch, path, decodable

    def records(self) -> list[dict[str, Any]]:
        """Every row as values by name."""
        found: list[dict[str, Any]] = self._batch.to_pylist()
        return found

    def kind(self, name: str) -> str:
        """NUMBER, LIST, UNDECODED, or what else a column holds."""
        from pyarrow import types

        kind = self._column(name).type
        if types.is_null(kind) or _is_number(kind):
            return NUMBER
        lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
        if lists and _is_number(kind.value_type):
            return LIST
        return UNDECODED if types.is_binary(kind) and self._decodable else str(kind)

    def gap(self, name: str) -> int | None:
        """The first row that is null, NaN, or an empty text."""
        from pyarrow import compute, types

        column = self._column(name)
        gaps = np.asarray(column.is_null(nan_is_null=True))
        if types.is_string(column.type) or types.is_large_string(column.type):
            gaps |= np.asarray(compute.equal(column, "").fill_null(True))
        return int(np.argmax(gaps)) if gaps.any() else None

    def values(self, name: str, before: int) -> np.ndarray:
        """A label or a time of each row, unchanged."""
        return np.asarray(self._text(name).to_numpy(zero_copy_only=False))

    def numbers(self, name: str, before: int) -> np.ndarray:
        """A number of each row, NaN where there is none."""
        column = self._column(name)
        if column.null_count == len(column):
            return np.full(self.rows, np.nan)
        return np.asarray(column.to_numpy(zero_copy_only=False), float)

    def lists(self, name: str, before: int) -> tuple[np.ndarray, np.ndarray]:
        """How many numbers each row has, and all of them in a row."""
        from pyarrow import compute

        column = self._column(name)
        lengths = np.asarray(compute.list_value_length(column).fill_null(0))
        return lengths, np.asarray(column.flatten().to_numpy(zero_copy_only=False), float)

    def words(self, name: str) -> list[str | None]:
        """A text or a category of each row."""
        column = self._text(name)
        try:
            found: list[str | None] = column.cast("string").to_pylist()
        except (NotImplementedError, ValueError) as error:
            raise InputError(
                f"column {name!r} of {self._path} holds {column.type}, which is not text; name it in "
                f"{argument('drop')}.",
                owner="read",
            ) from error
        return found

    def _column(self, name: str) -> Any:
        column = self._batch.column(name)
        return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column

    def _text(self, name: str) -> Any:
        """A column, as text where it is bytes."""
        import pyarrow as arrow

        column = self._column(name)
        kind = column.type
        if not (arrow.types.is_binary(kind) or arrow.types.is_large_binary(kind)):
            return column
        try:
            return column.cast("string")
        except arrow.ArrowInvalid:
            raise self._undecoded(name) from None

    def _undecoded(self, name: str) -> InputError:
        if self._decodable:
            return not_decoded(self._path, f"column {name!r} of ")
        return InputError(
            f"column {name!r} of {self._path} is not in UTF-8; name it in {argument('drop')}.", owner="read"
        )


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))
