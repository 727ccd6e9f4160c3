"""Answers that wait to be sent, in a small file: on the disk before they are sent, and until the service has them.

A line is an answer with the key that makes it count once, or a note that an earlier one need not be sent any more.
Every process has its own file, which it keeps locked; the next process takes over the file of one that was killed.
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
from ..system.atomic_file import open_locked, sync_folder, try_lock, whole_file
from .messages import Label

_SUFFIX, _HOLD = ".outbox", ".hold"
_DEVICE_BYTES = 8
"""Random bytes of the name of a device: enough to be unique."""


class Entry(NamedTuple):
    """An answer or a skip; its fields are the keys of a line of the file.

    ``act`` is "answer" or "skip"; an answer without a label is unsure. ``opened`` is when the question was opened, by
    which it differs from a question with the same number of another stream with the same name. ``found`` is whether an
    earlier process left it.
    """

    key: str
    stream: str
    question: int
    act: str
    label: Label | None = None
    lead: float | None = None
    annotator: str | None = None
    opened: float | None = None
    found: bool = False


def default_folder() -> Path:
    """The default directory of outboxes."""
    home = os.environ.get("XDG_STATE_HOME") or str(Path("~/.local/state").expanduser())
    return Path(home) / "askwhen"


class Outbox:
    """The answers of a person that a service does not have yet.

    Parameters
    ----------
    folder : path
        Directory, made if it is missing and private to the user.
    place : str
        Identifies the service and the annotator: processes with the same place take over from each other.

    Attributes
    ----------
    path : Path
        The file.
    waiting : list of Entry
        Entries to be sent, oldest first; those that earlier processes left come before all others.
    aside : list of Entry
        Entries that cannot be sent now, and stay for a later process.
    device : str
        Random name of this directory, by which the service tells the machines of a person apart.
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
            file = open_locked(self.path)
            assert file is not None, "the name is random, so that no other process has it"
            self._file = file
            self.path.chmod(0o600)
            sync_folder(self._folder)
            self.device = self._known_device()
            self._take_over()
        except OSError as error:
            raise InputError(f"cannot store answers in {folder}: {error.strerror}.", owner="label") from error

    def _known_device(self) -> str:
        """The name of this directory, which the first process has stored here."""
        path = self._folder / f"{self._place}.device"
        found = path.read_text() if path.exists() else ""
        if len(found) != 2 * _DEVICE_BYTES:
            found = secrets.token_hex(_DEVICE_BYTES)
            with whole_file(path) as file:
                file.write(found.encode())
        return found

    def _others(self) -> list[Path]:
        return sorted(path for path in self._folder.glob(f"{self._place}.*{_SUFFIX}") if path != self.path)

    def _take_over(self) -> None:
        """Take over the files of processes that have ended.

        A crash in between leaves an answer in two files, and its key makes it count once.
        """
        for path in self._others():
            file = open_locked(path)
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
                if try_lock(held):
                    path.unlink()

    @property
    def is_alone(self) -> bool:
        """Whether no other process of this person is connected to this service."""
        for path in self._others():
            with contextlib.suppress(OSError), path.open("rb") as file:
                if not try_lock(file):
                    return False
        return True

    def add(self, entry: Entry) -> None:
        """Store an answer; it survives a crash once this returns."""
        self._write(entry._asdict(), sync=True)
        self.waiting.append(entry)

    def done(self, key: str, sync: bool = False) -> None:
        """Do not send an answer again: the service has it or refused it, or it was taken back.

        After a crash that loses this note the answer is sent once more, which its key makes harmless; only what was
        taken back must be synced.
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
            raise InputError(f"cannot store an answer in {self.path}: {error.strerror}.", owner="label") from error

    def hold(self, stream: str, question: int) -> bool:
        """Reserve a question for this process until ``let_go``; False if another process of this person has it.

        The service does not tell the terminals of one person apart.
        """
        if (stream, question) in self._holds:
            return True
        file = open_locked(self._folder / f"{self._place}.{stream}.{question}{_HOLD}")
        if file is None:
            return False
        self._holds[stream, question] = file
        return True

    def let_go(self, stream: str, question: int) -> None:
        """Release a question that ``hold`` has reserved."""
        file = self._holds.pop((stream, question), None)
        if file is not None:
            Path(file.name).unlink(missing_ok=True)
            file.close()

    def close(self) -> None:
        """Release everything; the file stays if something is left to be sent."""
        for place in list(self._holds):
            self.let_go(*place)
        if not (self.waiting or self.aside):
            self.path.unlink(missing_ok=True)
        self._file.close()


def _entries(content: bytes) -> list[Entry]:
    """The entries that are left to be sent.

    An incomplete last line is ignored: ``add`` had not returned, so that the answer was never reported as safe.
    """
    found: dict[str, Entry] = {}
    for line in content.split(b"\n")[:-1]:
        with contextlib.suppress(ValueError, TypeError, KeyError):
            fields = json.loads(line)
            if "done" in fields:
                found.pop(fields["done"], None)
            else:
                found[fields["key"]] = Entry(**fields)
    return list(found.values())
