"""What a called adviser has said so far: in memory, and in a file of JSON lines where there is one.

A line is ``{"item": FINGERPRINT, "said": ...}`` with a label, ``[label, confidence]``, ``{"probabilities": [[label, p],
...]}``, or null for no answer. The last line is cut off if the process died while it was written.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError


class CallLog:
    """Answers by the fingerprint of their item.

    Parameters
    ----------
    path : path, optional
        The file; without one, answers are remembered as long as this object lives.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = None if path is None else Path(path)
        self._known: dict[str, Any] = {}
        if self._path is not None and self._path.exists():
            self._read(self._path)

    def find(self, item: Any) -> tuple[str, bool, Any]:
        """The fingerprint of an item, whether an answer is known, and the answer."""
        mark = fingerprint(item)
        if mark is None:
            if self._path is not None:
                raise InputError(
                    f"an item must be a text, a number, an array, or a list or dict of these, so that the log can "
                    f"recognise it, got {type(item).__name__}; give the adviser about(items).",
                    owner="Called",
                )
            return "", False, None
        return mark, mark in self._known, self._known.get(mark)

    def add(self, mark: str, said: Any) -> Any:
        """Remember an answer, and write it to the file; return it as it will be found."""
        if not mark:
            return said
        if self._path is not None:
            line, said = _line_of(mark, said)
            try:
                with self._path.open("ab") as file:
                    file.write(line)
            except OSError as error:
                raise InputError(f"cannot write {self._path}: {error.strerror}.", owner="Called") from error
        self._known[mark] = said
        return said

    def _read(self, path: Path) -> None:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}.", owner="Called") from error
        whole = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:whole].splitlines(), 1):
            try:
                found = json.loads(line)
                self._known[str(found["item"])] = _said_in(found["said"])
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(
                    f"line {number} of {path} is not an answer of an adviser; was the file changed?",
                    owner="Called",
                    line=number,
                ) from error
        if whole < len(data):  # written by a process that died: that answer is not known
            with path.open("r+b") as file:
                file.truncate(whole)


def _line_of(mark: str, said: Any) -> tuple[bytes, Any]:
    """A line of the file, and the answer as it will be read from there; what is not JSON is no answer."""
    if isinstance(said, Mapping):
        said = {"probabilities": [[_number(label), _number(p)] for label, p in said.items()]}
    elif isinstance(said, tuple):
        said = [_number(each) for each in said]
    try:
        text = json.dumps({"item": mark, "said": _number(said)}, ensure_ascii=False)
    except (TypeError, ValueError):
        text = json.dumps({"item": mark, "said": None})
    return text.encode("utf-8", "surrogatepass") + b"\n", _said_in(json.loads(text)["said"])


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _said_in(value: Any) -> Any:
    """An answer as ``ask`` takes it."""
    if isinstance(value, dict):
        return dict(value["probabilities"])
    return tuple(value) if isinstance(value, list) else value


def fingerprint(item: Any) -> str | None:
    """A short text that is equal for equal items; None where they cannot be compared."""
    digest = hashlib.sha256()
    if not _feed(digest, item):
        return None
    return digest.hexdigest()[:32]


def _feed(digest: Any, item: Any) -> bool:
    """Add an item to a digest; False if it is of another kind."""
    if isinstance(item, (str, bytes, int, float, bool, type(None))):
        digest.update(f"{type(item).__name__} {item!r};".encode("utf-8", "surrogatepass"))
        return True
    if isinstance(item, np.ndarray) and item.dtype.kind in "biufUS":
        digest.update(f"array {item.dtype.str} {item.shape};".encode())
        digest.update(np.ascontiguousarray(item).tobytes())
        return True
    if sp.issparse(item):
        row = item.tocsr()
        return all(_feed(digest, part) for part in (row.data, row.indices.astype(np.int64), list(row.shape)))
    if isinstance(item, Mapping):
        digest.update(f"dict {len(item)};".encode())
        return all(_feed(digest, name) and _feed(digest, item[name]) for name in sorted(item, key=str))
    if isinstance(item, (list, tuple)):
        digest.update(f"list {len(item)};".encode())
        return all(_feed(digest, each) for each in item)
    return False
