"""The events of a log, as columns: instances, answers, unsolicited labels, questions that are dropped.

An event is one JSON object, or one row of a table with the same columns:

====================================  ==========================================================
``{"key", "x"}``                      an instance: it is predicted, and perhaps asked about
``{"key", "round", "label"}``         the answer to the question of that round of that key
``{"key", "x", "label"}``             an unsolicited label, with its instance
``{"key", "round", "forget": true}``  the question will never be answered
====================================  ==========================================================

x is a list of numbers; for a sparse instance an object that maps indices to numbers, ``{"3": 0.5}``; where the samplers
have a schema, an object with a value for each of its columns, ``{"price": 2.5, "city": "Rome"}``. An instance may
have a ``time``, a number or a date, which a budget per period of time needs; a time before the last one counts as the
last one. Where the samplers have advisers, it may have ``advice``, by name: a label, ``[label, confidence]``, or an
object with a label and a confidence, or with the probability of each label. An ``id`` is copied to the decision, and
other fields are ignored. Anything else is refused, with a message in the place of its decision, and the stream goes on.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ..data.files import perhaps
from ..data.record_checks import check_record
from ..data.records import Records
from ..data.schema import Schema
from ..errors import InputError
from ..linalg.rows import SparseRow
from .sampler_spec import SamplerSpec

_NOTHING = "an event has an x, or a round with a label or forget: true."
_NO_KEY = "missing required field `key`"
_ROWS = 1_000
"""Instances with named values that are turned into rows at once, which bounds the memory of their vectors."""
LONGEST_EVENT = 1 << 24
"""Bytes of an event as text, at most: 16 MB hold an instance of some 800,000 numbers."""


class Refusal:
    """The reason why an event is refused, in the place of its instance."""

    __slots__ = ("sentence",)

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence


Instance = np.ndarray | SparseRow | Refusal | None
Label = float | str | None
Time = float | datetime | None
EventId = str | int | None


class EventBatch(NamedTuple):
    """Events that follow each other, as columns.

    An event with an instance and no label is predicted, one with both is learnt. An event without an instance answers
    the question of a round, or drops it if it has no label either.
    """

    keys: list[str]
    instances: list[Instance]
    rounds: list[int | None]
    labels: list[Label]
    times: list[Time]
    ids: list[EventId]
    given: list[Any] | None = None
    """Instances as they came, where they have named values; what people are shown."""
    advice: list[dict[str, Any] | None] | None = None
    """What advisers say; None where no event has any."""
    texts: Sequence[bytes | None] | None = None
    """Events as they were written, where they are texts."""


def empty_batch() -> EventBatch:
    """A batch without events."""
    return EventBatch([], [], [], [], [], [])


class EventLine(msgspec.Struct, gc=False):
    """An event as one JSON object."""

    key: str
    x: list[float] | dict[int, float] | None = None
    round: int | None = None
    label: Label = None
    forget: bool = False
    time: Time = None
    id: EventId = None
    advice: dict[str, Any] | None = None


class NamedEventLine(EventLine, gc=False):
    """An event whose instance has named values."""

    x: dict[str, Any] | None = None  # type: ignore[assignment]


class _KeyedByMessage(EventLine, gc=False):
    """An event of a message whose own key counts where the text has none."""

    key: str | None = None  # type: ignore[assignment]


class _NamedKeyedByMessage(NamedEventLine, gc=False):
    """The same, with named values."""

    key: str | None = None  # type: ignore[assignment]


_DECODERS = {kind: msgspec.json.Decoder(kind) for kind in (EventLine, NamedEventLine)}
_MESSAGES = {
    EventLine: msgspec.json.Decoder(_KeyedByMessage),
    NamedEventLine: msgspec.json.Decoder(_NamedKeyedByMessage),
}
_NO_LINE = EventLine("")


def parse_lines(lines: list[bytes], spec: SamplerSpec | None) -> EventBatch:
    """The events of lines of NDJSON; each line is one event or one refusal, unless it is empty."""
    texts: list[bytes] = list(filter(bytes.strip, lines))
    return parse_texts(texts, spec)


def parse_texts(
    texts: Sequence[bytes | None], spec: SamplerSpec | None, keys: Sequence[str | None] | None = None
) -> EventBatch:
    """The events of texts, one each; None is refused. ``keys`` are those of messages, for texts without one.

    Without a spec texts are not parsed: there are only keys, of messages that have one, and the texts.
    """
    if spec is None:
        nothing: list[Any] = [None] * len(texts)
        found = [""] * len(texts) if keys is None else [key or "" for key in keys]
        return EventBatch(found, nothing, nothing, nothing, nothing, nothing, texts=texts)
    kind = EventLine if spec.schema is None else NamedEventLine
    decoder: Any = _DECODERS[kind] if keys is None else _MESSAGES[kind]
    wrong: dict[int, str] = {}
    try:  # one by one: decode_lines accepts two objects on one line
        lines: list[EventLine] = list(map(decoder.decode, texts))
    except (msgspec.MsgspecError, UnicodeDecodeError, TypeError):  # find out which ones, and refuse only those
        lines = [_decoded(decoder, text, i, wrong) for i, text in enumerate(texts)]
    if keys is not None:
        _take_keys(lines, keys, wrong)
    return _with_hints(to_batch(lines, spec, wrong), texts)._replace(texts=texts)


def _decoded(decoder: Any, text: bytes | None, i: int, wrong: dict[int, str]) -> EventLine:
    """The event of a text; one that is refused has its reason in ``wrong``."""
    try:
        found: EventLine = decoder.decode(b"" if text is None else text)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        wrong[i] = f"this is not an event: {error}{_hint_at('key', text) if _NO_KEY in str(error) else ''}."
        return _NO_LINE
    return found


def _take_keys(lines: list[EventLine], keys: Sequence[str | None], wrong: dict[int, str]) -> None:
    """Give events without a key that of their message, in place."""
    for i, line in enumerate(lines):
        if line is _NO_LINE:
            lines[i] = EventLine(keys[i] or "")
        elif line.key is None:
            key = keys[i]
            line.key = key or ""
            if key is None:
                wrong[i] = "this is not an event: neither the object nor its message has a `key`."


def _with_hints(batch: EventBatch, texts: Sequence[bytes | None]) -> EventBatch:
    """Add a hint at a misspelt field to the refusals of events that have neither x nor round, in place."""
    for i, found in enumerate(batch.instances):
        if type(found) is Refusal and found.sentence == _NOTHING:
            near = _hint_at("x", texts[i]) or _hint_at("round", texts[i]) or _hint_at("label", texts[i])
            batch.instances[i] = Refusal(f"{_NOTHING.removesuffix('.')}{near}.")
    return batch


def _hint_at(name: str, text: bytes | None) -> str:
    """A hint at a field of an event, given as text, whose name is similar; or nothing."""
    try:
        found = msgspec.json.decode(text or b"")
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ""
    others = set(found) - set(EventLine.__struct_fields__) if isinstance(found, dict) else set()
    return f"{near} instead of {name!r}" if (near := perhaps(name, others)) else ""


def to_batch(lines: list[EventLine], spec: SamplerSpec, wrong: dict[int, str] | None = None) -> EventBatch:
    """Events as columns; ``wrong`` has the reasons of those that cannot be read, by their number."""
    keys, instances = [line.key for line in lines], [line.x for line in lines]
    rounds, labels, forgets = (
        [line.round for line in lines],
        [line.label for line in lines],
        [line.forget for line in lines],
    )
    times, ids, said = [line.time for line in lines], [line.id for line in lines], [line.advice for line in lines]
    if spec.schema is not None:
        batch = EventBatch(keys, named_rows(instances, spec.schema), rounds, labels, times, ids, instances)
    else:
        given = _sparse(instances, spec) if spec.sparse else _dense(instances)
        batch = EventBatch(keys, given, rounds, labels, times, ids)
    if any(each is not None for each in said):
        batch = batch._replace(advice=said)
    return refuse_malformed(batch, forgets, wrong or {})


def refuse_malformed(batch: EventBatch, forgets: list[bool], wrong: dict[int, str]) -> EventBatch:
    """Put a refusal in the place of each malformed event, in place."""
    given = batch.instances
    for i, (x, number, label, forget) in enumerate(zip(given, batch.rounds, batch.labels, forgets, strict=True)):
        if x is None:
            if number is None or forget != (label is None):
                given[i] = Refusal(_NOTHING)
        elif forget or number is not None:
            given[i] = Refusal("an event with an x has no round and nothing to forget.")
    for i, said in enumerate(batch.advice or ()):
        if said is not None and (given[i] is None or batch.labels[i] is not None):
            given[i] = Refusal("advice comes with an instance that is predicted.")
    for i, sentence in wrong.items():
        given[i] = Refusal(sentence)
    return batch


def _dense(instances: list[Any]) -> list[Instance]:
    """Dense instances: rows of one matrix if all have equally many numbers, which is faster."""
    there = [x for x in instances if x is not None]
    d = len(there[0]) if there else 0
    if d and all(type(x) is list and len(x) == d for x in there):
        values = np.fromiter(chain.from_iterable(there), float, d * len(there))
        rows = iter(values.reshape(-1, d))
        return [None if x is None else next(rows) for x in instances]
    return [None if x is None else _dense_row(x) for x in instances]


def _dense_row(x: Any) -> np.ndarray | Refusal:
    return np.array(x, float) if isinstance(x, list) and x else Refusal("x must be a list of numbers here.")


def _sparse(instances: list[Any], spec: SamplerSpec) -> list[Instance]:
    return [None if x is None else sparse_row(x, spec.features or 0) for x in instances]


def sparse_row(x: Any, d: int) -> SparseRow | Refusal:
    """A sparse instance from numbers by their index."""
    if not isinstance(x, dict):
        return Refusal("x must be an object of numbers by their place here.")
    places = sorted(x)
    if places and not 0 <= places[0] <= places[-1] < d:
        return Refusal(f"the places of x must be from 0 to {d - 1}.")
    values = np.fromiter((x[place] for place in places), float, len(places))
    return SparseRow(values, np.array(places, np.uint32), 0, len(places))


def named_rows(instances: Sequence[Any], schema: Schema) -> list[Instance]:
    """Instances from named values; those that do not fit the schema are refused, each with its reason."""
    found: list[Instance] = [None] * len(instances)
    sound: list[int] = []
    for i, x in enumerate(instances):
        if x is None:
            continue
        try:
            check_record(schema.columns, x, "x")
            sound.append(i)
        except InputError as error:
            found[i] = Refusal(error.sentence)
    for start in range(0, len(sound), _ROWS):
        part = sound[start : start + _ROWS]
        for i, row in zip(part, _rows(schema, [instances[i] for i in part]), strict=True):
            found[i] = row
    return found


def _rows(schema: Schema, records: list[dict[str, Any]]) -> list[Instance]:
    """Records that were checked, as rows; where one of them is refused all the same, they are made one by one."""
    try:
        X = schema.rows(Records(records, "x"), path="x")
    except InputError as error:
        if len(records) == 1:
            return [Refusal(error.sentence)]
        return [row for record in records for row in _rows(schema, [record])]
    if isinstance(X, np.ndarray):
        return list(X)
    X.sort_indices()
    places, values, ends = X.indices.astype(np.uint32), X.data, X.indptr.tolist()
    return [
        SparseRow(values[first:end].copy(), places[first:end].copy(), 0, end - first)
        for first, end in itertools.pairwise(ends)
    ]
