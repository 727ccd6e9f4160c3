"""What a log holds, as columns: instances, answers, labels that nobody asked for, questions that are dropped.

An event is one JSON object, or one row of a table with the same columns:

====================================  ==========================================================
``{"key", "x"}``                      an instance: it is predicted, and perhaps asked about
``{"key", "round", "label"}``         the answer to the question of that round of that key
``{"key", "x", "label"}``             a label that nobody asked for, with its instance
``{"key", "round", "forget": true}``  the question will never be answered
====================================  ==========================================================

x is a list of numbers, or of a sparse instance an object of numbers by their place, ``{"3": 0.5}``. An instance may
have a ``time``, a number or a date, which a budget per period of time needs; one before the last counts as the last. An
``id`` comes back with the decision, and other names are passed over. What is none of these is refused, by one sentence
in the place of its decision, and the stream goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ..data.files import perhaps
from ..linalg.rows import SparseRow
from .sampler_spec import SamplerSpec

_NOTHING = "an event has an x, or a round with a label or forget: true."
_NO_KEY = "missing required field `key`"
LONGEST_EVENT = 1 << 24
"""Bytes of an event as text, at most: 16 MB hold an instance of some 800,000 numbers."""


class Refusal:
    """In the place of an instance: why an event cannot be taken."""

    __slots__ = ("sentence",)

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence


class Batch(NamedTuple):
    """Events that follow each other, as columns.

    With an instance and no label it is to be predicted, with a label to be learnt; without an instance, it answers the
    question of a round, or drops it where there is no label either.
    """

    keys: list[str]
    instances: list[Any]
    rounds: list[int | None]
    labels: list[Any]
    times: list[Any]
    ids: list[Any]


def nothing() -> Batch:
    """No event."""
    return Batch(*([] for _ in Batch._fields))


class Line(msgspec.Struct, gc=False):
    """An event as it is written."""

    key: str
    x: list[float] | dict[int, float] | None = None
    round: int | None = None
    label: float | str | None = None
    forget: bool = False
    time: float | datetime | None = None
    id: str | int | None = None


_LINES = msgspec.json.Decoder(Line)
_NO_LINE = Line("")
_COLUMNS: Any = attrgetter(*Line.__struct_fields__)


def of_lines(content: bytes, spec: SamplerSpec) -> Batch:
    """The events of whole lines of NDJSON, of which each is one event or one refusal."""
    texts = [text for text in content.split(b"\n") if text.strip()]
    try:  # one by one: decode_lines may take two of one line
        return _hinted(of_events(list(map(_LINES.decode, texts)), spec), texts)
    except (msgspec.MsgspecError, UnicodeDecodeError):  # some are wrong, and refused one by one
        return of_texts(texts, spec)


def of_texts(texts: Sequence[bytes | None], spec: SamplerSpec) -> Batch:
    """The events of texts of which each is one, or None."""
    lines: list[Line] = []
    wrong: dict[int, str] = {}
    for text in texts:
        try:
            lines.append(_LINES.decode(b"" if text is None else text))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            wrong[len(lines)] = f"this is no event: {error}{_near('key', text) if _NO_KEY in str(error) else ''}."
            lines.append(_NO_LINE)
    return _hinted(of_events(lines, spec, wrong), texts)


def _hinted(batch: Batch, texts: Sequence[bytes | None]) -> Batch:
    """The same events; a refusal of one that has neither x nor round names the field that may be meant."""
    for i, found in enumerate(batch.instances):
        if type(found) is Refusal and found.sentence == _NOTHING:
            near = _near("x", texts[i]) or _near("round", texts[i]) or _near("label", texts[i])
            batch.instances[i] = Refusal(f"{_NOTHING.removesuffix('.')}{near}.")
    return batch


def _near(name: str, text: bytes | None) -> str:
    """A hint at a field of an event, as text, that is named nearly so."""
    try:
        found = msgspec.json.decode(text or b"")
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ""
    others = set(found) - set(Line.__struct_fields__) if isinstance(found, dict) else set()
    return f"{near} instead of {name!r}" if (near := perhaps(name, others)) else ""


def of_events(lines: list[Line], spec: SamplerSpec, wrong: dict[int, str] | None = None) -> Batch:
    """The same events as columns."""
    columns = map(list, zip(*map(_COLUMNS, lines), strict=True)) if lines else ([] for _ in Line.__struct_fields__)
    keys, instances, rounds, labels, forgets, times, ids = columns
    given: list[Any] = _sparse(instances, spec) if spec.sparse else _dense(instances)
    return checked(Batch(keys, given, rounds, labels, times, ids), forgets, wrong or {})


def checked(batch: Batch, forgets: list[bool], wrong: dict[int, str]) -> Batch:
    """The same columns, with a refusal for what is no event, in place."""
    given = batch.instances
    for i, (x, number, label, forget) in enumerate(zip(given, batch.rounds, batch.labels, forgets, strict=True)):
        if x is None:
            if number is None or forget != (label is None):
                given[i] = Refusal(_NOTHING)
        elif forget or number is not None:
            given[i] = Refusal("an event with an x has no round and nothing to forget.")
    for i, sentence in wrong.items():
        given[i] = Refusal(sentence)
    return batch


def _dense(instances: list[Any]) -> list[Any]:
    """Rows of one matrix where all have as many numbers; None where there is none."""
    there = [x for x in instances if x is not None]
    d = len(there[0]) if there else 0
    if d and all(type(x) is list and len(x) == d for x in there):
        values = np.fromiter(chain.from_iterable(there), float, d * len(there))
        rows = iter(values.reshape(-1, d))
        return [None if x is None else next(rows) for x in instances]
    return [None if x is None else _dense_row(x) for x in instances]


def _dense_row(x: Any) -> np.ndarray | Refusal:
    return np.array(x, float) if isinstance(x, list) and x else Refusal("x must be a list of numbers here.")


def _sparse(instances: list[Any], spec: SamplerSpec) -> list[Any]:
    return [None if x is None else sparse_row(x, spec.features or 0) for x in instances]


def sparse_row(x: Any, d: int) -> SparseRow | Refusal:
    """A sparse instance from its numbers by place."""
    if not isinstance(x, dict):
        return Refusal("x must be an object of numbers by their place here.")
    places = sorted(x)
    if places and not 0 <= places[0] <= places[-1] < d:
        return Refusal(f"the places of x must be from 0 to {d - 1}.")
    values = np.fromiter((x[place] for place in places), float, len(places))
    return SparseRow(values, np.array(places, np.uint32), 0, len(places))
