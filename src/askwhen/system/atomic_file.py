"""Files that are written atomically: to a temporary file in the same directory, synced, and then renamed.

A crash, a full disk or a second writer at any moment leaves either the old file or the new one, never a part of it.
"""

from __future__ import annotations

import contextlib
import glob
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # not on every system; there, files are not locked
    fcntl = None  # type: ignore[assignment]


_STALE_AFTER = 86400.0


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which replaces ``path`` once the block has ended without an error.

    Raises OSError if it cannot be written; the old file is unchanged then.
    """
    target = Path(os.path.realpath(os.fsdecode(path)))  # through a link, so that the link stays one
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    _remove_stale(target)
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(OSError):
            temporary.chmod(target.stat().st_mode)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def _remove_stale(target: Path) -> None:
    """Remove temporary files that writers of the same file left when they were killed, a day ago or more."""
    for left in target.parent.glob(f".{glob.escape(target.name)}." + 16 * "[0-9a-f]"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > _STALE_AFTER:
                left.unlink()


def sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system allows it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def try_lock(file: BinaryIO) -> bool:
    """Lock this open file until it is closed; False if another process has locked it already."""
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True


def open_locked(path: str | os.PathLike[str], mode: int = 0o666) -> BinaryIO | None:
    """Open and lock a file to read and append, made with a mode if it is missing; None if another process has it."""
    while True:
        file: BinaryIO = open(path, "a+b", opener=lambda name, flags: os.open(name, flags, mode))  # noqa: SIM115
        if not try_lock(file):
            file.close()
            return None
        with contextlib.suppress(OSError):
            if os.path.sameopenfile(file.fileno(), (there := os.open(path, os.O_RDONLY))):
                os.close(there)
                return file
            os.close(there)
        file.close()  # its last owner has removed it between our opening and our locking it, so that we try again
