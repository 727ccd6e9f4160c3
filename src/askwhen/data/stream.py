"""Files as streams: chunks of instances and labels, read in constant memory, in any supported format."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import encoders
from ..contracts.kinds import Kinds, MixedRows
from ..errors import InputError, argument
from ..validation import check_choice, check_count
from .column_choices import ColumnChoices
from .files import Report, check_readable, is_piped, listed, perhaps
from .formats import FORMATS, format_of
from .instances import Instances
from .label_spelling import Spellings, fold, folded
from .labels import MANY, check_positive_label, pair_of, signs, signs_of_pair, whole, words_of
from .read_request import ReadRequest
from .reading_checks import check_no_encoder, check_reading, checked_choices, several_names
from .schema import Schema
from .whole_file import of_whole_file


@dataclasses.dataclass(eq=False)
class Stream:
    """A file as chunks ``(X, y)``, or ``(X, y, times)`` with a time column. Every ``for`` reads it from the beginning.

    Made by :func:`read`. ``load()`` reads all of it at once. With ``target="none"`` y is None.

    Attributes
    ----------
    schema : Schema or None
        What each column of a table is taken for; the first rows of the file are read to find out. None for svmlight, VW
        and pairs ``{"x": ..., "y": ...}``, and before anything was read of a pipe.
    kinds : Kinds or None
        How many features of each kind an instance has: those of the schema.
    names : tuple of str or None
        The names of the features of a table that are numbers, the first ``len(names)`` columns of X, once the first
        chunk has been read. None where there is no schema.
    words : (str, str) or None
        The labels in the file that became -1 and +1, as far as it was read; None if they are -1 and +1 there too.
    pair : (str, str) or None
        The same where the labels are two texts, and which is positive was decided by their order.
    """

    path: str
    format: str
    columns: ColumnChoices
    target: str
    positive: Any
    zero_based: bool
    several: bool
    rows: int
    skip: int
    progress: bool | Report
    n_features: int | None
    n_labels: int | None
    delimiter: str | None = None
    encoding: str | None = None
    _schema: Schema | None = None
    fold_labels: bool = False
    names: tuple[str, ...] | None = dataclasses.field(default=None, init=False)
    words: tuple[str, str] | None = dataclasses.field(default=None, init=False)
    pair: tuple[str, str] | None = dataclasses.field(default=None, init=False)
    _told: Collection[str] = dataclasses.field(default=(), init=False)

    @property
    def schema(self) -> Schema | None:
        """What each column of a table is taken for."""
        if self._schema is None and FORMATS[self.format].tables is not None and not is_piped(self.path):
            request = self._request(None)._replace(settles_only=True)
            with closing(FORMATS[self.format].chunks(request)) as chunks:
                next(chunks, None)
            self._found(request)
        return self._schema

    @property
    def kinds(self) -> Kinds | None:
        """How many features of each kind an instance has."""
        return None if self.schema is None else self.schema.kinds

    def _found(self, request: ReadRequest) -> None:
        """Remember what reading has found about columns."""
        if request.instances is not None:
            self._schema, self.names = request.instances.schema, request.instances.names

    def __iter__(self) -> Generator[tuple[Any, ...]]:
        scan = FORMATS[self.format].scan
        if scan is not None and (self.n_features is None or (self._tagged and self.n_labels is None)):
            self._scan(scan)
        if callable(self.progress):
            return self._chunks(self.progress)
        return self._with_progress() if self.progress else self._chunks(None)

    @property
    def _tagged(self) -> bool:
        """Whether labels become a matrix."""
        return self.several and self.target != "none"

    def _request(self, report: Report | None) -> ReadRequest:
        facts = (self.columns, self.zero_based, self.several, self.rows, self.n_features, self.n_labels)
        has_tables = FORMATS[self.format].tables is not None
        how = (self.delimiter, self.encoding, report, self.target == "class")
        request = ReadRequest(self.path, *facts, *how)
        if not has_tables:
            return request

        def completed(schema: Schema) -> Schema:
            if not is_piped(self.path):  # which is read only once
                schema = of_whole_file(schema, FORMATS[self.format], request._replace(report=None))
                self._told = schema.told
            return schema

        return request._replace(instances=Instances(self.columns, self.path, self._schema, self._told, completed))

    def _chunks(self, report: Report | None) -> Generator[tuple[Any, ...]]:
        before, found_positive, seen, spellings = 0, self.positive is None, set[str](), Spellings()
        held: tuple[Any, ...] | None = None
        request = self._request(report)
        with closing(FORMATS[self.format].chunks(request)) as chunks:
            for X, y, times, _ in chunks:
                self._found(request)
                if y is not None and not self._tagged:
                    y = self._spelt(np.asarray(y), spellings)
                if self.target == "binary" and not self._tagged:
                    y = self._signs(y, before, seen)
                    found_positive = found_positive or bool((y > 0).any())
                elif self.target == "number" and not self._tagged:
                    y = _numbers(y, self.path)
                elif self.target == "class" and not self._tagged:
                    y = whole(y)
                skipped = min(max(self.skip - before, 0), X.shape[0])
                before += X.shape[0]
                found: tuple[Any, ...] = (X, y) if times is None else (X, y, times)
                if held is not None:
                    yield held
                    held = None
                if skipped < X.shape[0]:
                    found = tuple(array if array is None else array[skipped:] for array in found) if skipped else found
                    if not found_positive and before == X.shape[0] and not is_piped(self.path):
                        held = found  # if it is the whole file, it is refused before anything of it is yielded
                    else:
                        yield found
        if before and not found_positive:
            raise self._without_positive(f"no instance of {self.path}", seen)
        if held is not None:
            yield held

    def _spelt(self, y: np.ndarray, spellings: Spellings) -> np.ndarray:
        """Labels of which those that are alike are one, if that was asked for, and are warned of otherwise."""
        if self.fold_labels:
            return fold(y)
        if y.dtype.kind in "OUS" and self.target == "binary":  # a sampler warns of several classes
            cure = "fold_labels=True (--fold-labels) takes them for one"
            spellings.warn(self.path, dict.fromkeys(y.tolist()), cure)
        return y

    def _signs(self, y: np.ndarray, before: int, seen: set[str]) -> np.ndarray:
        """The labels of a chunk as -1 and +1."""
        if self.positive is None and not before:
            self.pair = pair_of(y, self.path)
        if self.pair is not None:
            self.words = self.pair
            return signs_of_pair(y, self.pair, self.path, before)
        found = signs(y, self.positive, self.path, before, seen)
        self.words = words_of(seen, self.positive)
        return found

    def _without_positive(self, what: str, seen: Collection[str] = ()) -> InputError:
        """The error for instances of which none has the positive label."""
        has = f"; its labels are {listed(sorted(seen))}" if 0 < len(seen) < MANY else ""
        near = perhaps(self.positive, seen)
        return InputError(
            f"{what} has the label {self.positive!r} that is {argument('positive')}{near}{has}.", owner="read"
        )

    def _with_progress(self) -> Generator[tuple[Any, ...]]:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        piped = is_piped(self.path)
        looks = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        with Progress(*looks, console=Console(stderr=True)) as bar:
            task = bar.add_task(Path(self.path).name, total=None if piped else Path(self.path).stat().st_size)
            yield from self._chunks(lambda done: bar.update(task, completed=done))

    def load(self, rows: int | None = None) -> tuple[Any, ...]:
        """All of it, or so many of the first instances: instances, labels, and times where there are any."""
        found: list[tuple[Any, ...]] = []
        known, self.n_features = self.n_features, self.n_features or -1
        try:
            with closing(iter(self)) as chunks:
                for chunk in chunks:
                    found.append(chunk)
                    if rows is not None and sum(chunk[0].shape[0] for chunk in found) >= rows:
                        break
        finally:
            self.n_features = known
        if not found:
            raise InputError(f"{self.path} holds no instance.", owner="read")
        Xs, *others = zip(*found, strict=True)
        if sp.issparse(Xs[0]):
            d = max(X.shape[1] for X in Xs)
            for X in Xs:
                X.resize(X.shape[0], d)
            X = _of_kinds(sp.vstack(Xs, "csr"), self._schema)[:rows]
        else:
            X = (np.concatenate(Xs) if len(Xs) > 1 else Xs[0])[:rows]
        y, *times = (None if other[0] is None else _joined(other)[:rows] for other in others)
        if self.positive is not None and y is not None and not (y > 0).any():
            raise self._without_positive(f"none of the first {len(y):,} instances of {self.path}")
        return (X, y, *times)

    def _scan(self, scan: Callable[[ReadRequest], tuple[int, int]]) -> None:
        """Find the largest feature, and the largest of several labels, where they are not given."""
        if is_piped(self.path):
            what = "the standard input" if self.path == "-" else self.path
            raise InputError(f"give {argument('n_features')}, since {what} can be read only once.", owner="read")
        d, labels = scan(self._request(None))
        self.n_features = self.n_features or max(d, 1)
        self.n_labels = self.n_labels or labels


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    label: str | None = None,
    text: str | Sequence[str] | None = None,
    categories: str | Sequence[str] = (),
    numbers: str | Sequence[str] = (),
    vector: str | Sequence[str] = (),
    time: str | None = None,
    time_format: str | None = None,
    drop: str | Sequence[str] = (),
    decimal: str | None = None,
    encoder: Any = None,
    schema: Schema | None = None,
    names: Sequence[str] | None = None,
    missing: str = "auto",
    delimiter: str | None = None,
    encoding: str | None = None,
    positive: Any = None,
    fold_labels: bool = False,
    target: str = "binary",
    n_features: int | None = None,
    n_labels: int | None = None,
    zero_based: bool = False,
    several: bool = False,
    rows: int = 1 << 16,
    skip: int = 0,
    progress: bool | Report = False,
) -> Stream:
    r"""A file as a stream, for ``sampler.run`` chunk by chunk, ``evaluate.progressive`` and ``online_to_batch``.

    Parameters
    ----------
    path : str or path
        The file, a pipe, or ``-`` for the standard input. Compressed files are decompressed: .gz, .bz2, .xz, .zst.
    format : {"csv", "ndjson", "parquet", "prodigy", "svmlight", "tsv", "vw"}, optional
        By default the format that the ending of the file's name says. Prodigy's JSONL files have the endings of NDJSON,
        so they need ``format="prodigy"``.
    label, time : str, optional
        Columns of a table: the label (by default one named label, y, class or target), and the time stamps. What the
        other columns are is found from the first rows: numbers, dates, categories, texts, vectors, or nothing to learn
        from; ``Stream.schema`` says it. Lines of NDJSON are a table too, unless they are pairs ``{"x": ..., "y": ...}``
        and no column is named.
    time_format : str, optional
        The format of the texts of the time column and of dates, as for ``datetime.strptime``: "%d/%m/%Y %H:%M". By
        default numbers and dates are taken as they are, and texts are ISO 8601, with a space or a T, or as in 2/24/2015
        11:35, 24.2.2015 11:35 and 2015/2/24; with slashes a day above 12 among the first rows must show which is first.
        Without a zone a time is in UTC.
    text, categories, numbers, vector : str or list of str, optional
        Columns of a table that are to be taken for texts, whose words are hashed; for categories, with a place for each
        of up to 62 values, or hashed if there are more; for numbers, of which what is not a number is missing; and for
        vectors: lists of numbers, or what the names of columns of numbers such as e0, e1, e2 have in common.
    drop : str or list of str, optional
        Columns to leave out.
    decimal : {".", ","}, optional
        The mark before decimals in columns whose numbers do not show it: 1,250 may be more than a thousand.
    encoder : str, path, callable or Encoder, optional
        What makes a vector of each text, beside its words, as for :func:`askwhen.encoders.load`: "static" with the
        extra ``text``, "auto" for that where it is installed. Vectors are stored beside the file and computed once.
    schema : Schema, optional
        ``Stream.schema`` of another file: this one has the same features, made of columns with the same names.
    names : list of str, optional
        The features that a model of an earlier version has learnt from, by their names; words and categories are hashed
        then as they were there.
    missing : {"auto", "feature", "refuse"}, default "auto"
        What to do with an empty or NaN number: take 0 and set a feature ``column is missing``, which each column has
        that lacks a number among the first rows, and all others together; or give every column such a feature; or raise
        an error.
    delimiter : str, optional
        The character between the values of a CSV or TSV file: by default a comma or a tab, or the semicolon, tab or bar
        that separates the names in its first line.
    encoding : str, optional
        The encoding of a file of text, by its name in Python, such as "latin-1" or "utf-16": by default UTF-8.
    positive : optional
        The label that becomes +1; the others become -1. Without it, labels must be -1 and +1, 0 and 1, true and
        false, yes and no, or two texts, of which the second in sorted order becomes +1.
    fold_labels : bool, default False
        Whether labels that differ only by case or blanks are one, in lower case; otherwise a warning names them.
    target : {"binary", "number", "class", "none"}, default "binary"
        Whether labels become -1 and +1, stay numbers for a regressor, stay as they are (whole numbers in svmlight and
        VW files, or VW's words), or are neither needed nor read: y is None then.
    n_features : int, optional
        Number of features of an svmlight file: without it, the file is read twice, first to find out. For other
        files, the number of places that words, names and VW features are hashed to, by default 262,144.
    n_labels : int, optional
        With ``several``, the number of labels; without it, found in the same way.
    zero_based : bool, default False
        Whether the features of an svmlight file count from 0 instead of 1.
    several : bool, default False
        Whether lines of an svmlight file hold several labels with commas between: whole numbers from 0, which become
        the columns of a matrix of -1 and +1.
    rows : int, default 65,536
        Number of rows of a Parquet file that are read at once; other files are read in blocks of bytes.
    skip : int, default 0
        Number of instances to skip, to continue where a run has ended.
    progress : bool or callable, default False
        Whether to show a progress bar on the standard error; a callable receives the number of bytes read so far.

    Examples
    --------
    >>> import askwhen as aw, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tiny.svm"
    >>> _ = path.write_text("+1 1:0.5 3:2\n-1 2:1 # a comment\n")
    >>> for X, y in aw.data.read(path):
    ...     print(X.toarray().tolist(), y.tolist())
    [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]] [1.0, -1.0]
    """
    # Long because every argument is documented; the checks are in helpers.
    name, found = os.fspath(path), format_of(path, format)
    check_choice("read", argument("target"), target, ("binary", "number", "class", "none"))
    check_count("read", argument("rows"), rows)
    if skip != 0:
        check_count("read", argument("skip"), skip)
    for what, count in ((argument("n_features"), n_features), (argument("n_labels"), n_labels)):
        if count is not None:
            check_count("read", what, count)
    check_positive_label(positive, target)
    check_reading(found, missing, delimiter, encoding, decimal)
    columns = ColumnChoices(
        label=label,
        time=time,
        text=several_names("text", text),
        categories=several_names("categories", categories),
        numbers=several_names("numbers", numbers),
        vector=several_names("vector", vector),
        drop=several_names("drop", drop),
        names=None if names is None else several_names("names", names),
        missing=missing,
        given_places=n_features,
        labelled=target != "none",
        time_format=time_format,
        encoder=encoders.chosen(encoder if schema is None or encoder != encoders.AUTO else None),
        decimal=decimal,
    )
    columns = checked_choices(found, columns, schema)
    check_no_encoder(encoder, schema)
    check_readable("read", name)
    facts = (zero_based, several, int(rows), int(skip), progress, n_features, n_labels, delimiter, encoding)
    positive = folded(positive) if fold_labels else positive
    return Stream(name, found.name, columns, target, positive, *facts, schema, bool(fold_labels))


def _of_kinds(X: Any, schema: Schema | None) -> Any:
    """Rows that know their kinds of features, where they are of a table."""
    return X if schema is None else MixedRows.of(X, schema.kinds)


def _joined(parts: tuple[np.ndarray, ...]) -> np.ndarray:
    """Parts as one array, where numbers and texts stay what they are."""
    kinds = {"n" if part.dtype.kind in "iuf" else part.dtype.kind for part in parts}
    return np.concatenate([part.astype(object) for part in parts] if len(kinds) > 1 else parts)


def _numbers(y: np.ndarray, path: str) -> np.ndarray:
    try:
        return np.asarray(y, float)
    except (TypeError, ValueError):
        raise InputError(f"the labels of {path} must be numbers for a regressor, got {y[0]!r}.", owner="read") from None
