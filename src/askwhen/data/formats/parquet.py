"""Parquet files, a number of rows at once, through pyarrow."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

from ...errors import InputError
from ..files import COMPRESSED, is_piped, needs, one_sentence
from ..format import Format
from ..inference import ROWS
from ..instances import Instances
from ..read_request import Chunk, ReadRequest, chunks_of_tables
from ..tables import ArrowTable


def tables(request: ReadRequest) -> Generator[ArrowTable]:
    """The tables of a Parquet file; one that is mangled is refused, whatever pyarrow says about it."""
    arrow = needs("read", "pyarrow", "a parquet file")
    from pyarrow import parquet

    path, report = request.path, request.report
    if is_piped(path) or Path(path).suffix in COMPRESSED:
        raise InputError(
            f"a Parquet file must be a plain file, since it is not read in order, got {path}.", owner="read"
        )
    try:
        with parquet.ParquetFile(path) as file:
            if request.instances is None:
                request.columns.check(file.schema_arrow.names, path)
            else:
                _settle(request.instances, file, path)
            total, size, done = file.metadata.num_rows, Path(path).stat().st_size, 0
            for batch in file.iter_batches(request.rows):
                batch.validate(full=True)  # so that columns of a mangled file can be trusted
                done += batch.num_rows
                if report is not None:
                    report(size * done // max(total, 1))
                yield ArrowTable(batch, path, decodable=False)
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}: {one_sentence(error)}.", owner="read") from error


def _settle(instances: Instances, file: Any, path: str) -> None:
    """Let the first rows show what the columns are."""
    import pyarrow as arrow

    head = next(file.iter_batches(ROWS), None)
    if head is None:
        head = arrow.RecordBatch.from_pylist([], file.schema_arrow)
    head.validate(full=True)
    instances.settle(ArrowTable(head, path, decodable=False))


def chunks(request: ReadRequest) -> Generator[Chunk]:
    """The chunks of a file."""
    return chunks_of_tables(request, tables(request))


def count(request: ReadRequest) -> int | None:
    """The number of rows, which the file's metadata has; None where the file is mangled."""
    needs("read", "pyarrow", "a parquet file")
    from pyarrow import ArrowException, parquet

    try:
        return int(parquet.read_metadata(request.path).num_rows)
    except ArrowException:
        return None


FORMAT = Format("parquet", chunks, (".parquet",), tables=tables, count=count, is_text=False)
