"""How a table of text is written: which character is between its values, and whether its first line has the names."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from .written_values import are_numbers, is_missing, is_number

DELIMITERS = ",;\t|"
_BYTES, _LINES = 1 << 16, 50
"""So much of a file is looked at."""

_REPEATS = 2
"""Number of rows below the first one that must have one of its texts, so that it is no name."""


def delimiter_of(start: bytes, usual: str) -> str:
    """The character between values: the usual one, unless only another one cuts the first lines alike."""
    names = start.partition(b"\n")[0]
    if usual.encode() in names:
        return usual
    counts = {other: _columns(first_rows(start, other)) for other in DELIMITERS if other != usual}
    best = max(counts, key=lambda other: counts[other])
    return best if counts[best] > 1 else usual


def _columns(rows: Sequence[Sequence[str]]) -> int:
    """Number of values that every row has, or 0."""
    lengths = {len(row) for row in rows}
    return lengths.pop() if len(lengths) == 1 else 0


def first_rows(start: bytes, delimiter: str) -> list[list[str]]:
    """The values of the first rows."""
    text = start[:_BYTES].decode("utf-8", "replace")
    if len(start) > _BYTES:
        text = text[: text.rfind("\n") + 1]
    found: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            found += [row] if row else []
            if len(found) == _LINES:
                break
    except csv.Error:
        return []
    return found


def has_names(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row has the names of columns.

    It has not where it has numbers wherever the others have them, and not where it has a value that occurs again and
    again below it: names of columns are not values of theirs.
    """
    if len(rows) < 2:
        return True
    first, *others = rows
    columns = [[row[j] for row in others if j < len(row)] for j in range(len(first))]
    repeated = others.count(first)  # joined files repeat the line of names
    if any(_is_value(name, column, repeated) for name, column in zip(first, columns, strict=True)):
        return False
    numbers = [j for j, column in enumerate(columns) if are_numbers(column)]
    if not numbers or not all(is_number(first[j]) for j in numbers):
        return True
    counted = [str(i) for i in range(len(numbers) + 1)]
    return [first[j].strip() for j in numbers] in (
        counted[:-1],
        counted[1:],
    )  # a table without names, written by pandas


def _is_value(name: str, below: Sequence[str], repeated: int) -> bool:
    """Whether what is in the first row is a text that is repeated below it, besides whole rows that are."""
    return not is_missing(name) and not is_number(name) and below.count(name) - repeated >= _REPEATS
