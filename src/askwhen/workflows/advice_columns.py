"""Columns of a file in which others say what the labels are: ``--advice gpt=answer:confidence``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np

from ..data.files import is_piped
from ..data.formats import FORMATS, format_of
from ..data.labels import signs
from ..data.read_request import ReadRequest
from ..errors import ArgumentsError, InputError, argument
from ..sampler import Sampler
from .source import is_set


class AdviceColumn(NamedTuple):
    """An adviser, the column with its labels, and that with its confidences or None."""

    name: str
    label: str
    confidence: str | None = None


def without_columns(reading: dict[str, Any], given: Sequence[AdviceColumn]) -> dict[str, Any]:
    """Arguments of ``data.read`` for which the columns of advisers are not features."""
    if not given:
        return reading
    columns = [*(reading.get("drop") or ()), *(name for each in given for name in each[1:] if name)]
    return reading | {"drop": tuple(dict.fromkeys(columns))}


class AdviceColumns:
    """The advice in a file, which its rows are given one after the other.

    Parameters
    ----------
    file : str
        A file with named columns.
    reading : dict
        Arguments of ``data.read``.
    given : sequence of AdviceColumn
        The advisers.
    sampler : Sampler
        Whose labels they name.
    """

    def __init__(self, file: str, reading: dict[str, Any], given: Sequence[AdviceColumn], sampler: Sampler) -> None:
        format = None if is_set(file) or is_piped(file) else format_of(file, reading.get("format"))
        if format is None or format.tables is None:
            raise ArgumentsError(f"{argument('advice')} is for files with named columns, got {file}.", owner="run")
        request = ReadRequest(file, delimiter=reading.get("delimiter"), encoding=reading.get("encoding"))
        read: dict[str, list[np.ndarray]] = {name: [] for each in given for name in each[1:] if name}
        with closing(FORMATS[format.name].tables(request)) as tables:  # type: ignore[misc]
            for table in tables:
                for name, parts in read.items():  # that there are such columns was checked where the features are read
                    parts.append(np.array(table.words(name), object))
        columns = {name: np.concatenate(parts) if parts else np.zeros(0, object) for name, parts in read.items()}
        self._advice = {each.name: _said(each, columns, reading.get("positive"), file, sampler) for each in given}

    def beside(
        self, chunks: Iterator[tuple[Any, ...]], first: int, order: np.ndarray | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """The chunks with the advice of their rows, from row ``first`` on."""
        for X, y, *times in chunks:
            rows: Any = slice(first, first + len(y))
            rows = rows if order is None else order[rows]
            advice = {
                name: tuple(part[rows] for part in said) if isinstance(said, tuple) else said[rows]
                for name, said in self._advice.items()
            }
            yield X, y, times[0] if times else None, advice
            first += len(y)


def _said(each: AdviceColumn, columns: dict[str, np.ndarray], positive: Any, file: str, sampler: Sampler) -> Any:
    """The labels of an adviser as the sampler's, and its confidences."""
    said = _labels(each, columns[each.label], positive, file, sampler)
    return said if each.confidence is None else (said, _numbers(each, columns[each.confidence]))


def _labels(each: AdviceColumn, texts: np.ndarray, positive: Any, file: str, sampler: Sampler) -> np.ndarray:
    speaks = np.array([bool(text) for text in texts], bool)
    found = np.full(len(texts), None, object)
    if sampler.classes is None:
        return _numbers(each, texts)
    if sampler.engine.classes is None:
        try:
            found[speaks] = signs(texts[speaks], positive, file, 0, set()).astype(int)
        except InputError as error:
            raise InputError(f"column {each.label!r}: {error.sentence}", owner="run", column=each.label) from error
        pair = sampler.engine.pair
        if pair.written is not None:
            found[speaks] = pair.decode(found[speaks].astype(int))
        return found
    figures = any(not isinstance(label, str) for label in sampler.classes)
    found[speaks] = [int(text) for text in texts[speaks]] if figures else texts[speaks]
    return found


def _numbers(each: AdviceColumn, texts: np.ndarray) -> np.ndarray:
    """A number in each row, NaN where there is none."""
    try:
        return np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        column = each.confidence or each.label
        raise InputError(f"column {column!r} must hold numbers for {argument('advice')}.", owner="run") from None
