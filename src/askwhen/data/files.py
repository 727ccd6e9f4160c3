"""Files as blocks of whole lines, read once and in order, decompressed and decoded as they are read."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import difflib
import gzip
import io
import lzma
import os
import re
import stat
import sys
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent import futures
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from ..errors import InputError, argument
from ..system.extras import optional

BLOCK = 1 << 22
"""Number of bytes that are parsed at once."""

COMPRESSED = {
    ".gz": re.compile(rb"\x1f\x8b"),
    ".bz2": re.compile(rb"BZh[1-9]1AY&SY"),
    ".xz": re.compile(rb"\xfd7zXZ\0"),
    ".zst": re.compile(rb"\x28\xb5\x2f\xfd"),
}
"""Suffixes of compressed files, and the first bytes of their content."""

S = TypeVar("S")
T = TypeVar("T")
_START, _LONGEST_NAME = 100, 80
Report = Callable[[int], None]
"""Receives the number of bytes of the file, compressed as it is, that have been read."""


def is_piped(path: str | os.PathLike[str]) -> bool:
    """Whether this can be read only once: the standard input ``-``, a named pipe, or a device such as /dev/fd/63."""
    if os.fspath(path) == "-":
        return True
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def check_readable(owner: str, path: str | os.PathLike[str]) -> None:
    """Refuse a path where there is nothing to read."""
    if not is_piped(path) and not Path(path).is_file():
        what = f"{path} is a directory, not a file" if Path(path).is_dir() else f"there is no file {path}"
        raise InputError(f"{what}.", owner=owner)


def check_encoding(owner: str, encoding: Any) -> None:
    """Refuse an encoding that Python does not know."""
    try:
        known = isinstance(codecs.getincrementaldecoder(encoding)().decode(b"", True), str)
    except (LookupError, TypeError, ValueError):
        known = False
    if not known:
        raise InputError(
            f"{argument('encoding')} must be the name of an encoding, such as 'latin-1', got {encoding!r}.", owner=owner
        )


def not_decoded(path: str | os.PathLike[str], what: str = "") -> InputError:
    """The error for a file, or a part of it, that is not in UTF-8, with the first such line."""
    line, encoding = (None, "latin-1") if is_piped(path) else _undecoded(path)
    shows = "" if line is None else f", as line {line:,} shows"
    return InputError(
        f"{what}{path} is not in UTF-8{shows}; name its encoding by {argument('encoding')}, such as {encoding!r}.",
        owner="read",
        file=str(path),
        line=line,
        mend={"encoding": encoding},
    )


def _undecoded(path: str | os.PathLike[str]) -> tuple[int | None, str]:
    """The first line of a file that is not in UTF-8, counted from 1, or None; and what the file may be in."""
    before, encoding = 0, "latin-1"
    with contextlib.closing(blocks_of("read", path)) as blocks:
        for block in blocks:
            if not before and b"\0" in bytes(block[:_START]):
                encoding = "utf-16"  # without its mark, as two bytes for each character
            try:
                before += str(block, "utf-8").count("\n")
            except UnicodeDecodeError as error:
                return before + bytes(block[: error.start]).count(b"\n") + 1, encoding
    return None, encoding


def open_bytes(owner: str, path: str | os.PathLike[str]) -> tuple[BinaryIO, BinaryIO]:
    """The content of a file, decompressed, and the file itself; ``-`` is the standard input.

    A file is compressed if its name or its first bytes say so: a pipe has no name.
    """
    try:
        file: Any = sys.stdin.buffer if os.fspath(path) == "-" else Path(path).open("rb")  # noqa: SIM115, the caller closes
        suffix = Path(path).suffix
        if suffix not in COMPRESSED:
            file = file if hasattr(file, "peek") else io.BufferedReader(file)
            start = file.peek(10)
            suffix = next((suffix for suffix, begins in COMPRESSED.items() if begins.match(start)), "")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}.", owner=owner) from error
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
    return optional(module, what, owner)


class _Recoded(io.RawIOBase):
    """Text in another encoding, as UTF-8."""

    def __init__(self, content: Any, encoding: str, piped: bool) -> None:
        self._take = content.read1 if piped else content.read
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready = memoryview(b"")
        self._ended = False

    def readinto(self, buffer: Any) -> int:
        while not self._ready and not self._ended:
            found = self._take(1 << 20)
            self._ended = not found
            self._ready = memoryview(self._decoder.decode(found, self._ended).encode())
        filled = min(len(buffer), len(self._ready))
        buffer[:filled], self._ready = self._ready[:filled], self._ready[filled:]
        return filled


def blocks_of(
    owner: str,
    path: str | os.PathLike[str],
    report: Report | None = None,
    size: int = BLOCK,
    *,
    encoding: str | None = None,
) -> Generator[memoryview]:
    """The content as UTF-8, without its byte order mark, in blocks of whole lines that end with a newline.

    Without an ``encoding`` the content is in UTF-8, or in UTF-16 if it begins with the mark of that.
    """
    content, file = open_bytes(owner, path)
    piped, first, rest = is_piped(path), True, b""
    with contextlib.ExitStack() as held:
        if os.fspath(path) != "-":
            held.enter_context(file)
            held.enter_context(content)
        with _decompressing(owner, path):
            encoding = encoding or _marked_encoding(content)
        if encoding is not None:
            fill: Any = _Recoded(content, encoding, piped).readinto
        else:
            fill = partial(_come, content) if piped else content.readinto  # type: ignore[attr-defined]
        while True:
            block = bytearray(len(rest) + size)
            block[: len(rest)] = rest
            try:
                with _decompressing(owner, path):
                    more = fill(memoryview(block)[len(rest) :])
            except UnicodeError as error:
                raise InputError(
                    f"{path} is not in {encoding}; give another {argument('encoding')}.", owner=owner
                ) from error
            if report is not None and file.seekable():
                report(file.tell())
            if not more:
                break
            full = len(rest) + more
            end = block.rfind(b"\n", len(rest), full) + 1
            rest = bytes(memoryview(block)[end:full])
            if end:
                yield memoryview(block)[_marked(block) if first else 0 : end]
                first = False
    if rest:
        last = bytearray(rest + b"\n")  # of the same type as the others, so that one compiled step serves all
        yield memoryview(last)[_marked(last) if first else 0 :]


@contextlib.contextmanager
def _decompressing(owner: str, path: Any) -> Iterator[None]:
    """Inside, content that cannot be decompressed is refused."""
    try:
        yield
    except UnicodeError:
        raise
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"cannot decompress {path}: {str(error).rstrip('.')}.", owner=owner) from error


def _marked_encoding(content: Any) -> str | None:
    """UTF-16 where content begins with its byte order mark."""
    return "utf-16" if content.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else None


def _come(content: Any, buffer: memoryview) -> int:
    """Write the bytes that a pipe has to a buffer; ``readinto1`` would wait for more after a peek."""
    found = content.read1(len(buffer))
    buffer[: len(found)] = found
    return len(found)


def _marked(block: bytearray) -> int:
    """Number of bytes of the byte order mark, or 0."""
    return len(codecs.BOM_UTF8) if block.startswith(codecs.BOM_UTF8) else 0


def parsed_in_order(parse: Callable[[S], T], blocks: Generator[S], wait: bool = True) -> Generator[T]:
    """The results of parsing blocks, in their order: on all cores, a few blocks ahead; one by one unless ``wait``."""
    ahead = (os.cpu_count() or 1) + 1 if wait else 0
    pool, waiting = ThreadPoolExecutor(os.cpu_count()), deque[Future[T]]()
    with contextlib.closing(blocks):
        try:
            for block in blocks:
                waiting.append(pool.submit(parse, block))
                if len(waiting) > ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            # Not ``shutdown(wait=True)``: where this is not read to its end, it may be closed by the garbage collector
            # in a thread that is just starting, which holds a lock that the end of any other thread needs.
            futures.wait([found for found in waiting if not found.cancel()])
            pool.shutdown(wait=False)


def one_sentence(error: BaseException) -> str:
    """The message of another library's error, as one sentence without its full stop."""
    message = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    return message.split(". ")[0]


def shortened(name: Any) -> str:
    """A name in quotes; the beginning of one that is long, as where a file is not a table."""
    is_long = isinstance(name, str) and len(name) > _LONGEST_NAME
    return repr(f"{name[: _LONGEST_NAME - 4]} ..." if is_long else name)


def listed(names: list[str]) -> str:
    """Names of columns, the first dozen of them."""
    return ", ".join(map(shortened, names[:12])) + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def nearest(name: Any, known: Iterable[Any]) -> Any:
    """The known name nearest to one that is not known, or None."""
    by_spelling = {str(each).strip().casefold(): each for each in known}
    near = difflib.get_close_matches(str(name).strip().casefold(), list(by_spelling), 1)
    return by_spelling[near[0]] if near else None


def perhaps(name: Any, known: Iterable[Any]) -> str:
    """A hint at the nearest known name, for the middle of a sentence; empty without any."""
    near = nearest(name, known)
    return "" if near is None else f", perhaps {near!r}"
