"""Answers on their way to a service, in a small file: on the disk before they are sent, and until the service has them.

A line is an answer with the key that makes it count once, or word that an earlier one needs no more sending. Every
process has a file of its own, which it keeps locked; what a process that was killed has left, the next one takes over.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ..errors import InputError
from ..system.whole_file import open_alone, sync_folder, take_lock, whole_file

_SUFFIX, _HOLD = ".outbox", ".hold"
_WORD = 8
"""Bytes that are enough for nobody else to have the same."""


class Entry(NamedTuple):
    """An answer: to a question of a stream, which was opened at a time by which it is known again.

    ``act`` is "answer" or "skip"; an answer without a label is unsure. ``found`` is whether an earlier process left it.
    """

    key: str
    stream: str
    question: int
    act: str
    label: str | None = None
    lead: float | None = None
    annotator: str | None = None
    opened: float | None = None
    found: bool = False


def default_folder() -> Path:
    """Where answers wait unless somebody says otherwise."""
    home = os.environ.get("XDG_STATE_HOME") or str(Path("~/.local/state").expanduser())
    return Path(home) / "askwhen"


class Outbox:
    """The answers of a person for a service that it does not have yet.

    Parameters
    ----------
    folder : path
        Is made if it is not there; nobody else may look into it.
    place : str
        Which service, and who answers: processes with the same take over from each other.

    Attributes
    ----------
    path : Path
        The file.
    waiting : list of Entry
        What is to be sent, oldest first; what earlier processes left comes before anything else.
    aside : list of Entry
        What cannot be sent now, and stays for a later process.
    device : str
        A word for this folder, by which the service tells the machines of a person from each other.
    """

    def __init__(self, folder: str | os.PathLike[str], place: str) -> None:
        self._folder = Path(folder)
        self._place = hashlib.sha256(place.encode()).hexdigest()[:16]
        self.waiting: list[Entry] = []
        self.aside: list[Entry] = []
        self._holds: dict[tuple[str, int], BinaryIO] = {}
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path = self._folder / f"{self._place}.{secrets.token_hex(8)}{_SUFFIX}"
            file = open_alone(self.path)
            assert file is not None, "nobody else has this name"
            self._file = file
            self.path.chmod(0o600)
            sync_folder(self._folder)
            self.device = self._known_device()
            self._take_over()
        except OSError as error:
            raise InputError(f"cannot keep answers in {folder}: {error.strerror}.", owner="label") from error

    def _known_device(self) -> str:
        """The word that the first process has left here."""
        path = self._folder / f"{self._place}.device"
        found = path.read_text() if path.exists() else ""
        if len(found) != 2 * _WORD:
            found = secrets.token_hex(_WORD)
            with whole_file(path) as file:
                file.write(found.encode())
        return found

    def _others(self) -> list[Path]:
        return sorted(path for path in self._folder.glob(f"{self._place}.*{_SUFFIX}") if path != self.path)

    def _take_over(self) -> None:
        """Take what processes left that are no more; a crash in between leaves it twice, and its keys count once."""
        for path in self._others():
            file = open_alone(path)
            if file is None:
                continue
            with file:
                file.seek(0)
                left = [entry._replace(found=True) for entry in _entries(file.read())]
                for entry in left:
                    self.add(entry)
                path.unlink()
        for path in self._folder.glob(f"{self._place}.*{_HOLD}"):
            with contextlib.suppress(OSError), path.open("rb") as held:
                if take_lock(held):
                    path.unlink()

    @property
    def is_alone(self) -> bool:
        """Whether no other process of this person is at this service."""
        for path in self._others():
            with contextlib.suppress(OSError), path.open("rb") as file:
                if not take_lock(file):
                    return False
        return True

    def add(self, entry: Entry) -> None:
        """Keep an answer; it survives a crash once this returns."""
        self._write(entry._asdict(), sync=True)
        self.waiting.append(entry)

    def done(self, key: str, sync: bool = False) -> None:
        """The service has an answer, or refused it, or it was taken back: it is not sent again.

        Where that is forgotten in a crash it is sent once more, which its key makes harmless; what was taken back must
        be synced.
        """
        self.waiting = [entry for entry in self.waiting if entry.key != key]
        with contextlib.suppress(InputError) if not sync else contextlib.nullcontext():
            self._write({"done": key}, sync)
        if not (self.waiting or self.aside or sync):
            self._file.truncate(0)

    def set_aside(self, key: str) -> None:
        """Leave an answer for a later process."""
        self.aside += [entry for entry in self.waiting if entry.key == key]
        self.waiting = [entry for entry in self.waiting if entry.key != key]

    def _write(self, line: dict[str, Any], sync: bool) -> None:
        size = self._file.seek(0, os.SEEK_END)
        try:
            self._file.write(json.dumps(line).encode() + b"\n")
            self._file.flush()
            if sync:
                os.fsync(self._file.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.truncate(size)
            raise InputError(f"cannot keep an answer in {self.path}: {error.strerror}.", owner="label") from error

    def hold(self, stream: str, question: int) -> bool:
        """Whether no other process of this person has a question in hand; then it is this one's until ``let_go``.

        The service does not tell the terminals of one person from each other.
        """
        if (stream, question) in self._holds:
            return True
        file = open_alone(self._folder / f"{self._place}.{stream}.{question}{_HOLD}")
        if file is None:
            return False
        self._holds[stream, question] = file
        return True

    def let_go(self, stream: str, question: int) -> None:
        """Have a question in hand no longer."""
        file = self._holds.pop((stream, question), None)
        if file is not None:
            Path(file.name).unlink(missing_ok=True)
            file.close()

    def close(self) -> None:
        """Give everything free; the file stays where something is left to be sent."""
        for place in list(self._holds):
            self.let_go(*place)
        if not (self.waiting or self.aside):
            self.path.unlink(missing_ok=True)
        self._file.close()


def _entries(content: bytes) -> list[Entry]:
    """What is left to be sent; a line that a crash cut off was never said to be safe."""
    found: dict[str, Entry] = {}
    for line in content.split(b"\n")[:-1]:
        with contextlib.suppress(ValueError, TypeError, KeyError):
            said = json.loads(line)
            if "done" in said:
                found.pop(said["done"], None)
            else:
                found[said["key"]] = Entry(**said)
    return list(found.values())
