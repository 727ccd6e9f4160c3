"""Columns of a file in which others say what the labels are: ``--advice gpt=answer:confidence``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..data.column_choices import ColumnChoices
from ..data.files import is_piped, listed, perhaps
from ..data.formats import format_of
from ..data.label_spelling import folded
from ..data.labels import is_coded, sign_of_word
from ..data.read_request import ReadRequest
from ..errors import ArgumentsError, InputError, argument, at_row
from ..sampler import Sampler
from .source import Source, is_set, of_file

_LONGEST = 60
"""A message shows so many characters of a value."""

Words = tuple[str, str] | None
"""What -1 and +1 are in a file; None where they stand for themselves, or are not known."""


class AdviceColumn(NamedTuple):
    """An adviser, the column with its labels, and that with its confidences or None."""

    name: str
    label: str
    confidence: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of this adviser."""
        return (self.label,) if self.confidence is None else (self.label, self.confidence)

    @property
    def given(self) -> str:
        """As it is written on a command line."""
        return f"{self.name}={':'.join(self.columns)}"


def without_columns(file: str, reading: dict[str, Any], given: Sequence[AdviceColumn]) -> dict[str, Any]:
    """Arguments of ``data.read`` for which the columns of advisers are not features."""
    if not given:
        return reading
    if not _has_columns(file, reading):
        raise ArgumentsError(f"{argument('advice')} is for files with named columns, got {file}.", owner="run")
    if len({each.name for each in given}) < len(given):
        raise ArgumentsError(
            f"{argument('advice')} must have a different name for each adviser, got "
            f"{listed([each.name for each in given])}.",
            owner="run",
        )
    if Path(file).is_file():
        _check_columns(file, reading, given)
    columns = [*(reading.get("drop") or ()), *(name for each in given for name in each.columns)]
    return reading | {"drop": tuple(dict.fromkeys(columns))}


def _check_columns(file: str, reading: dict[str, Any], given: Sequence[AdviceColumn]) -> None:
    """Refuse columns that the file lacks, or that hold its labels."""
    known = _names_in(file, reading)
    for each, column in [(adviser, column) for adviser in given for column in adviser.columns]:
        option = argument("advice", each.given)
        if column == reading.get("label"):
            sentence = f"column {column!r} holds the labels of {file}, and cannot be advice too, as {option} says."
            raise InputError(sentence, owner="run", column=column)
        if column not in known:
            near = perhaps(column, known)
            sentence = f"{file} has no column {column!r}{near}, which {option} names; it has {listed(known)}."
            raise InputError(sentence, owner="run", column=column)


def known_columns(
    file: str, reading: dict[str, Any], before: Sequence[Sequence[Any]], say: Callable[[str], None]
) -> list[AdviceColumn]:
    """The advisers of an earlier file whose columns this one has, too; those that it lacks are said to be silent."""
    known, found = set[str](), list[AdviceColumn]()
    if before and _has_columns(file, reading):
        known.update(_names_in(file, reading))
    for each in (AdviceColumn(*line) for line in before):
        absent = [column for column in each.columns if column not in known]
        if absent:
            say(f"There is no column {listed(absent)} here: nothing is known of what {each.name} says.")
        else:
            found.append(each)
    return found


