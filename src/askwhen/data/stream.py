"""Files as streams: chunks of instances and labels, read once and in constant memory, in any supported format."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..validation import check_choice, check_count
from . import svmlight, vw
from .files import COMPRESSED, Report, blocks_of, in_order
from .hashing import DEFAULT_FEATURES, counted, hash_name, hash_text
from .labels import check_positive, signs
from .svmlight import LineError
from .tables import Columns, batches_of, split

FORMATS = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".t": "svmlight",
    ".vw": "vw",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
}
_TABLES = ("csv", "tsv", "parquet")


@dataclasses.dataclass(eq=False)
class Stream:
    """A file as chunks ``(X, y)``, or ``(X, y, times)`` with a time column. Every ``for`` reads it from the beginning.

    Made by :func:`read`. ``load()`` reads all of it at once.
    """

    path: str
    format: str
    columns: Columns
    target: str
    positive: Any
    zero_based: bool
    several: bool
    rows: int
    skip: int
    progress: bool | Report
    n_features: int | None
    n_labels: int | None

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        if self.format == "svmlight" and (self.n_features is None or (self.several and self.n_labels is None)):
            self._scan()
        if callable(self.progress):
            return self._chunks(self.progress)
        return self._with_progress() if self.progress else self._chunks(None)

    def _chunks(self, report: Report | None) -> Iterator[tuple[Any, ...]]:
        read = _READERS[self.format]
        before, seen = 0, False
        for X, y, times in read(self, report):
            if X.shape[0] == 0:
                continue
            if not self.several and self.target != "class":
                y = signs(y, self.positive, self.path, before) if self.target == "binary" else _numbers(y, self.path)
            seen = seen or self.positive is None or bool((y > 0).any())
            passed = min(max(self.skip - before, 0), X.shape[0])
            before += X.shape[0]
            found = (X, y) if times is None else (X, y, times)
            if passed < X.shape[0]:
                yield tuple(part[passed:] for part in found) if passed else found
        if before and not seen:
            raise InputError(f"read: no instance of {self.path} has the label {self.positive!r} that is positive=.")

    def _with_progress(self) -> Iterator[tuple[Any, ...]]:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        piped = self.path == "-"
        looks = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        with Progress(*looks, console=Console(stderr=True)) as bar:
            task = bar.add_task(Path(self.path).name, total=None if piped else Path(self.path).stat().st_size)
            yield from self._chunks(lambda done: bar.update(task, completed=done))

    def load(self, rows: int | None = None) -> tuple[Any, ...]:
        """All of it, or so many of the first instances: instances, labels, and times where there are any."""
        found: list[tuple[Any, ...]] = []
        known, self.n_features = self.n_features, self.n_features or -1
        try:
            for chunk in self:
                found.append(chunk)
                if rows is not None and sum(len(part[1]) for part in found) >= rows:
                    break
        finally:
            self.n_features = known
        if not found:
            raise InputError(f"read: {self.path} holds no instance.")
        Xs, *others = zip(*found, strict=True)
        if not sp.issparse(Xs[0]):
            return tuple(np.concatenate(parts)[:rows] for parts in (Xs, *others))
        d = max(X.shape[1] for X in Xs)
        for X in Xs:
            X.resize(X.shape[0], d)
        return (sp.vstack(Xs, "csr")[:rows], *(np.concatenate(other)[:rows] for other in others))

    def _scan(self) -> None:
        """Find the largest feature, and the largest of several labels, where they are not given."""
        if self.path == "-":
            raise InputError("read: give n_features=, since the standard input can be read only once.")
        d = labels = 0
        for lines in _lines(self, None):
            d = max(d, lines.features)
            labels = max(labels, _count_labels(lines.labels, self.path)) if self.several else 0
        self.n_features = self.n_features or max(d, 1)
        self.n_labels = self.n_labels or labels


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    label: str | None = None,
    text: str | None = None,
    time: str | None = None,
    drop: str | tuple[str, ...] | list[str] = (),
    positive: Any = None,
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
        The file, or ``-`` for the standard input. What its name says is decompressed: .gz, .bz2, .xz, .zst.
    format : {"svmlight", "vw", "csv", "tsv", "parquet", "ndjson"}, optional
        By default what the file's name says.
    label, text, time : str, optional
        Columns of a table: the label (by default one named label, y, class or target), a text whose words are hashed,
        and the time stamps. All other columns must be numbers.
    drop : str or list of str, optional
        Columns to leave out.
    positive : optional
        The label that becomes +1, where the others become -1. Without, labels must be -1 and +1, 0 and 1, or true and
        false.
    target : {"binary", "number", "class"}, default "binary"
        Whether labels become -1 and +1, stay numbers for a regressor, or stay as they are.
    n_features : int, optional
        How many features an svmlight file has: without, it is read twice, the first time to find out. The number of
        places that words, names and VW features are hashed to: 262,144 unless you say otherwise.
    n_labels : int, optional
        With ``several``, how many labels there are; without, found out in the same way.
    zero_based : bool, default False
        Whether the features of an svmlight file count from 0 instead of 1.
    several : bool, default False
        Whether lines of an svmlight file hold several labels with commas between: whole numbers from 0, which become
        the columns of a matrix of -1 and +1.
    rows : int, default 65,536
        How many rows of a Parquet file are read at once; other files are read by size.
    skip : int, default 0
        How many instances to pass over, to go on where a run has ended.
    progress : bool or callable, default False
        Whether to show a progress bar on the standard error; a callable is told how many bytes have been read.

    Examples
    --------
    >>> import askwhen as aw, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tiny.svm"
    >>> _ = path.write_text("+1 1:0.5 3:2\n-1 2:1 # a comment\n")
    >>> for X, y in aw.data.read(path):
    ...     print(X.toarray().tolist(), y.tolist())
    [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]] [1.0, -1.0]
    """
    name, format = os.fspath(path), format_of(path, format)
    check_choice("read", "format", format, tuple(_READERS))
    check_choice("read", "target", target, ("binary", "number", "class"))
    check_count("read", "rows", rows)
    if skip != 0:
        check_count("read", "skip", skip)
    for what, count in (("n_features", n_features), ("n_labels", n_labels)):
        if count is not None:
            check_count("read", what, count)
    check_positive(positive, target)
    if name != "-" and not Path(name).is_file():
        raise InputError(f"read: there is no file {name}.")
    drop = (drop,) if isinstance(drop, str) else tuple(drop)
    columns = Columns(label, time, text, drop, n_features or DEFAULT_FEATURES)
    facts = (zero_based, several, int(rows), int(skip), progress, n_features, n_labels)
    return Stream(name, format, columns, target, positive, *facts)


