"""A directory as a log: a partition is a file, or a directory of files that follow each other by name.

Files are NDJSON, to which lines may be appended while they are read, or Parquet, which are complete when they appear. A
position is the name of a file and how far it was read: bytes of NDJSON, rows of Parquet. A line counts once it has its
newline, since a writer may still be writing it; if another file follows, the last line counts without one.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, BinaryIO

from ...errors import InputError
from ...system.atomic_file import whole_file
from ..decisions import read
from ..errors import damaged
from ..events import LONGEST_EVENT, EventBatch, empty_batch, parse_lines
from ..sampler_spec import SamplerSpec
from ..stores.records import Counts
from . import parquet

LINES, TABLES = (".ndjson", ".jsonl"), (".parquet",)
_FIRST_GUESS = 512
_MOST_BYTES = 1 << 26
_WAIT = 5.0


class FolderLog:
    """The partitions of a directory."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        if not self._path.is_dir():
            raise InputError(f"{path} is not a directory of partitions.", owner="keyed")

    def partitions(self) -> list[str]:
        """The names of the partitions, in order."""
        found = self._paths()
        if not found:
            raise InputError(
                f"{self._path} has no partitions: files of NDJSON or Parquet, or directories.", owner="keyed"
            )
        return sorted(found)

    def reader(self, partition: str, spec: SamplerSpec | None) -> FolderReader:
        """The reader of a partition."""
        return FolderReader(self._paths()[partition], spec)

    def append(self, partition: str, lines: list[bytes]) -> None:
        """Add whole lines to the last file of a partition.

        If another file has appeared meanwhile, its reader may have left the last one, so that they are added again.
        """
        path, last = self._paths().get(partition), None
        if path is None:
            raise InputError(f"{self._path} has no partition {partition} to append answers to.", owner="keyed")
        while (now := _last_segment(path)) != last:
            last = now
            if last is None or last.suffix not in LINES:
                raise InputError(f"answers cannot be appended to {last or path}, which is not NDJSON.", owner="keyed")
            try:
                _append(last, b"".join(lines))
            except OSError as error:
                raise InputError(f"cannot write to {last}: {error.strerror}.", owner="keyed") from error

    def _paths(self) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for each in self._path.iterdir():
            if each.name.startswith(".") or not (each.is_dir() or each.suffix in LINES + TABLES):
                continue
            name = each.name if each.is_dir() else each.stem
            if found.setdefault(name, each) != each:
                raise InputError(f"{self._path} has {name} twice: {found[name].name} and {each.name}.", owner="keyed")
        return found


def _last_segment(path: Path) -> Path | None:
    if not path.is_dir():
        return path
    return max((each for each in path.iterdir() if each.suffix in LINES + TABLES), default=None, key=lambda it: it.name)


def _append(file: Path, content: bytes) -> None:
    """Append in one write, after a complete line: other writers append whole lines too."""
    deadline = time.monotonic() + _WAIT
    with file.open("rb+", buffering=0) as opened:
        while opened.seek(0, os.SEEK_END) and opened.seek(-1, os.SEEK_END) >= 0 and opened.read(1) != b"\n":
            if time.monotonic() > deadline:
                raise InputError(f"the last line of {file} has no end, so that nothing can follow it.", owner="keyed")
            time.sleep(0.05)
    with file.open("ab", buffering=0) as opened:
        opened.write(content)
        os.fsync(opened.fileno())


def _check_same(file: Path, opened: BinaryIO, at: int) -> None:
    """Refuse a file that was cut off or replaced: it is shorter than what was read, or no line ends there."""
    there = opened.seek(0, os.SEEK_END)
    if there < at:
        raise InputError(
            f"{file} has {there} bytes and was read up to {at}: it was cut off or replaced.", owner="keyed"
        )
    if 0 < at < there:
        opened.seek(at - 1)
        if opened.read(1) != b"\n":
            raise InputError(
                f"no line of {file} ends at {at}, up to which it was read: it was replaced.", owner="keyed"
            )


