"""Lines of JSON: objects, and records with a value for each name as tables."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import closing
from typing import Any

from ...errors import InputError
from ..files import is_piped, listed, perhaps
from ..format import Format
from ..inference import ROWS
from ..json_lines import Lines, lines_of
from ..pairs import Pairs, is_pair
from ..read_request import Chunk, ReadRequest, chunks_of_tables
from ..records import Records


def tables_of(request: ReadRequest, blocks: Generator[Lines]) -> Generator[Records]:
    """The records of a file as tables; the first is large enough to show what the columns are, except on a pipe."""
    with closing(_with_columns(request.path, request.columns.drop, blocks)) as checked:
        first: list[dict[str, Any]] = []
        for records, _ in checked:
            first += records
            if len(first) >= ROWS or is_piped(request.path):
                break
        if not first:
            return
        table = Records(first, request.path)
        if request.instances is not None:
            request.instances.settle(table)
        yield table
        for records, _ in checked:
            yield Records(records, request.path)


def _with_columns(path: str | os.PathLike[str], names: tuple[str, ...], blocks: Generator[Lines]) -> Generator[Lines]:
    """The same blocks, of which at least one record must have each of these columns.

    In a small file that is checked before anything is given out; a pipe does not wait for more.
    """
    lacking, seen, held = {*names}, dict[str, None](), list[Lines]()
    with closing(blocks):
        for number, block in enumerate(blocks):
            if lacking:
                seen = {name: None for record in (seen, *block.records) for name in record}
                lacking.difference_update(seen)
            held.append(block)
            if not lacking or number > 1 or is_piped(path):  # the last line may be a block of its own
                yield from held
                held.clear()
    if lacking and seen:
        name = min(lacking)
        raise InputError(
            f"no record of {path} has a column {name!r}{perhaps(name, seen)}; they have {listed(list(seen))}.",
            owner="read",
            file=str(path),
        )
    yield from held


def chunks(request: ReadRequest) -> Generator[Chunk]:
    """The chunks of a file, of records or of pairs."""
    with closing(lines_of(request.path, request.report, request.encoding)) as blocks:
        first = next(blocks, None)
        if first is None:
            return
        lines = _put_back(first, blocks)
        is_table = request.instances is not None and request.instances.schema is not None
        if not is_table and is_pair(first.records[0], request.columns):
            pairs = Pairs(request.path, request.columns)
            for each in lines:
                yield Chunk(*pairs.of(each))
        else:
            yield from chunks_of_tables(request, tables_of(request, lines))


def _put_back(first: Any, others: Generator[Any]) -> Generator[Any]:
    yield first
    yield from others


def tables(request: ReadRequest) -> Generator[Records]:
    """The records of a file, as tables."""
    return tables_of(request, lines_of(request.path, request.report, request.encoding))


FORMAT = Format("ndjson", chunks, (".ndjson", ".jsonl"), tables=tables, has_pairs=True)