def format_of(path: str | os.PathLike[str], format: str | None) -> str:
    """What a file holds: what was said, or what its name says."""
    if format is not None:
        return format
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    found = FORMATS.get(suffixes[-1] if suffixes else "")
    if found is None:
        listed = ", ".join(sorted(set(FORMATS.values())))
        raise InputError(f"read: what is in {path} cannot be told from its name; give format=, one of {listed}.")
    return found


def _lines(stream: Stream, report: Report | None) -> Iterator[svmlight.Lines]:
    settings: dict[str, Any] = {"zero_based": stream.zero_based, "several": stream.several}
    if stream.n_features is not None and stream.n_features > 0:
        settings["limit"] = stream.n_features
    for _, lines in _parsed(stream, partial(svmlight.parse_block, **settings), report):
        yield lines


def _parsed(stream: Stream, parse: Any, report: Report | None) -> Iterator[tuple[int, Any]]:
    """How many lines came before each block, and what it parses to; an error names the line."""
    before, blocks = 0, blocks_of("read", stream.path, report)
    for lines, found in in_order(partial(_caught, parse), blocks, wait=stream.path != "-"):
        if isinstance(found, LineError):
            raise InputError(f"read: {stream.path}, line {before + found.line + 1}, {found.sentence}.")
        yield before, found
        before += lines


def _caught(parse: Any, block: memoryview) -> tuple[int, Any]:
    """How many lines a block has, and what it parses to or the error."""
    try:
        return svmlight.newlines(np.frombuffer(block, np.uint8)), parse(block)
    except LineError as error:
        return 0, error


def _read_svmlight(stream: Stream, report: Report | None) -> Iterator[Any]:
    wanted = stream.n_features or -1
    for labels, tags, indptr, indices, data, largest in _lines(stream, report):
        shape = (len(indptr) - 1, wanted if wanted > 0 else max(largest, 1))
        X = sp.csr_matrix((data, indices, indptr), shape)
        X.has_canonical_format = True
        yield X, _matrix(labels, tags, stream) if stream.several else labels, None


