"""Batches of Arrow columns, as CSV and Parquet files give them, read as numbers, words and labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError, argument
from .column_table import LIST, NUMBER, UNDECODED
from .files import not_decoded
from .records import Records
from .written_values import CODE, MISSING, as_text, is_missing, is_number, number_in


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

    def head(self, rows: int) -> ArrowTable:
        """The first rows."""
        return ArrowTable(self._batch.slice(0, rows), self._path, self._decodable, self.known)

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
        if _is_text(column.type):
            return self._numbers_of_texts(name, before)
        column = column.cast("float64") if _is_decimal(column.type) else column
        return np.asarray(column.to_numpy(zero_copy_only=False), float)

    def plain_numbers(self, name: str) -> tuple[np.ndarray, bool] | None:
        """A number of each row, and whether all are written as whole numbers; None if some value is not a number."""
        from pyarrow import ArrowInvalid, compute, types

        column = self._column(name)
        if not _is_text(column.type):
            is_one = _is_number(column.type) and not types.is_boolean(column.type)
            is_one = is_one or _is_decimal(column.type) or types.is_null(column.type)
            return (self.numbers(name, 0), types.is_integer(column.type)) if is_one else None
        column = _without_marks(column)
        try:
            found = column.cast("float64")
        except ArrowInvalid:
            return None
        try:
            column.cast("int64")
        except ArrowInvalid:
            whole = False
        else:
            whole = True
            if _any(compute.match_substring_regex(column, f"^({CODE.pattern})$")):
                return None
        return np.asarray(found.to_numpy(zero_copy_only=False), float), whole

    def _numbers_of_texts(self, name: str, before: int) -> np.ndarray:
        """The numbers that texts are; a text that is none is refused."""
        found = self.plain_numbers(name)
        if found is not None:
            return found[0]
        texts, index = self.coded(name)
        odd = [text is not None and not is_missing(text) and not is_number(text) for text in texts]
        strange = np.flatnonzero(np.array(odd)[index])
        if len(strange):
            row = int(strange[0])
            raise InputError(
                f"{self._path} must have a number as {name!r} in instance {before + row}, got {texts[index[row]]!r}.",
                owner="read",
                file=str(self._path),
                column=name,
                row=before + row,
            )
        return np.asarray(np.array([number_in(text) for text in texts])[index])

    def coded(self, name: str) -> tuple[list[str | None], np.ndarray]:
        """The different texts of a column, and which of them each row has."""
        column = self._text(name)
        if not (_is_number(column.type) or _is_decimal(column.type)):
            column = self._cast_text(name, column)
        found = column.dictionary_encode(null_encoding="encode")
        return [as_text(value) for value in found.dictionary.to_pylist()], np.asarray(found.indices)

    def lists(self, name: str, before: int) -> tuple[np.ndarray, np.ndarray]:
        """How many numbers each row has, and all of them in a row."""
        from pyarrow import compute

        column = self._column(name)
        if _is_text(column.type):
            return Records([{name: text} for text in self.words(name)], self._path).lists(name, before)
        lengths = np.asarray(compute.list_value_length(column).fill_null(0))
        return lengths, np.asarray(column.flatten().to_numpy(zero_copy_only=False), float)

    def words(self, name: str) -> list[str | None]:
        """A text or a category of each row."""
        found: list[str | None] = self._cast_text(name, self._text(name)).to_pylist()
        return found

    def _cast_text(self, name: str, column: Any) -> Any:
        try:
            return column.cast("string")
        except (NotImplementedError, ValueError) as error:
            raise InputError(
                f"column {name!r} of {self._path} holds {column.type}, which is not text; name it in "
                f"{argument('drop')}.",
                owner="read",
            ) from error

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


def _is_decimal(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_decimal(kind))


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _without_marks(column: Any) -> Any:
    """Texts without blanks around them, and without those that stand for missing values."""
    import pyarrow as arrow
    from pyarrow import compute

    column = compute.utf8_trim_whitespace(column)
    marks = compute.is_in(column, value_set=arrow.array(sorted(MISSING), column.type))
    return compute.if_else(marks, None, column)


def _any(found: Any) -> bool:
    from pyarrow import compute

    return bool(compute.any(found).as_py())
