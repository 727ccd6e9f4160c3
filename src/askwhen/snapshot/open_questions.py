"""The open questions of an engine in a snapshot: written to and read from a few arrays.

A service can have a hundred thousand open questions, so their instances are concatenated in one array and checked
together. In layouts 1 to 4 every instance was a separate array.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..betting import EARLIER, LEVELS
from ..contracts.learner import LARGEST_COUNT
from ..engine.engine import Engine
from ..engine.inputs.instance_checks import is_instance
from ..engine.round.each_class import EachState
from ..engine.round.rounds import Marks, packed_marks, read_marks
from ..errors import SnapshotError
from ..linalg.rows import Row, SparseRow, values_of
from ..trace.trace import Ask, Origin
from .header import count, flag

_STACKED = 5
"""The first layout with the instances in one array."""

_RowsAndSigns = tuple[Iterable[Row], Iterable[np.ndarray]]

_WRONG = "the snapshot's open questions contradict its arrays."


def lines(engine: Engine) -> list[list[Any]]:
    """The header lines of the open questions: the fields of the Ask, and its marks."""
    return [[*ask, *read_marks(marks)] for ask, _, marks in engine.pending.values()]


def stacked(engine: Engine) -> dict[str, np.ndarray]:
    """The instances of the open questions, in concatenated arrays; empty without open questions."""
    rows: list[Any] = [x for _, x, _ in engine.pending.values()]
    if not rows:
        return {}
    found = {"pending.values": np.concatenate([values_of(x) for x in rows])}
    if engine.sees_sparse:
        found["pending.indices"] = np.concatenate([x.indices[x.start : x.stop] for x in rows])
        found["pending.lengths"] = np.array([x.stop - x.start for x in rows], np.uint32)
    if isinstance(engine.learner, EachState):
        signs = [engine.signs[number] for number in engine.pending]
        found["pending.signs"] = np.concatenate(signs)
        found["pending.classes"] = np.array([len(each) for each in signs], np.uint32)
    return found


def reopen(engine: Engine, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Restore the open questions of a snapshot."""
    given = header["pending"]
    if not given:
        return
    origin = Origin(engine.seed, loaded=True)
    read = _separate_arrays if header.get("layout", 1) < _STACKED else _stacked_arrays
    rows, signs = read(engine, given, arrays)
    if _are_plain(engine, given):
        for line, x in zip(given, rows, strict=True):
            ask = Ask(*line[:7])
            ask.origin = origin
            engine.pending[ask.round] = (ask, x, packed_marks(Marks(*line[7:])))
    else:
        for line, x in zip(given, rows, strict=True):
            _reopen(engine, line, x, origin)
    if isinstance(engine.learner, EachState):
        for number, sign in zip(engine.pending, signs, strict=True):
            if sign.dtype != np.bool_ or not 0 < len(sign) <= len(engine.learner.signs) or sign.ndim != 1:
                raise SnapshotError(_WRONG, owner="load")
            engine.signs[number] = sign.copy()


def _are_plain(engine: Engine, given: list[Any]) -> bool:
    """Whether these lines are surely what this version writes of two labels or of classes.

    Whole columns are looked at, in a fraction of the time of ``_reopen``, which reads all others or says what is wrong.
    """
    multi = engine.answers is not None and engine.answers.multi
    if multi or engine.regression or any(type(line) is not list or len(line) != 11 for line in given):
        return False
    rounds, predictions, margins, uncertain, chances, queries, certainties, by_rule, periods, switched, levels = zip(
        *given, strict=True
    )
    counts, flags = (rounds, periods, levels), (queries, by_rule, switched)
    numbers = (margins, uncertain) if engine.has_uncertainty else (margins,)
    return (
        all({*map(type, column)} == {int} and 0 <= min(column) <= max(column) <= LARGEST_COUNT for column in counts)
        and all({*map(type, column)} == {bool} for column in flags)
        and all({*map(type, column)} == {float} and all(map(math.isfinite, column)) for column in numbers)
        and all({*map(type, column)} == {float} for column in (chances, certainties))
        and all(0.0 <= share <= 1.0 for column in (chances, certainties) for share in column)
        and (engine.has_uncertainty or {*uncertain} == {None})
        and all(queries)
        and len({*rounds}) == len(rounds)
        and max(rounds) < engine.round
        and max(levels) < LEVELS
        and not engine.pending
        and all(type(each) in (str, int, float, bool, type(None)) for each in predictions)
        and all(map(engine.may_predict, {(type(each), each): each for each in predictions}.values()))
    )


