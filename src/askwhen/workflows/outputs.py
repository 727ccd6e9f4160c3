"""Checks of output files, made before any work is done."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import InputError, argument


def check_outputs(source: str | None, **outputs: str | None) -> None:
    """Refuse outputs that cannot be written, that are not regular files, or that overwrite the input or each other."""
    taken = {} if source in (None, "-") else {os.path.realpath(str(source)): "the input"}
    for name, path in outputs.items():
        if path is None:
            continue
        _check(path)
        real = os.path.realpath(path)
        same = next((what for known, what in taken.items() if _same(known, real)), None)
        if same is not None:
            raise InputError(f"{argument(name, path)} is {same} too; give it a name of its own.")
        taken[real] = argument(name)


def _check(path: str) -> None:
    folder = Path(path).resolve().parent
    if not folder.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {folder}.")
    if Path(path).exists() and not Path(path).is_file():
        raise InputError(f"cannot write {path}: it is not a regular file.")
    if not os.access(path if Path(path).exists() else folder, os.W_OK):
        raise InputError(f"cannot write {path}: permission denied.")


def _same(one: str, other: str) -> bool:
    return one == other or (Path(one).exists() and Path(other).exists() and Path(one).samefile(other))


def free_name(name: str, suffix: str) -> str:
    """A name for an output file, which no file has yet."""
    stem = name.split(".")[0].replace(" ", "-") or "stream"
    tried = (f"{stem}{number}{suffix}" for number in ("", *(f"-{k}" for k in range(2, 10_000))))
    return next(path for path in tried if not Path(path).exists())
