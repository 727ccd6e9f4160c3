"""The rows of a file as instances of a stream of the service: features in the form of the stream, an id, a label."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from ..data.column_choices import LABELS, ColumnChoices
from ..data.column_table import LIST, NUMBER
from ..data.files import check_readable, listed, perhaps
from ..data.formats import format_of
from ..data.formats.prodigy import answer_reader, bare
from ..data.read_request import ReadRequest
from ..data.reading_checks import check_reading
from ..data.schema import Schema
from ..data.schema_given import schema_from
from ..data.unlabelled import tables_of
from ..errors import InputError, argument
from ..workflows.advice_columns import AdviceColumn
from ..workflows.source import Source, is_set
from .messages import Label

_NAME = 100
_MEDIA = ("image", "audio")
_BODY = ("x", "show", "priority", "subject", "advice")
Report = Callable[[int], None]


class FileRow(NamedTuple):
    """A row, with its number counted from 0, the body that is sent, and its label in the file."""

    number: int
    sent: dict[str, Any]
    label: Label | None


class FileRows:
    """The rows of a file, one after the other.

    Parameters
    ----------
    file : str
        Anything that ``askwhen run`` reads, except Vowpal Wabbit's text, whose features lose their names.
    reading : dict
        Arguments of :func:`askwhen.data.read`: format, label, text, drop, delimiter, encoding, n_features, zero_based.
    features : dict
        The setting of the stream that describes its features.
    id : str, optional
        The column of ids, by default one called id. Without ids, a row is identified by the file name, its number and
        its content, so that the same row sent again is the same instance.
    advice : sequence of AdviceColumn
        Columns in which advisers say what the labels are.
    several, is_number : bool
        Whether several labels may apply at once, or labels are numbers.
    """

    def __init__(
        self,
        file: str,
        reading: dict[str, Any],
        features: dict[str, Any],
        id: str | None = None,
        advice: Sequence[AdviceColumn] = (),
        several: bool = False,
        is_number: bool = False,
    ) -> None:
        self._file, self._reading, self._id = file, reading, id
        self._answered = answer_reader(several, is_number)
        self._advice = advice
        self._kind, self._names, self._texts = (
            features["kind"],
            features.get("names"),
            tuple(features.get("text") or ()),
        )
        self._schema = schema_from(features["schema"]) if self._kind == "columns" else Schema()
        self._converters = {
            "numbers": self._numbers,
            "text": self._text,
            "hashed": self._hashed,
            "mixed": self._mixed,
            "columns": self._named,
        }
        self._label: str | None = reading.get("label")
        self._columns: list[str] = []
        self._holds_bodies = False
        self._format = None if is_set(file) else format_of(file, reading.get("format"))
        self._is_table = self._format is not None and self._format.tables is not None
        if self._format is not None and self._format.is_hashed:
            raise InputError(
                "Vowpal Wabbit's features have no names once they are read; a service takes the other formats.",
                owner="run",
            )
        if advice and not self._is_table:
            raise InputError(f"{argument('advice')} is for files with named columns, got {file}.", owner="run")
        if self._format is not None:
            check_reading(self._format, "refuse", reading.get("delimiter"), reading.get("encoding"))
            check_readable("read", file)
        if reading.get("text") and self._kind != "text":
            raise InputError(
                f"{argument('text')} is for a stream of texts, and this one takes {self._kind} features.", owner="run"
            )
        if len(reading.get("text") or ()) > 1:
            raise InputError(f"{argument('text')} must be one column for a service, got several.", owner="run")
        self.name = "standard input" if file == "-" else Path(file).name

    def read(self, skip: int = 0, report: Report | None = None) -> Iterator[FileRow | None]:
        """The rows after the first ``skip``; None where the next one may take a while: send those so far."""
        number = 0
        for found in self._parts(report):
            for record, label, *said in found:
                if number >= skip:
                    yield self._row(number, record, label, said[0] if said else None)
                number += 1
            yield None

    def _parts(self, report: Report | None) -> Iterator[Iterator[tuple[Any, ...]]]:
        if self._is_table:
            return self._tables(report)
        return self._matrices(report)

    def _matrices(self, report: Report | None) -> Iterator[Iterator[tuple[Any, ...]]]:
        """The rows of a data set or an svmlight file: numbers in their places."""
        if self._kind not in ("numbers", "hashed"):
            raise InputError(
                f"{self._file} holds numbers, and the stream takes {self._kind} features.", owner="run", file=self._file
            )
        given = {
            name: self._reading[name] for name in ("format", "n_features", "zero_based") if self._reading.get(name)
        }
        first = 0 if self._reading.get("zero_based") else 1
        for X, y, *_ in Source(self._file, given, "class").chunks(0, report or (lambda _: None)):
            yield ((self._places(X[i], first), y[i].item()) for i in range(X.shape[0]))

    def _places(self, x: Any, first: int) -> Any:
        if self._kind == "numbers":
            return (x.toarray() if hasattr(x, "toarray") else x).reshape(-1).tolist()
        if hasattr(x, "indices"):
            return {str(first + j): value for j, value in zip(x.indices.tolist(), x.data.tolist(), strict=True)}
        return {str(first + j): value for j, value in enumerate(x.tolist()) if value}

    def _tables(self, report: Report | None) -> Iterator[Iterator[tuple[Any, ...]]]:
        """The rows of a table, as values by name."""
        path, reading = self._file, self._reading
        assert self._format is not None
        if self._format.tasks is not None:
            for lines in self._format.tasks(ReadRequest(path, encoding=reading.get("encoding"), report=report)):
                self._choose_columns(list(bare(lines.records[0])), None)
                yield (({"id": task.get("_task_hash")} | bare(task), self._answered(task)) for task in lines.records)
            return
        texts = self._texts or tuple(reading.get("text") or ("text",)) if self._kind in ("text", "mixed") else ()
        if self._kind == "columns":
            numbers = self._schema.read_as_numbers
            texts = tuple(name for name in self._schema.needed if name not in numbers)
        others = (self._id or "id", *([self._label] if self._label else LABELS))
        columns = ColumnChoices(
            drop=tuple(reading.get("drop") or ()),
            labelled=False,
            strict=False,
            written=(*texts, *self._advised, *(name for name in others if name not in (self._names or ()))),
        )
        how = (reading.get("delimiter"), reading.get("encoding"), report)
        with closing(tables_of(path, self._format, columns, *how)) as tables:
            for table in tables:
                records = table.records()
                if self._format.has_pairs and isinstance(records[0].get("x"), (dict, list, str)):
                    self._holds_bodies = True
                    yield ((record, record.get(self._label or "y"), self._said_in(record)) for record in records)
                else:
                    self._choose_columns(table.names, table)
                    yield (
                        (self._features_of(record), record.get(self._label or ""), self._said_in(record))
                        for record in records
                    )

    @property
    def _advised(self) -> list[str]:
        """The columns of advisers."""
        return [name for each in self._advice for name in each[1:] if name]

    def _said_in(self, record: dict[str, Any]) -> dict[str, Any] | None:
        """What advisers say of a row."""
        found: dict[str, Any] = {}
        for each in self._advice:
            label = record.get(each.label)
            if label is None or label == "":
                continue
            sure = None if each.confidence is None else record.get(each.confidence)
            found[each.name] = {"label": _text_of(label), "confidence": None if sure == "" else _sure(sure)}
        return found or None

    def _features_of(self, record: dict[str, Any]) -> dict[str, Any]:
        drop = (*(self._reading.get("drop") or ()), self._label, *self._advised)
        return {name: value for name, value in record.items() if name not in drop}

    def _choose_columns(self, names: Sequence[str], table: Any) -> None:
        """Decide by the first rows which columns are features, and refuse a file that does not fit the stream."""
        if self._columns:
            return
        taken = {*(self._names or ()), *self._texts, *self._schema.needed}
        if self._label is None and (self._format is None or self._format.tasks is None):
            self._label = next((name for name in LABELS if name in names and name not in taken), None)
        drop = {*(self._reading.get("drop") or ()), self._label, self._id or "id", *self._advised}
        if self._kind == "text":
            wanted = [*(self._reading.get("text") or ("text",))]
        else:
            wanted = [*(self._schema.needed or (*(self._names or ()), *self._texts))]
        named = [name for name in (self._id, self._reading.get("label"), *self._advised) if name]
        for name in (*wanted, *named):
            if name not in names:
                hint = f"; name the column of its {argument('text')}" if self._kind == "text" and name == "text" else ""
                what = ", a feature of the stream" if name in taken else ""
                raise InputError(
                    f"{self._file} has no column {name!r}{perhaps(name, names)}{what}{hint}; it has "
                    f"{listed(list(names))}.",
                    owner="run",
                )
        if self._kind == "numbers" and self._names is None and table is not None:
            wanted = [name for name in names if name not in drop]
            for name in wanted:
                if table.kind(name) not in (NUMBER, LIST):
                    raise InputError(
                        f"column {name!r} of {self._file} holds {table.kind(name)}, not numbers; name it in "
                        f"{argument('drop')}.",
                        owner="run",
                    )
        self._columns = wanted or list(names)

    def _row(self, number: int, record: Any, label: Any, advice: dict[str, Any] | None) -> FileRow:
        sent: dict[str, Any] = {}
        if self._holds_bodies:
            sent = {name: record[name] for name in _BODY if record.get(name) is not None}
            given = record.get(self._id or "id")
        elif self._is_table:
            given = record.get(self._id or "id")
            needed = self._schema.needed
            rest = {name: value for name, value in record.items() if name != (self._id or "id") or name in needed}
            sent = {"x": self._converters[self._kind](rest)}
            media = {name: rest[name] for name in _MEDIA if isinstance(rest.get(name), str)}
            if media:
                sent["show"] = media | ({"text": rest["text"]} if isinstance(rest.get("text"), str) else {})
        else:
            given, sent = None, {"x": record}
        if given is None or given == "":
            content = hashlib.sha256(json.dumps(sent, sort_keys=True, default=str).encode()).hexdigest()[:16]
            given = f"{self.name[:_NAME]}:{number}:{content}"
        if advice is not None:
            sent["advice"] = advice
        own = record.get("source") if self._holds_bodies else None
        sent["source"] = own if isinstance(own, str) and own else self.name[-_NAME:]  # for withdrawing all of them
        has_one = label is not None and label != ""
        return FileRow(number, sent | {"id": _text_of(given)}, _label_of(label) if has_one else None)

    # A record as the features of the stream; the service refuses what does not fit, row by row.

    def _numbers(self, record: dict[str, Any]) -> Any:
        if self._names is not None:
            return [_number(record.get(name)) for name in self._names]
        flat: list[Any] = []
        for name in self._columns:
            value = record.get(name)
            flat += [_number(each) for each in value] if isinstance(value, list) else [_number(value)]
        return flat

    def _text(self, record: dict[str, Any]) -> Any:
        value = record.get(self._columns[0])
        return None if value is None else _text_of(value)

    def _hashed(self, record: dict[str, Any]) -> Any:
        found = {name: _scalar(value) for name, value in record.items()}
        return {name: value for name, value in found.items() if value is not None}

    def _mixed(self, record: dict[str, Any]) -> Any:
        texts = {name: _text_of(record.get(name, "")) for name in self._texts}
        return texts | {name: _number(record.get(name)) for name in self._names or ()}

    def _named(self, record: dict[str, Any]) -> Any:
        return {name: _json_value(value) for name, value in record.items()}


def _text_of(value: Any) -> str:
    """A value as text; a whole number has no decimal point."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _label_of(value: Any) -> Label:
    return [_text_of(each) for each in value] if isinstance(value, list) else _text_of(value)


def _sure(value: Any) -> Any:
    """A confidence as a number; the service refuses another text, row by row."""
    try:
        return _number(float(value)) if isinstance(value, str) else _number(value)
    except ValueError:
        return value


def _number(value: Any) -> Any:
    """A number; None for NaN, which is a missing value."""
    if isinstance(value, bool):
        return int(value)
    return None if isinstance(value, float) and math.isnan(value) else value


def _json_value(value: Any) -> Any:
    """A value as JSON has it: null for NaN, and dates as texts."""
    if isinstance(value, list):
        return [_json_value(each) for each in value]
    if isinstance(value, (str, bool, int)) or value is None:
        return value
    return _number(value) if isinstance(value, float) else str(value)


def _scalar(value: Any) -> Any:
    """A number, a text or a boolean; None for lists and objects, which are left out."""
    if isinstance(value, (bool, str)) or value is None:
        return value
    if isinstance(value, (int, float)):
        return _number(value)
    return None if isinstance(value, (list, dict)) else str(value)
