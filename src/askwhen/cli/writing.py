"""Where results are written to, checked before any work is done."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import InputError


def check_writable(path: str) -> None:
    """Refuse a path that cannot be written."""
    folder = Path(path).resolve().parent
    if not folder.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {folder}.")
    if not os.access(path if Path(path).exists() else folder, os.W_OK):
        raise InputError(f"cannot write {path}: permission denied.")


def free_name(name: str, suffix: str) -> str:
    """A name for a file that nobody named, which no file has."""
    stem = name.split(".")[0].replace(" ", "-") or "stream"
    tried = (f"{stem}{number}{suffix}" for number in ("", *(f"-{k}" for k in range(2, 10_000))))
    return next(path for path in tried if not Path(path).exists())
