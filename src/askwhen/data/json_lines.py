"""Lines of JSON: the objects of a file, block by block, with the numbers of their lines."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from contextlib import closing
from typing import Any, NamedTuple

from .files import Report, not_decoded
from .lines import LineError, parsed

_OBJECT = "must be an object with a value for each name"
_ARRAY = f"{_OBJECT}, got an array; jq -c '.[]' writes each object of a JSON array on a line of its own"


class Lines(NamedTuple):
    """Objects of a block, and the number of the line of each, counted from 1."""

    records: list[dict[str, Any]]
    numbers: list[int]


def lines_of(
    path: str | os.PathLike[str], report: Report | None = None, encoding: str | None = None
) -> Generator[Lines]:
    """The objects of a file, block by block; blocks without any are skipped."""
    with closing(parsed(path, _parse, report, encoding)) as blocks:
        for before, found in blocks:
            if found is None:
                raise not_decoded(path)
            if found.records:
                yield Lines(found.records, [before + number for number in found.numbers])


def _parse(block: memoryview) -> Lines | None:
    """The objects of a block, or None where it is not in UTF-8."""
    try:
        str(block, "utf-8")
    except UnicodeDecodeError:
        return None
    found = Lines([], [])
    for number, line in enumerate(bytes(block).splitlines()):
        if not line.strip():
            continue
        trouble = _ARRAY if line.lstrip().startswith(b"[") else _OBJECT
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise LineError(number, trouble) from error
        if not isinstance(record, dict):
            raise LineError(number, trouble)
        found.records.append(record)
        found.numbers.append(number + 1)
    return found
