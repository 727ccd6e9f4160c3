"""Files as blocks of whole lines, read once, decompressed as they are read."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from ..errors import InputError

BLOCK = 1 << 22
"""How many bytes are parsed at once."""

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")

T = TypeVar("T")
Report = Callable[[int], None]
"""Told how many bytes of the file, compressed as it is, have been read."""


def open_bytes(owner: str, path: str | os.PathLike[str]) -> tuple[BinaryIO, BinaryIO]:
    """The content of a file, decompressed by what its name says, and the file itself; ``-`` is the standard input."""
    if os.fspath(path) == "-":
        return sys.stdin.buffer, sys.stdin.buffer
    try:
        file = Path(path).open("rb")  # noqa: SIM115, the caller closes it
    except OSError as error:
        raise InputError(f"{owner}: cannot read {path}: {error.strerror}.") from error
    suffix = Path(path).suffix
    if suffix == ".gz":
        return cast(BinaryIO, gzip.GzipFile(fileobj=file)), file
    if suffix == ".bz2":
        return cast(BinaryIO, bz2.BZ2File(file)), file
    if suffix == ".xz":
        return cast(BinaryIO, lzma.LZMAFile(file)), file
    if suffix == ".zst":
        arrow = needs(owner, "pyarrow", f"{path} is compressed by zstandard, which")
        return cast(BinaryIO, io.BufferedReader(arrow.CompressedInputStream(file, "zstd"))), file
    return file, file


def needs(owner: str, module: str, what: str) -> Any:
    """A module that only some files need."""
    try:
        return __import__(module)
    except ImportError as error:
        raise InputError(f"{owner}: {what} needs {module}: pip install 'askwhen[data]'.") from error


def blocks_of(
    owner: str, path: str | os.PathLike[str], report: Report | None = None, size: int = BLOCK
) -> Iterator[memoryview]:
    """The content in blocks of whole lines, each of which ends with a newline."""
    content, file = open_bytes(owner, path)
    # A pipe is read as its lines come, not when a whole block has come.
    fill = content.readinto1 if os.fspath(path) == "-" else content.readinto  # type: ignore[attr-defined]
    rest = b""
    with contextlib.ExitStack() as held:
        if os.fspath(path) != "-":
            held.enter_context(content)
            held.enter_context(file)
        while True:
            block = bytearray(len(rest) + size)
            block[: len(rest)] = rest
            try:
                more = fill(memoryview(block)[len(rest) :])
            except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
                raise InputError(f"{owner}: cannot decompress {path}: {str(error).rstrip('.')}.") from error
            if report is not None and file.seekable():
                report(file.tell())
            if not more:
                break
            full = len(rest) + more
            end = block.rfind(b"\n", len(rest), full) + 1
            rest = bytes(memoryview(block)[end:full])
            if end:
                yield memoryview(block)[:end]
    if rest:
        yield memoryview(bytearray(rest + b"\n"))  # of one type with the others, so that one step serves all


def in_order(parse: Callable[[memoryview], T], blocks: Iterator[memoryview], wait: bool = True) -> Iterator[T]:
    """What blocks parse to: on all cores, a few blocks ahead, in their order; each at once where none is to wait."""
    ahead = (os.cpu_count() or 1) + 1 if wait else 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting: deque[Future[T]] = deque()
        try:
            for block in blocks:
                waiting.append(pool.submit(parse, block))
                if len(waiting) > ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for found in waiting:
                found.cancel()
