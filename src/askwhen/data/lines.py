"""Files of lines, parsed block by block on all cores; an error names the file and the line."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiled.steps import entry
from ..errors import InputError
from .files import Report, blocks_of, is_piped, parsed_in_order

if TYPE_CHECKING:
    from .read_request import ReadRequest

NEWLINE = np.uint8(ord("\n"))


class LineError(Exception):
    """An error in a line of a block, counted from 0; the reader of the file adds the lines before the block."""

    def __init__(self, line: int, trouble: str) -> None:
        super().__init__(line, trouble)
        self.line, self.trouble = line, trouble


@entry
def newlines(text: Any) -> Any:
    """Number of lines that end in this text."""
    found = 0
    for c in text:
        found += c == NEWLINE
    return found


def parsed(
    path: str | os.PathLike[str],
    parse: Callable[[memoryview], Any],
    report: Report | None = None,
    encoding: str | None = None,
) -> Generator[tuple[int, Any]]:
    """The number of lines before each block, and what it parses to; a :class:`LineError` becomes one of the file."""
    before, blocks = 0, blocks_of("read", path, report, encoding=encoding)
    with closing(parsed_in_order(partial(_caught, parse), blocks, wait=not is_piped(path))) as results:
        for lines, found in results:
            if isinstance(found, LineError):
                line = before + found.line + 1
                raise InputError(f"{path}, line {line}, {found.trouble}.", owner="read", file=str(path), line=line)
            yield before, found
            before += lines


def _caught(parse: Callable[[memoryview], Any], block: memoryview) -> tuple[int, Any]:
    """The number of lines of a block, and what it parses to, or the error."""
    try:
        return newlines(np.frombuffer(block, np.uint8)), parse(block)
    except LineError as error:
        return 0, error


def count_lines(request: ReadRequest) -> int:
    """The number of lines of a file that are neither blank nor a comment."""
    found = 0
    with closing(blocks_of("read", request.path, encoding=request.encoding)) as blocks:
        for block in blocks:
            found += sum(1 for line in bytes(block).splitlines() if line.strip() and line[:1] != b"#")
    return found
