"""Events in Parquet: the columns key, x, round, label, forget, time, id and advice; not all of them need be there.

x is a list of numbers, a map from indices to numbers for sparse instances, or a struct where instances have named
values. advice is a text with the JSON object of an event, or a struct or a map with an entry for each adviser.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ...data.files import perhaps
from ...errors import InputError
from ...system.extras import needs_extra
from ..events import EventBatch, Refusal, empty_batch, named_rows, refuse_malformed, sparse_row
from ..sampler_spec import SamplerSpec

_COLUMNS = ("key", "x", "round", "label", "forget", "time", "id", "advice")


class ParquetRows:
    """Reads rows of Parquet files; the row group that was read last stays in memory."""

    def __init__(self, spec: SamplerSpec) -> None:
        self._spec, self._needs_time = spec, spec.needs_time
        self._last_group: tuple[Any, int, EventBatch] | None = None

    def read(self, file: Path, at: int, most: int) -> tuple[EventBatch, int]:
        """At most so many rows from this one on, and the number of the row after them."""
        with needs_extra("keyed", "a partition of Parquet files", "keyed"):
            import pyarrow
            import pyarrow.parquet

        try:
            with file.open("rb") as source, pyarrow.parquet.ParquetFile(source) as opened:
                about = os.fstat(source.fileno())  # the file may be replaced by another one with its name
                which = (file, about.st_ino, about.st_size, about.st_mtime_ns)
                first = 0
                for group in range(opened.num_row_groups):
                    count = opened.metadata.row_group(group).num_rows
                    if at < first + count:
                        batch = self._group(opened, which, group)
                        here = slice(at - first, min(at - first + most, count))
                        return _slice(batch, here), first + here.stop
                    first += count
                if at > first:
                    raise InputError(
                        f"{file} has {first} rows and was read up to {at}: it was cut off or replaced.", owner="keyed"
                    )
        except (pyarrow.ArrowException, OSError) as error:
            raise InputError(f"{file} cannot be read as Parquet: {error}.", owner="keyed") from error
        return empty_batch(), at

    def _group(self, opened: Any, which: Any, group: int) -> EventBatch:
        if self._last_group is None or self._last_group[:2] != (which, group):
            names = [name for name in _COLUMNS if name in opened.schema_arrow.names]
            _check_columns(which[0], opened.schema_arrow.names, self._needs_time)
            self._last_group = (which, group, self._events(opened.read_row_group(group, names)))
        return self._last_group[2]

    def _events(self, table: Any) -> EventBatch:
        columns = {name: table[name].to_pylist() for name in table.column_names if name != "x"}
        none: list[Any] = [None] * table.num_rows
        keys = [key if isinstance(key, str) else None for key in columns["key"]]
        wrong = {i: "the key must be a text." for i, key in enumerate(keys) if key is None}
        given = none[:] if "x" not in table.column_names else self._instances(table["x"])
        shown = None
        if self._spec.schema is not None:
            shown = none if "x" not in table.column_names else _plain(table["x"].to_pylist())
        rounds, labels, times, ids = (columns.get(name, none) for name in ("round", "label", "time", "id"))
        if any(isinstance(each, float) for each in rounds):  # as libraries write integer columns with missing values
            wrong |= {i: "the round must be a whole number." for i, each in enumerate(rounds) if _is_fraction(each)}
            rounds = [None if each is None or each != each or _is_fraction(each) else int(each) for each in rounds]
        forgets = [bool(each) for each in columns.get("forget", none)]
        said = None if "advice" not in columns else _advice(columns["advice"], wrong)
        events = EventBatch([key or "" for key in keys], given, rounds, labels, times, ids, shown, said)
        return refuse_malformed(events, forgets, wrong)

    def _instances(self, column: Any) -> list[Any]:
        import pyarrow

        types, kind = pyarrow.types, column.type
        if self._spec.schema is not None:
            if not types.is_struct(kind):
                return _refused(column, "x must be an object with the columns of the schema here.")
            return named_rows(_plain(column.to_pylist()), self._spec.schema)
        if self._spec.sparse:
            if not (types.is_map(kind) and types.is_integer(kind.key_type) and _holds_numbers(kind.item_type)):
                return _refused(column, "x must be a map from places to numbers here.")
            d = self._spec.features or 0
            return [None if x is None else sparse_row(dict(x), d) for x in column.to_pylist()]
        is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
        if not (is_list and _holds_numbers(kind.value_type)):
            return _refused(column, "x must be a list of numbers here.")
        lists = column.cast(pyarrow.list_(kind.value_type)).combine_chunks()
        there = np.flatnonzero(lists.is_valid().to_numpy(zero_copy_only=False))
        sizes = np.diff(lists.offsets.to_numpy())[there]
        values = lists.flatten()
        found: list[Any] = [None] * len(lists)
        if len(there) == 0:
            return found
        if (sizes == sizes[0]).all() and sizes[0] > 0 and values.null_count == 0:
            rows = np.ascontiguousarray(values.to_numpy().reshape(-1, sizes[0]), float)
            for i, row in zip(there.tolist(), rows, strict=True):
                found[i] = row
            return found
        found = []
        for x in lists.to_pylist():
            whole = x is not None and x and None not in x
            found.append(
                np.array(x, float) if whole else None if x is None else Refusal("x must be a list of numbers.")
            )
        return found


def _check_columns(file: Path, names: list[str], needs_time: bool) -> None:
    """Refuse a table that lacks columns which its events need."""
    others = [name for name in names if name not in _COLUMNS]
    wanted = ["key"]
    if "x" not in names:
        wanted += ["x"] if "round" not in names else [] if "forget" in names else ["label"]
    elif needs_time:
        wanted.append("time")
    for name in wanted:
        if name not in names:
            raise InputError(f"{file} has no column {name}{perhaps(name, others)}.", owner="keyed")


def _holds_numbers(kind: Any) -> bool:
    import pyarrow

    return bool(pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind))


def _advice(column: list[Any], wrong: dict[int, str]) -> list[dict[str, Any] | None]:
    """The advice in each row; what is none goes to ``wrong``."""
    found: list[dict[str, Any] | None] = [None] * len(column)
    for i, given in enumerate(column):
        try:
            said = msgspec.json.decode(given) if isinstance(given, str) else given
            said = dict(said) if isinstance(said, list) else said
        except (msgspec.MsgspecError, ValueError, TypeError):
            said = given
        if said is not None and not isinstance(said, dict):
            wrong[i] = "advice must be an object with an entry for each adviser."
        elif said is not None:
            found[i] = {name: _of_struct(each) for name, each in said.items()}
    return found


def _of_struct(said: Any) -> Any:
    """What an adviser says; a struct has every label of any row, with null where it has none."""
    if not isinstance(said, dict) or "label" in said:
        return said
    return {label: share for label, share in said.items() if share is not None} or None


def _is_fraction(given: Any) -> bool:
    return isinstance(given, float) and given == given and not given.is_integer()


def _refused(column: Any, sentence: str) -> list[Any]:
    """A refusal for every row that has a value."""
    return [Refusal(sentence) if there else None for there in column.is_valid().to_pylist()]


def _plain(value: Any) -> Any:
    """Values as JSON has them: dates are texts."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return value.isoformat() if hasattr(value, "isoformat") else value


def _slice(batch: EventBatch, here: slice) -> EventBatch:
    columns: Any = (None if column is None else column[here] for column in batch)
    return EventBatch(*columns)
