"""Writes rows as CSV, NDJSON, JSON or Parquet, part by part."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from ...trace.trace import needed
from .label_studio.annotations import array_of

MEDIA = {
    "csv": "text/csv; charset=utf-8",
    "ndjson": "application/x-ndjson",
    "json": "application/json",
    "label-studio": "application/json",
    "parquet": "application/vnd.apache.parquet",
    "prodigy": "application/x-ndjson",
}
Rows = Iterable[list[dict[str, Any]]]


_formula = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]").match
_number = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?").fullmatch


def written(format: str, columns: dict[str, type], chunks: Rows, raw: bool = False) -> Iterator[bytes]:
    """The bytes of a file, part by part; ``raw`` does not escape texts in CSV that look like formulas."""
    if format == "csv" and not raw:
        texts = [name for name, kind in columns.items() if kind is str]
        chunks = ([_defused(row, texts) for row in rows] for rows in chunks)
    return {"csv": _csv, "ndjson": _ndjson, "json": _json, "parquet": _parquet}[format](columns, chunks)


def _defused(row: dict[str, Any], texts: list[str]) -> dict[str, Any]:
    """A row with an apostrophe before texts that a spreadsheet would run as formulas; plain numbers stay."""
    risky = {name: row[name] for name in texts if row.get(name) and _formula(row[name]) and not _number(row[name])}
    return row | {name: f"'{text}" for name, text in risky.items()} if risky else row


def _ndjson(columns: dict[str, type], chunks: Rows) -> Iterator[bytes]:
    encode = msgspec.json.Encoder().encode_lines
    for rows in chunks:
        yield encode(rows)


def _json(columns: dict[str, type], chunks: Rows) -> Iterator[bytes]:
    return array_of(chunks)


def _csv(columns: dict[str, type], chunks: Rows) -> Iterator[bytes]:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    for rows in chunks:
        writer.writerows(rows)
        yield _taken(text)
    yield _taken(text)


def _taken(text: io.StringIO) -> bytes:
    found = text.getvalue().encode("utf-8", "replace")
    text.seek(0)
    text.truncate()
    return found


class _Parts(io.RawIOBase):
    """A file object that hands over what was written to it."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._size += len(part)
        return len(part)

    def tell(self) -> int:
        return self._size

    def taken(self) -> bytes:
        found = b"".join(self._parts)
        self._parts.clear()
        return found


def _parquet(columns: dict[str, type], chunks: Rows) -> Iterator[bytes]:
    pa, parquet = needed("export", "pyarrow"), needed("export", "pyarrow.parquet")
    kinds = {int: pa.int64(), float: pa.float64(), str: pa.string(), bool: pa.bool_()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns.items()])
    file = _Parts()
    with parquet.ParquetWriter(file, schema) as writer:
        for rows in chunks:
            writer.write_table(pa.Table.from_pylist(rows, schema))
            yield file.taken()
    yield file.taken()