def _separate_arrays(engine: Engine, given: list[Any], arrays: dict[str, np.ndarray]) -> _RowsAndSigns:
    numbers = [count(line[0]) for line in given]
    rows: list[Row] = [arrays[f"pending.{number}"] for number in numbers]
    if engine.sees_sparse:
        rows = [
            SparseRow(x, arrays[f"pending.{number}.indices"], 0, len(x))
            for number, x in zip(numbers, rows, strict=True)
        ]
    for number, x in zip(numbers, rows, strict=True):
        if not is_instance(x, engine.dimension):
            raise SnapshotError(f"the open question of round {number} cannot be used.", owner="load")
    return rows, (arrays[f"signs.{number}"] for number in numbers)


def _stacked_arrays(engine: Engine, given: list[Any], arrays: dict[str, np.ndarray]) -> _RowsAndSigns:
    values, n = arrays["pending.values"], len(given)
    if values.dtype != np.float64 or values.ndim != 1 or not np.isfinite(values).all():
        raise SnapshotError(_WRONG, owner="load")
    rows: Iterable[Row]
    if engine.sees_sparse:
        indices, ends = arrays["pending.indices"], _ends(arrays["pending.lengths"], n, len(values))
        _check_indices(indices, ends, len(values), engine.dimension)
        begins = [0, *ends[:-1]]
        rows = (SparseRow(values[a:b].copy(), indices[a:b].copy(), 0, b - a) for a, b in zip(begins, ends, strict=True))
    elif len(values) != n * engine.dimension:
        raise SnapshotError(_WRONG, owner="load")
    else:
        rows = (x.copy() for x in values.reshape(n, engine.dimension))
    signs: Iterable[np.ndarray] = ()
    if isinstance(engine.learner, EachState):
        all_signs = arrays["pending.signs"]
        signs = np.split(all_signs, _ends(arrays["pending.classes"], n, len(all_signs))[:-1])
    return rows, signs


def _ends(lengths: np.ndarray, n: int, total: int) -> list[int]:
    """The end offsets of n parts of these lengths, which must add up to the total."""
    if lengths.dtype != np.uint32 or lengths.shape != (n,) or int(lengths.sum(dtype=np.uint64)) != total:
        raise SnapshotError(_WRONG, owner="load")
    return [int(end) for end in np.cumsum(lengths, dtype=np.int64)]


def _check_indices(indices: np.ndarray, ends: list[int], total: int, d: int) -> None:
    """Refuse rows whose indices do not increase, or are not below d."""
    if indices.dtype != np.uint32 or indices.shape != (total,):
        raise SnapshotError(_WRONG, owner="load")
    if total == 0:
        return
    rises = np.diff(indices.astype(np.int64)) > 0
    first = np.array([end for end in ends if 0 < end < total], np.int64)  # between two rows the index may fall
    rises[first - 1] = True
    if not rises.all() or int(indices.max()) >= d:
        raise SnapshotError(_WRONG, owner="load")


def _reopen(engine: Engine, line: list[Any], x: Row, origin: Origin) -> None:
    """Restore one open question."""
    *asked, by_rule, period, switched, level = line if len(line) == 11 else [*line[:6], None, *line[6:], EARLIER]
    ask = read_ask(asked, origin)
    number = count(ask.round, engine.round - 1)
    if engine.answers is not None and engine.answers.multi:
        ask = ask._replace(prediction=engine.answers.decode(engine.answers.number(ask.prediction)))
        known = True
    else:
        known = engine.may_predict(ask.prediction)
    if engine.regression:
        known = ask.prediction == ask.margin
    has_both = (ask.uncertainty is not None) == engine.has_uncertainty
    if not (known and has_both and number not in engine.pending):
        raise SnapshotError(f"the open question of round {number} cannot be used.", owner="load")
    level = level if level == EARLIER else count(level, LEVELS - 1)
    engine.pending[number] = (ask, x, packed_marks(Marks(flag(by_rule), count(period), flag(switched), level)))


def read_ask(line: list[Any], origin: Origin | None = None) -> Ask:
    """The Ask of a header line, validated; lines of older files have no certainty."""
    number, prediction, margin, uncertainty, chance, query, certainty = line if len(line) == 7 else [*line, None]
    if not (_is_number(margin) and _is_share(chance)):
        raise SnapshotError(f"the open question of round {number!r} cannot be used.", owner="load")
    if not (uncertainty is None or _is_number(uncertainty)) or not (certainty is None or _is_share(certainty)):
        raise SnapshotError(f"the open question of round {number!r} cannot be used.", owner="load")
    if query is not True:
        raise SnapshotError(f"round {number!r} has an open question that was never asked.", owner="load")
    ask = Ask(count(number), prediction, margin, uncertainty, chance, query, certainty)
    ask.origin = origin
    return ask


def _is_number(value: Any) -> bool:
    return type(value) is float and math.isfinite(value)


def _is_share(value: Any) -> bool:
    return type(value) is float and 0.0 <= value <= 1.0
