"""Predict the labels of a file with a saved sampler, as ``askwhen predict`` does."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError, argument
from . import notes
from .advice_columns import AdviceColumn, AdviceColumns, known_columns, without_columns
from .observer import Observer
from .outputs import check_outputs
from .predict import load, predictions
from .prediction_files import Columns, Write, opened
from .source import Source, of_file
from .stopping import Stopping


@dataclass(frozen=True)
class PredictOptions:
    """Options for predicting a file.

    Parameters
    ----------
    out : str, optional
        A .csv, .ndjson or .parquet file for the predictions; without it they go to the observer.
    rest : bool
        Whether to skip as many rows as the sampler has played.
    skip : int, optional
        Number of rows to skip.
    chosen : names
        The arguments in ``reading`` that the user chose.
    advice : sequence of AdviceColumn
        Columns of the file in which advisers say what the labels are; by default those that the sampler has had.
    """

    out: str | None = None
    rest: bool = False
    skip: int | None = None
    chosen: Collection[str] = ()
    advice: Sequence[AdviceColumn] = ()


class PredictResult(NamedTuple):
    """The number of rows that were predicted, the first of them, and how often each label was predicted."""

    rows: int
    first: int
    labels: Counter[str]


class PredictObserver(Observer[PredictResult]):
    """Receives predictions that are not written to a file."""

    @property
    def is_closed(self) -> bool:
        """Whether nothing more is wanted."""
        return False

    def predicted(self, columns: Columns) -> None:
        """Receive columns of predictions for the next rows."""


def predict_file(
    model: str, file: str, reading: dict[str, Any], options: PredictOptions, observer: PredictObserver
) -> PredictResult:
    """Predict every row of a file; an interrupt ends this after the rows that are being predicted."""
    check_outputs(file, out=options.out)
    if options.out is not None and Path(options.out).exists() and Path(options.out).samefile(model):
        raise InputError(f"{argument('out', options.out)} is the model; give it a name of its own.")
    sampler, note = load(model), notes.read(model)
    if options.advice and getattr(sampler, "advisers", None) is None:
        raise InputError(f"{argument('advice')}: {Path(model).name} has learnt without advisers.", owner="predict")
    reading = without_columns(file, reading, options.advice)
    read_as = notes.read_as(note, reading, options.chosen, file) | {"positive": None}
    if "label" not in options.chosen and read_as["label"] is not None:  # a file to predict need not have it
        read_as |= {"label": None}
    source = Source(file, read_as, "none")
    notes.expect(source, note, sampler)
    source.announce(observer.say)
    given = options.advice or known_columns(file, source.reading, note.advice, observer.say)
    said = AdviceColumns(file, source.reading, given, sampler, _pair_of(note)) if given else None
    played = sampler.round + note.offset if options.rest else 0
    first = played if options.skip is None else options.skip
    labels: Counter[str] = Counter()
    rows, stopping = 0, Stopping(observer.say)
    total = None if options.out is None else source.size()
    with stopping.listening(), _writing(options.out, observer) as write, observer.progress(source.name, total) as move:
        for chunk in source.chunks(first, move):
            with of_file(source.name, first + rows):
                here = slice(first + rows, first + rows + chunk[0].shape[0])
                found = predictions(sampler, chunk[0], note.words, None if said is None else said.of(here))
            n = len(next(iter(found.values())))
            write({"row": range(first + rows, first + rows + n), **found})
            rows += n
            move(rows=f"{rows:,} rows")
            labels.update(map(str, found.get("label", ())))
            if stopping.stopped or observer.is_closed:
                break
    if stopping.stopped:
        raise KeyboardInterrupt
    return PredictResult(rows, first, labels)


def _pair_of(note: notes.Note) -> Any:
    """What -1 and +1 were in the file that was learnt from."""
    return None if note.words is None or len(note.words) != 2 else tuple(note.words)


@contextlib.contextmanager
def _writing(path: str | None, observer: PredictObserver) -> Iterator[Write]:
    """A function that writes columns, to a file or to the observer."""
    if path is None:
        yield observer.predicted
        return
    with opened(path) as write:
        yield write
