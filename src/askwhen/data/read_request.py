"""What a reader of files is asked for, and what it gives."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import Any, NamedTuple

from .files import Report
from .instances import Columns, Instances


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
    words: bool = False


class Chunk(NamedTuple):
    """At least one instance, labels and times as they are or None, and the names of the features that are columns."""

    X: Any
    y: Any
    times: Any = None
    names: tuple[str, ...] | None = None


def chunks_of_tables(request: Request, tables: Generator[Any]) -> Generator[Chunk]:
    """The chunks of a file that holds tables."""
    instances = Instances(request.columns, request.path)
    with closing(tables):
        for table in tables:
            if table.rows:
                yield Chunk(*instances.of(table), instances.names)
