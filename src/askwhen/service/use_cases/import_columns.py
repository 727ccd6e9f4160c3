"""What the columns of a file are taken for, before anything is sent: by the rules by which the library reads files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from ...data.column_choices import LABELS, ColumnChoices
from ...data.column_decisions import is_called_id
from ...data.csv_dialect import delimiter_of, first_rows, has_names
from ...data.inference import found_columns
from ...data.records import Records
from ...data.schema_columns import Column
from ...errors import InputError
from ..domain.features import schema_of_features
from ..domain.stream import ServiceStream
from ..events.settings import Features
from .import_advice import advice_uses

MOST_ROWS, MOST_COLUMNS = 500, 2_000
FEW_VALUES = 5
_USUAL = (*LABELS, "labels", "category")
_MEDIA = {
    "image": re.compile(r"\S+\.(png|jpe?g|gif|webp|svg|bmp|avif)(\?\S*)?", re.IGNORECASE),
    "audio": re.compile(r"\S+\.(mp3|wav|ogg|oga|m4a|flac|opus)(\?\S*)?", re.IGNORECASE),
}
_TRUTH = ({"yes", "no"}, {"true", "false"})

Use = Literal["feature", "id", "label", "image", "audio", "advice", "confidence", "ignored"]
"""What a column is used for; the feature of a stream of texts is the one column with the texts."""


class Looked(msgspec.Struct, forbid_unknown_fields=True):
    """The first rows of a file."""

    records: list[dict[str, Any]]


class ImportColumn(msgspec.Struct):
    """A column of a file: what it holds, why the library takes it for that, and what it would be used for.

    ``holds`` is number, truth (yes and no), category, text, date, vector or dropped. ``labels_only`` says that it has
    labels and nothing else, so that it cannot be the text. Advice and confidence are those of an ``adviser``.
    """

    name: str
    holds: str
    why: str
    use: Use
    values: list[str]
    labels_only: bool
    adviser: str | None = None


class ImportColumns(msgspec.Struct):
    """All columns of a file, and those that the stream needs and the file lacks."""

    columns: list[ImportColumn]
    missing: list[str]


class Dialect(msgspec.Struct):
    """How a file of text is written: its encoding, what is between its values, whether its first line has names."""

    encoding: str
    delimiter: str
    names: bool


def dialect_of(start: bytes, suffix: str) -> Dialect:
    """The dialect of a file by its first bytes; ``suffix`` is the end of its name, such as tsv."""
    encoding = "utf-8"
    for mark, name in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be")):
        if start.startswith(mark):
            encoding, start = name, start[len(mark) :]
            break
    else:
        encoding = _unmarked(start)
    text = start.decode({"windows-1252": "latin-1"}.get(encoding, encoding), "replace").encode()
    usual = "\t" if suffix.lower() == "tsv" else ","
    delimiter = delimiter_of(text, usual)
    return Dialect(encoding, delimiter, has_names(first_rows(text, delimiter)))


def _unmarked(start: bytes) -> str:
    """The encoding of a text without a mark: UTF-8 where it is valid, and UTF-16 where every other byte is zero."""
    for first, name in ((1, "utf-16le"), (0, "utf-16be")):
        zeros = start[first::2].count(0)
        if len(start) >= 4 and zeros > 0.4 * len(start[first::2]) and not start[1 - first :: 2].count(0):
            return name
    try:
        start[: len(start) - _cut(start)].decode()
    except UnicodeDecodeError:
        return "windows-1252"
    return "utf-8"


def _cut(start: bytes) -> int:
    """Number of bytes at the end that may be a character cut in two."""
    for i in range(1, min(4, len(start)) + 1):
        if start[-i] >= 0xC0:
            return i
        if start[-i] < 0x80:
            return 0
    return 0


def _has_companion(name: str, names: Sequence[str]) -> bool:
    """Whether another column is named after this one, as ``gpt4o_confidence`` is: a model said it, and no person."""
    return any(other != name and other.startswith(name) for other in names)


def columns_of(stream: ServiceStream, records: Sequence[dict[str, Any]]) -> ImportColumns:
    """What the columns of a file are taken for, by its first rows."""
    if not 0 < len(records) <= MOST_ROWS:
        raise InputError.about("import", "records", f"between 1 and {MOST_ROWS:,} objects", len(records))
    table = Records(list(records), "the file")
    if len(table.names) > MOST_COLUMNS:
        raise InputError.about("import", "columns", f"at most {MOST_COLUMNS:,}", len(table.names))
    choices = ColumnChoices(labelled=False, hides_labels=False, strict=False)
    found = {name: column for column in found_columns(table, choices) for name in column.needed or (column.name,)}
    features, texts = stream.settings.features, {name: _texts(records, name) for name in table.names}
    needed = _needed(features)
    free = [name for name in table.names if name not in needed]
    uses: dict[str, Use] = {name: media for name in free for media in _media(name, texts[name])}
    id = next((name for name in free if name.lower() == "id"), None)
    id = id or next((name for name in free if is_called_id(name) and _all_differ(records, name)), None)
    label = next((name for name in free if name.lower() in _USUAL and name not in uses), None)
    known = set() if isinstance(stream.settings.labels, str) else _folded(stream.questions.labels)
    holding = [name for name in free if texts[name] and _folded(texts[name]) <= known and name not in (id, *uses)]
    if len(holding) == 1 and stream.settings.advisers is None and not _has_companion(holding[0], free):
        label = label or holding[0]
    uses |= {} if id is None else {id: "id"}
    uses |= {} if label is None else {label: "label"}
    said = advice_uses(stream, [name for name in free if name not in (id, label)])
    uses |= {name: each.use for name, each in said.items()}
    labels = [known]
    labels += [] if label is None else [_folded(texts[label])]
    only = {name for name in table.names if texts[name] and any(_folded(texts[name]) <= each for each in labels)}
    others = [name for name in table.names if name not in uses]
    used = needed or _features(features.kind, others, found, texts, only)
    columns = [
        ImportColumn(
            name,
            "truth" if _are_truth(texts[name]) else found[name].role if name in found else "dropped",
            found[name].why if name in found else "",
            "feature" if name in used else uses.get(name, "ignored"),
            list(dict.fromkeys(text[:60] for text in texts[name]))[:FEW_VALUES],
            name in only,
            said[name].adviser if name in said else None,
        )
        for name in table.names
    ]
    return ImportColumns(columns, [name for name in needed if name not in table.names])


def _needed(features: Features) -> list[str]:
    """The columns that a stream names."""
    schema = schema_of_features(features)
    return list(schema.needed) if schema is not None else [*features.text, *(features.names or [])]


def _features(
    kind: str, others: list[str], found: dict[str, Column], texts: dict[str, list[str]], only: set[str]
) -> list[str]:
    """The columns that instances are made of, where the stream does not name them."""
    if kind == "hashed":
        return others
    if kind == "numbers":
        return [name for name in others if name in found and found[name].role == "number"]
    if "text" in others:
        return ["text"]
    words = [name for name in others if name not in only and texts[name] and not _is_measured(found.get(name))]
    lengths = {name: sum(map(len, texts[name])) / len(texts[name]) for name in words}
    return [max(words, key=lambda name: (_holds(found, name) == "text", lengths[name]))] if words else []


def _holds(found: dict[str, Column], name: str) -> str:
    return found[name].role if name in found else ""


def _is_measured(column: Column | None) -> bool:
    return column is not None and column.role in ("number", "date", "vector")


def _media(name: str, texts: list[str]) -> list[Use]:
    """Whether a column has addresses of images or sounds."""
    found: list[Use] = []
    for media, pattern in _MEDIA.items():
        use: Use = "image" if media == "image" else "audio"
        if name == media or (texts and all(map(pattern.fullmatch, texts))):
            found.append(use)
    return found[:1]


def _are_truth(texts: Sequence[str]) -> bool:
    """Whether a column has words for yes and no."""
    found = _folded(texts)
    return any(found <= pair and found for pair in _TRUTH)


def _all_differ(records: Sequence[dict[str, Any]], name: str) -> bool:
    """Whether every record has a value, each of them another one."""
    return len(set(_texts(records, name))) == len(records)


def _texts(records: Sequence[dict[str, Any]], name: str) -> list[str]:
    """The values of a column that are there, as texts."""
    return [str(value) for record in records if (value := record.get(name)) is not None and str(value).strip()]


def _folded(texts: Sequence[str]) -> set[str]:
    return {text.strip().casefold() for text in texts}
