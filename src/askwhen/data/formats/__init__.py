"""The formats of files: each module here says which suffixes are its own, and how a file becomes chunks of instances.

A new format is one new module with ``SUFFIXES`` and ``READERS``; nothing else has to be changed.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable, Generator
from pathlib import Path

from ...errors import InputError, argument
from ..files import COMPRESSED
from ..read_request import Chunk, Request

_MODULES = [importlib.import_module(f"{__name__}.{each.name}") for each in pkgutil.iter_modules(__path__)]

FORMATS: dict[str, str] = {suffix: name for module in _MODULES for suffix, name in module.SUFFIXES.items()}
"""What each suffix says that a file holds."""

READERS: dict[str, Callable[[Request], Generator[Chunk]]] = {
    name: reader for module in _MODULES for name, reader in module.READERS.items()
}
"""How a file of each format is read."""


def _by_name(path: str | os.PathLike[str]) -> str | None:
    """The format that the name of a file says, or None."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return FORMATS.get(suffixes[-1] if suffixes else "")


def is_known(path: str | os.PathLike[str]) -> bool:
    """Whether the name of a file says its format."""
    return _by_name(path) is not None


def format_of(path: str | os.PathLike[str], format: str | None) -> str:
    """The format of a file: the one that was given, or the one that its name says."""
    found = _by_name(path) if format is None else format
    if found is None:
        listed = ", ".join(sorted(READERS))
        raise InputError(
            f"what is in {path} cannot be told from its name; give {argument('format')}, one of {listed}.", owner="read"
        )
    return found


def chunks_of(request: Request) -> Generator[Chunk]:
    """The chunks of a file."""
    return READERS[request.format](request)
