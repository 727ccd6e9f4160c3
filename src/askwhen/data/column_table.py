"""Tables of named columns, whatever format they come from."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

NUMBER, LIST, UNDECODED = "number", "list of numbers", "bytes"


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

    def head(self, rows: int) -> ColumnTable:
        """The first rows."""

    def plain_numbers(self, name: str) -> tuple[np.ndarray, bool] | None:
        """A number of each row, and whether all are whole; None if one is not a number, or all are true or false."""

    def coded(self, name: str) -> tuple[list[str | None], np.ndarray]:
        """The different texts of a column, and which of them each row has."""
