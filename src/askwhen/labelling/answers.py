"""Storage of answers: the protocol of a store, and a CSV file that is one."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

from ..errors import InputError
from ..system.atomic_file import try_lock

_HEADER = ["row", "label", "probability", "time", "record"]


class StoredAnswer(NamedTuple):
    """A row, counted from 0, the label it was given (empty if it was skipped), and the fingerprint of its record."""

    row: int
    label: str
    record: str = ""


class AnswerStore(Protocol):
    """Stores answers: a file, or a table in the database of a service."""

    @property
    def name(self) -> str:
        """The name of this store, for messages."""
        ...

    @property
    def given(self) -> Sequence[StoredAnswer]:
        """All answers in the order they were given, those of earlier sessions first."""
        ...

    def add(self, answer: StoredAnswer, probability: float) -> None:
        """Store one more answer; it must survive a crash once this returns."""
        ...

    def undo(self) -> StoredAnswer:
        """Remove the last answer and return it."""
        ...

    def close(self) -> None:
        """Release the store; nothing is added afterwards."""
        ...


class Answers:
    """A CSV file of answers, one on each line; an answer is on the disk before :meth:`add` returns.

    Parameters
    ----------
    path : str or path
        The file; it is created if it does not exist, and a line that a crash left unfinished is removed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.name = str(self.path)
        self.given: list[StoredAnswer] = []
        try:
            self._file = self.path.open("a+b")
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}.", owner="label") from error
        try:
            self._begin()
        except BaseException:
            self._file.close()
            raise

    def _begin(self) -> None:
        self._lock()
        self._file.seek(0)
        content = self._file.read()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            self._file.truncate(len(whole))
        if whole:
            self._parse(whole)
        else:
            self._append(_HEADER)

    def _lock(self) -> None:
        if not try_lock(self._file):
            raise InputError(f"{self.path} is open elsewhere; two cannot write to it at once.", owner="label")

    def _parse(self, content: bytes) -> None:
        lines = csv.reader(io.StringIO(content.decode("utf-8", "replace"), newline=""))
        for number, line in enumerate(lines, 1):
            if number == 1 and line[:2] == _HEADER[:2]:
                continue
            if number == 1 or len(line) < 2 or not line[0].isdecimal():
                raise InputError(
                    f"{self.path}, line {number}, is not an answer; it must be a row and a label.", owner="label"
                )
            self.given.append(StoredAnswer(int(line[0]), line[1], line[4] if len(line) > 4 else ""))

    def _append(self, line: list[Any]) -> None:
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerow(line)
        self._file.write(text.getvalue().encode())
        self._file.flush()
        os.fsync(self._file.fileno())

    def add(self, answer: StoredAnswer, probability: float) -> None:
        """Add an answer; it is on the disk when this returns."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._append([answer.row, answer.label, f"{probability:.6g}", now, answer.record])
        self.given.append(answer)

    def undo(self) -> StoredAnswer:
        """Remove the last answer and return it."""
        self._file.seek(0)
        lines = self._file.read().splitlines(keepends=True)
        self._file.truncate(sum(len(line) for line in lines[:-1]))
        os.fsync(self._file.fileno())
        return self.given.pop()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def digest_of(record: dict[str, Any]) -> str:
    """Fingerprint of a record, by which a changed file is noticed."""
    return hashlib.sha256(json.dumps(record, sort_keys=True, default=str).encode()).hexdigest()[:12]