def _count_labels(labels: np.ndarray, path: str) -> int:
    """How many labels there are, if they are whole numbers from 0."""
    bad = labels[~((labels >= 0) & (labels < 2**20) & (labels == np.floor(labels)))]
    if len(bad):
        raise InputError(f"read: {path} must have whole numbers from 0 to 2^20 as its labels, got {bad[0]:g}.")
    return int(labels.max(initial=-1.0)) + 1


def _matrix(labels: np.ndarray, tags: np.ndarray, stream: Stream) -> np.ndarray:
    """Several labels of each line, as a matrix of -1 and +1."""
    count = stream.n_labels or 0
    if _count_labels(labels, stream.path) > count:
        raise InputError(f"read: {stream.path} must have labels from 0 to {count - 1}, got {labels.max():g}.")
    Y = np.full((len(tags) - 1, count), -1.0)
    Y[np.repeat(np.arange(len(tags) - 1), np.diff(tags)), labels.astype(int)] = 1.0
    return Y


def _read_vw(stream: Stream, report: Report | None) -> Iterator[Any]:
    for _, (y, X) in _parsed(stream, partial(vw.parse_block, features=stream.columns.features), report):
        yield X, y, None


def _read_table(stream: Stream, report: Report | None) -> Iterator[Any]:
    before = 0
    for batch in batches_of(stream.path, stream.format, stream.rows, stream.columns, report):
        yield split(batch, stream.columns, stream.path, before)
        before += batch.num_rows


def _read_ndjson(stream: Stream, report: Report | None) -> Iterator[Any]:
    first: tuple[Any, ...] | None = None
    for before, (X, y, times) in _parsed(stream, partial(_parse_json, features=stream.columns.features), report):
        kind = (type(X), X.shape[1], times is None)
        if X.shape[0] and kind != (first or kind):
            raise InputError(
                f"read: {stream.path}, line {before + 1}, must have an x and a time like the lines before."
            )
        first = first or (kind if X.shape[0] else None)
        yield X, y, times


def _parse_json(block: memoryview, features: int) -> tuple[Any, np.ndarray, Any]:
    """Lines of {"x": numbers, names with values, or text; "y": label; perhaps "time"}."""
    xs: list[Any] = []
    ys: list[Any] = []
    times: list[Any] = []
    for number, line in enumerate(bytes(block).splitlines()):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            x, y = record["x"], record["y"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise LineError(number, 'must be an object such as {"x": [0.5, 1], "y": 1}') from error
        _check_record(number, x, y, xs)
        if xs and ("time" in record) != bool(times):
            raise LineError(number, "must have a time if the lines before have one, and none otherwise")
        xs.append(x)
        ys.append(y)
        if "time" in record:
            times.append(record["time"])
    labels, when = np.array(ys), np.array(times) if times else None
    if not xs:
        return np.zeros((0, 1)), labels, None
    if isinstance(xs[0], str):
        return hash_text(xs, features), labels, when
    if isinstance(xs[0], list):
        return np.array(xs, float), labels, when
    indptr = np.cumsum([0] + [len(x) for x in xs])
    indices = np.array([hash_name(name, features) for x in xs for name in x], np.int32)
    data = np.array([value for x in xs for value in x.values()], float)
    return counted(data, indices, indptr, features), labels, when


def _check_record(number: int, x: Any, y: Any, before: list[Any]) -> None:
    if before and (type(x) is not type(before[0]) or (isinstance(x, list) and len(x) != len(before[0]))):
        raise LineError(number, "must have an x like the lines before")
    if isinstance(x, dict) and not all(_is_number(value) for value in x.values()):
        raise LineError(number, "must have numbers as the values of x")
    if isinstance(x, list) and (not x or not all(_is_number(value) for value in x)):
        raise LineError(number, "must have numbers in x")
    if not isinstance(x, (dict, list, str)):
        raise LineError(number, "must have an x that is a list of numbers, an object, or a text")
    if not isinstance(y, (str, int, float)):
        raise LineError(number, "must have a y that is a number, a text, true or false")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and abs(value) <= sys.float_info.max


def _numbers(y: np.ndarray, path: str) -> np.ndarray:
    try:
        return np.asarray(y, float)
    except (TypeError, ValueError):
        raise InputError(f"read: the labels of {path} must be numbers for target='number', got {y[0]!r}.") from None


_READERS = {"svmlight": _read_svmlight, "vw": _read_vw, "ndjson": _read_ndjson} | dict.fromkeys(_TABLES, _read_table)
