"""Instances without labels, beside what a person sees of them: rows of a table, or lines of NDJSON."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from .files import blocks_of
from .hashing import DEFAULT_FEATURES, hash_text
from .stream import format_of
from .tables import LABELS, Columns, batches_of

_AT_ONCE = 256


def read_records(
    path: str | os.PathLike[str],
    *,
    text: str | None = None,
    drop: tuple[str, ...] = (),
    format: str | None = None,
    n_features: int | None = None,
    skip: int = 0,
    passed: Callable[[int, dict[str, Any]], None] | None = None,
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """One instance and its record after the other: the words of a text, hashed, and every column of numbers.

    Parameters
    ----------
    path : str or path
        A CSV, TSV, Parquet or NDJSON file; lines of the last are objects with a value for each name.
    text : str, optional
        The column whose words are hashed.
    drop : tuple of str, optional
        Columns that are neither features nor in the record; columns named label, y, class or target never are.
    format : str, optional
        By default what the file's name says.
    n_features : int, optional
        The number of places that words are hashed to; 262,144 unless you say otherwise.
    skip : int, default 0
        How many to pass over.
    passed : callable, optional
        Is told of the row and the record of each that is passed over.
    """
    name, kind = os.fspath(path), format_of(path, format)
    if kind not in ("csv", "tsv", "parquet", "ndjson"):
        raise InputError(f"read: records come from csv, tsv, parquet or ndjson, got {kind}.")
    hidden = {*drop, *LABELS} - {text}
    rows = _lines(name) if kind == "ndjson" else _rows(name, kind, text, tuple(drop))
    numbers: list[str] | None = None
    for at in itertools.count(0, _AT_ONCE):
        found = list(itertools.islice(rows, _AT_ONCE))
        if not found:
            return
        shown = [{key: value for key, value in record.items() if key not in hidden} for record in found]
        if numbers is None:
            numbers = _numbers(name, shown[0], text)
        if passed is not None:
            for i in range(min(max(skip - at, 0), len(shown))):
                passed(at + i, shown[i])
        if at + len(found) <= skip:
            continue
        X = _instances(name, shown, at, text, numbers, n_features or DEFAULT_FEATURES)
        for i in range(max(skip - at, 0), len(shown)):
            yield X[i] if sp.issparse(X) else np.ascontiguousarray(X[i]), shown[i]


def _rows(path: str, kind: str, text: str | None, drop: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for batch in batches_of(path, kind, 1 << 12, Columns(None, None, text, drop, 1), None):
        names = batch.schema.names
        if text is not None and text not in names:
            raise InputError(f"read: {path} has no column {text!r}; it has {', '.join(map(repr, names))}.")
        yield from batch.to_pylist()


def _lines(path: str) -> Iterator[dict[str, Any]]:
    number = 0
    for block in blocks_of("read", path):
        for line in bytes(block).splitlines():
            number += 1
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                record = None
            if not isinstance(record, dict):
                raise InputError(f"read: {path}, line {number}, must be an object with a value for each name.")
            yield record


def _numbers(path: str, record: dict[str, Any], text: str | None) -> list[str]:
    """The columns of numbers, by the first record."""
    if text is not None and text not in record:
        raise InputError(f"read: {path} has no column {text!r}; it has {', '.join(map(repr, record))}.")
    found = [key for key, value in record.items() if isinstance(value, (int, float)) and key != text]
    if not found and text is None:
        raise InputError(f"read: {path} has no column of numbers; name the column of its text= .")
    return found


def _instances(
    path: str, records: list[dict[str, Any]], before: int, text: str | None, numbers: list[str], features: int
) -> Any:
    dense = np.empty((len(records), len(numbers)))
    for i, record in enumerate(records):
        for j, key in enumerate(numbers):
            value = record.get(key)
            if not isinstance(value, (int, float)):
                raise InputError(f"read: {path} must have a number as {key!r} in instance {before + i}, got {value!r}.")
            dense[i, j] = value
    if text is None:
        return dense
    texts = [record.get(text) for record in records]
    words = hash_text(["" if found is None else str(found) for found in texts], features)
    return sp.hstack([words, sp.csr_matrix(dense)], "csr") if numbers else words
