"""Recognises whether a file is the one that a saved sampler has played, so that a resumed run skips exactly its rows.

The identity of a file is its size and a digest of its first and last megabyte. A file that has grown since still
begins with what was played, so it counts as the same one, with new rows at its end.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

_END = 1 << 20


def identity(path: str) -> dict[str, Any] | None:
    """The identity of a file; None for a pipe or anything else that cannot be read twice."""
    if not Path(path).is_file():
        return None
    size = Path(path).stat().st_size
    return {"size": size, "digest": _digest(path, size)}


def begins_with(path: str, known: Any) -> bool:
    """Whether a file is the one of this identity, or that one with something added at its end."""
    size = known.get("size") if isinstance(known, dict) else None
    if type(size) is not int or not Path(path).is_file() or Path(path).stat().st_size < size:
        return False
    return bool(_digest(path, size) == known.get("digest"))


def _digest(path: str, size: int) -> str:
    with Path(path).open("rb") as file:
        digest = hashlib.sha256(file.read(min(size, _END)))
        file.seek(max(size - _END, 0))
        digest.update(file.read(min(size, _END)))
    return digest.hexdigest()
