"""Finds the source files that compiled steps depend on, and a hash that names this version of them.

A source counts if it contains a step, or if one that does imports it, directly or indirectly: steps take constants and
other steps from there. Nothing else counts, so that a change elsewhere causes no compilation, and no list has to be
maintained when a file is added or moved.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

UNNAMED = "unnamed"
"""The version of a class that no other process can import, such as one that was defined in a notebook."""

_COMPILED = rb"^@(step|apart|by_address|entry)\b|^@\w+\.of\(|\bFamily\(|\b(intrinsic|lower_builtin)\b"
_STEP = re.compile(_COMPILED, re.MULTILINE)
_IMPORT = re.compile(rb"^\s*from\s+(\.+)([\w.]*)\s+import\s+(\([^)]*\)|[^\n]*)", re.MULTILINE)


def source_hash(package: Path, *more: str) -> str:
    """A short name that changes whenever a source of the steps in this package does, or one of the other texts."""
    digest = hashlib.sha256("\n".join(more).encode())
    for path in sorted(step_sources(package)):
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def outside_version(kind: type) -> str:
    """A short name that changes with the package that this class comes from; empty for a class of ours.

    All sources of that package count: a step may take constants and other steps from any of them.
    """
    top = kind.__module__.partition(".")[0]
    if top == __name__.partition(".")[0]:
        return ""
    module = sys.modules.get(top)
    root = Path(getattr(module, "__file__", None) or "")
    if top == "__main__" or not root.is_file():
        return UNNAMED
    files = sorted(root.parent.rglob("*.py")) if root.name == "__init__.py" else sorted(_beside(root))
    digest = hashlib.sha256(kind.__module__.encode())
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _beside(path: Path) -> set[Path]:
    """A module outside any package, and those in the same folder that it imports, directly or indirectly."""
    found, waiting = {path}, [path]
    while waiting:
        for name in re.findall(rb"^\s*(?:from|import)\s+(\w+)", waiting.pop().read_bytes(), re.MULTILINE):
            other = path.with_name(f"{name.decode()}.py")
            if other.is_file() and other not in found:
                found.add(other)
                waiting.append(other)
    return found


def step_sources(package: Path) -> set[Path]:
    """The files of this package that compiled steps depend on."""
    texts = {path: path.read_bytes() for path in package.rglob("*.py")}
    found = {path for path, text in texts.items() if _STEP.search(text)}
    waiting = list(found)
    while waiting:
        here = waiting.pop()
        for other in _imported(here, texts[here]):
            if other in texts and other not in found:
                found.add(other)
                waiting.append(other)
    return found


def _imported(path: Path, text: bytes) -> Iterator[Path]:
    """The files that relative imports in this one may mean."""
    for dots, module, names in _IMPORT.findall(text):
        folder = path.parents[len(dots) - 1].joinpath(*module.decode().split(".")) if module else None
        base = path.parents[len(dots) - 1] if folder is None else folder
        yield base.with_suffix(".py")
        yield base / "__init__.py"
        for name in re.findall(rb"\w+", names):
            yield base / f"{name.decode()}.py"
            yield base / name.decode() / "__init__.py"
