"""The formats by name, and how a file of each becomes chunks of instances."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import scipy.sparse as sp

from ...errors import InputError, argument
from ..files import COMPRESSED, Report
from ..instances import Columns, Instances
from ..lines import parsed
from ..pairs import Pairs, is_pair
from . import csv_tables, ndjson, parquet_tables, svmlight, vw

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


def _by_name(path: str | os.PathLike[str]) -> str | None:
    """What the name of a file says that it holds, if it does."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return FORMATS.get(suffixes[-1] if suffixes else "")


def is_known(path: str | os.PathLike[str]) -> bool:
    """Whether the name of a file says what it holds."""
    return _by_name(path) is not None


def format_of(path: str | os.PathLike[str], format: str | None) -> str:
    """What a file holds: what was said, or what its name says."""
    found = _by_name(path) if format is None else format
    if found is None:
        listed = ", ".join(sorted(set(FORMATS.values())))
        raise InputError(
            f"what is in {path} cannot be told from its name; give {argument('format')}, one of {listed}.", owner="read"
        )
    return found


class Request(NamedTuple):
    """What is read, and how; see :func:`askwhen.data.read`."""

    path: str
    format: str
    columns: Columns
    zero_based: bool
    several: bool
    rows: int
    n_features: int | None
    n_labels: int | None
    delimiter: str | None
    encoding: str | None
    report: Report | None


class Chunk(NamedTuple):
    """At least one instance, labels and times as they are or None, and the names of the features that are columns."""

    X: Any
    y: Any
    times: Any = None
    names: tuple[str, ...] | None = None


def chunks_of(request: Request) -> Generator[Chunk]:
    """The chunks of a file."""
    return READERS[request.format](request)


def scan_svmlight(request: Request) -> tuple[int, int]:
    """How many features an svmlight file has, and how many labels if a line has several."""
    d = labels = 0
    with closing(_lines(request)) as found:
        for lines in found:
            d = max(d, lines.features)
            if request.several and request.columns.labelled:
                labels = max(labels, svmlight.count_labels(lines.labels, request.path))
    return d, labels


def _lines(request: Request) -> Generator[svmlight.Lines]:
    # Where labels are not wanted, a line may have any number of them.
    several = request.several or not request.columns.labelled
    parse = partial(svmlight.parse_block, zero_based=request.zero_based, several=several)
    if request.n_features is not None and request.n_features > 0:
        parse = partial(parse, limit=request.n_features)
    with closing(parsed(request.path, parse, request.report, request.encoding)) as blocks:
        for _, lines in blocks:
            yield lines


def _svmlight(request: Request) -> Generator[Chunk]:
    wanted = request.n_features or -1
    with closing(_lines(request)) as blocks:
        for lines in blocks:
            shape = (len(lines.indptr) - 1, wanted if wanted > 0 else max(lines.features, 1))
            X = sp.csr_matrix((lines.data, lines.indices, lines.indptr), shape)
            X.has_canonical_format = True
            if not shape[0]:
                continue
            if not request.columns.labelled:
                yield Chunk(X, None)
            elif request.several:
                yield Chunk(X, svmlight.matrix_of(lines, request.n_labels or 0, request.path))
            else:
                yield Chunk(X, lines.labels)


def _vw(request: Request) -> Generator[Chunk]:
    labelled = request.columns.labelled
    parse = partial(vw.parse_block, features=request.columns.places, labelled=labelled)
    with closing(parsed(request.path, parse, request.report, request.encoding)) as blocks:
        for _, (y, X) in blocks:
            if X.shape[0]:
                yield Chunk(X, y if labelled else None)


def _parquet(request: Request) -> Generator[Chunk]:
    return _instances(request, parquet_tables.tables_of(request.path, request.rows, request.report))


def _csv(request: Request) -> Generator[Chunk]:
    written = (request.report, request.delimiter, request.encoding)
    return _instances(request, csv_tables.tables_of(request.path, request.format, request.columns, *written))


def _ndjson(request: Request) -> Generator[Chunk]:
    with closing(ndjson.lines_of(request.path, request.report, request.encoding)) as blocks:
        first = next(blocks, None)
        if first is None:
            return
        lines = _put_back(first, blocks)
        if is_pair(first.records[0], request.columns):
            pairs = Pairs(request.path, request.columns.places, request.columns.labelled)
            for each in lines:
                yield Chunk(*pairs.of(each))
        else:
            yield from _instances(request, ndjson.tables_of(request.path, request.columns, lines))


def _put_back(first: Any, others: Generator[Any]) -> Generator[Any]:
    yield first
    yield from others


def _instances(request: Request, tables: Generator[Any]) -> Generator[Chunk]:
    instances = Instances(request.columns, request.path)
    with closing(tables):
        for table in tables:
            if table.rows:
                yield Chunk(*instances.of(table), instances.names)


READERS: dict[str, Callable[[Request], Generator[Chunk]]] = {
    "svmlight": _svmlight,
    "vw": _vw,
    "csv": _csv,
    "tsv": _csv,
    "parquet": _parquet,
    "ndjson": _ndjson,
}