def _before_too_long(file: Path, at: int, content: bytes, lines: bytes) -> bytes:
    """The lines before the first one that is too long, which is refused if it is the first of all."""
    start = 0
    while len(content) - start > LONGEST_EVENT:
        end = content.rfind(b"\n", start, start + LONGEST_EVENT + 1) + 1
        if end == 0:
            if start == 0:
                raise InputError(
                    f"the line of {file} that begins at byte {at} has more than {LONGEST_EVENT} bytes, the most that "
                    "an event may have; remove it.",
                    owner="keyed",
                )
            return lines[:start]
        start = end
    return lines


class FolderReader:
    """Reads one partition."""

    def __init__(self, path: Path, spec: SamplerSpec | None) -> None:
        self._path, self._spec = path, spec
        self._guess = _FIRST_GUESS
        self._rows = None if spec is None else parquet.ParquetRows(spec)

    def read(self, position: str, most: int) -> tuple[EventBatch, str]:
        """At most so many events after a position, and the position after them."""
        name, _, offset = position.rpartition(":")
        segments = self._segments()
        if not (offset or "0").isdecimal():
            raise damaged("the offset of a partition in the store", position)
        at = int(offset or 0)
        if name and name not in segments:
            raise InputError(f"{self._path} has no {name} any more, which was read up to {at}.", owner="keyed")
        for i in range(segments.index(name) if name else 0, len(segments)):
            is_last, file = i + 1 == len(segments), self._file(segments[i])
            while True:
                read = at
                if file.suffix in TABLES:
                    if self._rows is None:
                        raise InputError(f"{file} is a table; instances of a feed are NDJSON.", owner="keyed")
                    batch, at = self._rows.read(file, read, most)
                else:
                    batch, at = self._lines(file, read, most, is_last)
                if batch.keys or at == read:  # otherwise these were only empty lines
                    break
            if batch.keys or is_last:
                return batch, f"{segments[i]}:{at}"
            at = 0
        return empty_batch(), position

    def _file(self, name: str) -> Path:
        found = self._path / name if self._path.is_dir() else self._path
        if found.is_fifo():
            raise InputError(
                f"{found} is a pipe, which cannot be read again from a position; write a file.", owner="keyed"
            )
        return found

    def _segments(self) -> list[str]:
        if not self._path.is_dir():
            return [self._path.name]
        return sorted(each.name for each in self._path.iterdir() if each.suffix in LINES + TABLES)

    def _lines(self, file: Path, at: int, most: int, is_last: bool) -> tuple[EventBatch, int]:
        size = min(max(most * self._guess, 1 << 16), _MOST_BYTES)
        with file.open("rb") as opened:
            _check_same(file, opened, at)
            while True:
                opened.seek(at)
                content = opened.read(size)
                is_all = len(content) < size
                end = content.rfind(b"\n") + 1
                if end or is_all or size > LONGEST_EVENT:
                    break
                size = min(2 * size, LONGEST_EVENT + 1)  # one line is longer than all that was read
        content = _before_too_long(file, at, content, content if is_all and not is_last else content[:end])
        if not content:
            return empty_batch(), at
        lines, length = content.split(b"\n", most), len(content)
        if len(lines) > most:
            length -= len(lines.pop())  # what follows the last of them
        batch = parse_lines(lines, self._spec)
        self._guess = length // max(len(batch.keys), 1) + 16
        return batch, at + length


class FolderSink:
    """Decisions in a directory for each partition: files named after the number of their first event.

    A file is written atomically and holds the decisions of one commit, so that writing it again changes nothing.
    """

    keeps_refused = False

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        if self._path.exists() and not self._path.is_dir():
            raise InputError(f"{path} is not a directory, which decisions need.", owner="keyed")

    def begin(self, partition: str, counts: Counts, waiting: int) -> None:
        """Accept any directory: a file that is written again is the same."""

    def publish(self, partition: str, first: int, body: bytes) -> None:
        """Write what a commit decided."""
        folder = self._path / partition
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with whole_file(folder / f"{first:016d}.ndjson") as file:
                Path(file.name).chmod(0o600)  # keys may be names of people
                file.write(body)
        except OSError as error:
            raise InputError(f"cannot write to {folder}: {error.strerror}.", owner="keyed") from error

    def close(self) -> None:
        """Do nothing: no file stays open."""

    def decisions(self, partition: str) -> list[dict[str, Any]]:
        """All decisions of a partition that were written."""
        files = sorted((self._path / partition).glob("*.ndjson"))
        return [each for file in files for each in read(file.read_bytes())]