def advice_in(file: str, source: Source, given: Sequence[AdviceColumn], sampler: Sampler) -> dict[str, Any] | None:
    """What advisers say of all rows of a source that was loaded, as ``run`` takes it; None without advisers."""
    if not given:
        return None
    columns = AdviceColumns(file, source.reading | source.found, given, sampler, source.words)
    return columns.of(slice(None) if source.order is None else source.order)


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
    words : (negative, positive), optional
        What -1 and +1 are in the file.
    """

    # Six arguments: what is read, and whose labels it names.
    def __init__(
        self, file: str, reading: dict[str, Any], given: Sequence[AdviceColumn], sampler: Sampler, words: Words = None
    ) -> None:
        texts = _texts(file, reading, given)
        label_of = _Labels(reading, sampler, words)
        with of_file(Path(file).name, 0):
            self._advice = {each.name: _said(each, texts, label_of) for each in given}

    def of(self, rows: Any) -> dict[str, Any]:
        """The advice of some rows, a slice or their numbers, as ``run`` takes it."""
        return {
            name: tuple(part[rows] for part in said) if isinstance(said, tuple) else said[rows]
            for name, said in self._advice.items()
        }

    def of_row(self, row: int) -> dict[str, Any]:
        """The advice of one row, as ``ask`` takes it."""
        return {
            name: (said[0][row], float(said[1][row]))
            if isinstance(said, tuple) and said[0][row] is not None
            else None
            if isinstance(said, tuple)
            else said[row]
            for name, said in self._advice.items()
        }


def beside(
    chunks: Iterator[tuple[Any, ...]], columns: Callable[[], AdviceColumns], first: int, order: Any = None
) -> Iterator[tuple[Any, ...]]:
    """The chunks of a source with the advice of their rows, from row ``first`` on.

    The columns are asked for after the first chunk was read, since only then it is known what its labels are.
    """
    advice: AdviceColumns | None = None
    for X, y, *times in chunks:
        advice = columns() if advice is None else advice
        rows: Any = slice(first, first + len(y))
        yield X, y, times[0] if times else None, advice.of(rows if order is None else order[rows])
        first += len(y)


def _has_columns(file: str, reading: dict[str, Any]) -> bool:
    if is_set(file) or is_piped(file):
        return False
    return format_of(file, reading.get("format")).tables is not None


def _tables(file: str, reading: dict[str, Any], columns: Sequence[str]) -> Any:
    format = format_of(file, reading.get("format"))
    assert format.tables is not None
    choices = ColumnChoices(text=tuple(columns), labelled=False, strict=False)
    return closing(
        format.tables(ReadRequest(file, choices, delimiter=reading.get("delimiter"), encoding=reading.get("encoding")))
    )


def _names_in(file: str, reading: dict[str, Any]) -> list[str]:
    """The names of the columns of a file."""
    with _tables(file, reading, ()) as tables:
        first = next(tables, None)
        return [] if first is None else list(first.known)


def _texts(file: str, reading: dict[str, Any], given: Sequence[AdviceColumn]) -> dict[str, np.ndarray]:
    """The columns of all advisers, as texts; empty where nothing is said."""
    read: dict[str, list[np.ndarray]] = {name: [] for each in given for name in each.columns}
    with _tables(file, reading, tuple(read)) as tables:
        for table in tables:
            for name, parts in read.items():
                parts.append(np.array([text or "" for text in table.words(name)], object))
    return {name: np.concatenate(parts) if parts else np.zeros(0, object) for name, parts in read.items()}


def _said(each: AdviceColumn, texts: dict[str, np.ndarray], label_of: _Labels) -> Any:
    """The labels of an adviser as the sampler's, and its confidences."""
    if label_of.are_numbers:
        return _numbers(each.label, texts[each.label])
    said = label_of.read(each.label, texts[each.label])
    if each.confidence is None:
        return said
    stated = _numbers(each.confidence, texts[each.confidence])
    odd = np.flatnonzero((stated < 0.0) | (stated > 1.0))
    if len(odd):
        raise InputError(
            f"column {each.confidence!r} has {stated[odd[0]]:g} in {at_row(int(odd[0]))}; a confidence is a number "
            "from 0 to 1.",
            owner="run",
            column=each.confidence,
        )
    return said, stated


def _numbers(column: str, texts: np.ndarray) -> np.ndarray:
    """A number in each row, NaN where there is none."""
    found = np.full(len(texts), np.nan)
    for i, text in enumerate(texts.tolist()):
        try:
            found[i] = float(text) if text else np.nan
        except ValueError:
            raise InputError(
                f"column {column!r} must hold numbers for {argument('advice')}, got {_short(text)} in {at_row(i)}.",
                owner="run",
                column=column,
            ) from None
    return found


def _short(text: str) -> str:
    """A text as a message shows it."""
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}...")


class _Labels:
    """Reads labels as a sampler has them."""

    def __init__(self, reading: dict[str, Any], sampler: Sampler, words: Words) -> None:
        self._folds, self._sampler, self._words = bool(reading.get("fold_labels")), sampler, words
        self.are_numbers = sampler.classes is None

    def read(self, column: str, texts: np.ndarray) -> np.ndarray:
        """The label that is named in each row, None where none is."""
        found = np.full(len(texts), None, object)
        for i, text in enumerate(texts.tolist()):
            if not text:
                continue
            try:
                found[i] = self._label(folded(text) if self._folds else text)
            except (KeyError, ValueError):
                labels = self._shown()
                raise InputError(
                    f"column {column!r} has {_short(text)} in {at_row(i)}, which is not one of the labels "
                    f"{listed(labels)}{perhaps(text, labels)}; an empty value says nothing.",
                    owner="run",
                    column=column,
                ) from None
        return found

    def _label(self, text: str) -> Any:
        """The label that a text stands for."""
        classes, engine, words = self._sampler.classes or [], self._sampler.engine, self._words
        if engine.most:
            return text
        if engine.classes is not None:
            return {str(label): label for label in classes}[text]
        if words is None or is_coded(words):
            return classes[sign_of_word(text) > 0]
        return classes[text == words[1]] if words[0] == f"not {words[1]}" else classes[words.index(text)]

    def _shown(self) -> list[str]:
        """The labels, as they are written."""
        two = self._sampler.engine.classes is None
        return list(self._words or ("-1", "+1")) if two else [str(label) for label in self._sampler.classes or ()]
