"""The arguments of a format's reader, and the chunks that it returns."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import Any, NamedTuple

from .column_choices import ColumnChoices
from .column_table import ColumnTable
from .files import Report
from .instances import Instances


class ReadRequest(NamedTuple):
    """The file and how to read it; see :func:`askwhen.data.read`.

    ``instances`` makes features of the columns of a table: a format lets it decide about them with its first rows.
    Without it, tables are read for their records only. With ``settles_only`` no chunk of a table is made.
    """

    path: str
    columns: ColumnChoices = ColumnChoices()
    zero_based: bool = False
    several: bool = False
    rows: int = 1 << 16
    n_features: int | None = None
    n_labels: int | None = None
    delimiter: str | None = None
    encoding: str | None = None
    report: Report | None = None
    words: bool = False
    instances: Instances | None = None
    settles_only: bool = False


class Chunk(NamedTuple):
    """At least one instance; labels and times unchanged, or None; and the names of the features that are columns."""

    X: Any
    y: Any
    times: Any = None
    names: tuple[str, ...] | None = None


def chunks_of_tables(request: ReadRequest, tables: Generator[ColumnTable]) -> Generator[Chunk]:
    """The chunks of a file that holds tables."""
    instances = request.instances or Instances(request.columns, request.path)
    with closing(tables), closing(instances):
        for table in tables:
            if request.settles_only:
                instances.settle(table)
                return
            if table.rows:
                yield Chunk(*instances.of(table), instances.names)
        instances.close(is_complete=True)
