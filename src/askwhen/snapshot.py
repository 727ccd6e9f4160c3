"""Arrays and a versioned header in one file. Knows no classes; holds no code.

The layout, all integers little-endian::

    8 bytes    the magic "ASKWHEN" and a zero byte
    4 bytes    format version
    8 bytes    length of the header
    header     JSON (UTF-8): {"header": ..., "arrays": [[name, dtype, shape], ...]}
    arrays     raw, one after the other, in the header's order
    32 bytes   SHA-256 of everything before

A file is written beside its target, flushed to the disk and renamed over it, so that a crash at any moment leaves
either the old file or the new one, whole.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import secrets
import struct
from pathlib import Path
from typing import Any

import numpy as np

from .errors import SnapshotError

MAGIC = b"ASKWHEN\0"
FORMAT = 1
_LEAD = struct.Struct("<8sIQ")
_KINDS = "fiub"


def write(
    path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, np.ndarray], note: str | None = None
) -> None:
    """Write a snapshot so that a crash leaves the old file whole; a note stands beside what is saved."""
    header = header if note is None else header | {"note": note}
    try:
        path = Path(os.path.realpath(path))  # through a link, so that the link stays one
    except TypeError as error:
        raise SnapshotError(f"save: path must be the name of a file, got {path!r}.") from error
    if path.exists() and not path.is_file():
        raise SnapshotError(f"save: cannot write {path}: it is no regular file.")
    content = pack(header, arrays)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(OSError):
            os.chmod(temporary, os.stat(path).st_mode)
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise SnapshotError(f"save: cannot write {path}: {error.strerror}.") from error
    _flush_folder(path.parent)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a snapshot: its header, and its arrays as copies of their own."""
    try:
        content = Path(path).read_bytes()
    except TypeError as error:
        raise SnapshotError(f"load: path must be the name of a file, got {path!r}.") from error
    except OSError as error:
        raise SnapshotError(f"load: cannot read {path}: {error.strerror}.") from error
    return unpack(content, os.fspath(path))


def pack(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    """A snapshot as bytes."""
    plain = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    plain = {name: array.astype(array.dtype.newbyteorder("<"), copy=False) for name, array in plain.items()}
    listed = [[name, array.dtype.str, list(array.shape)] for name, array in plain.items()]
    text = json.dumps({"header": header, "arrays": listed}, allow_nan=True).encode()
    parts = [_LEAD.pack(MAGIC, FORMAT, len(text)), text, *(array.tobytes() for array in plain.values())]
    content = b"".join(parts)
    return content + hashlib.sha256(content).digest()


def unpack(content: bytes, name: str = "the snapshot") -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays of a snapshot."""
    if len(content) < _LEAD.size or not content.startswith(MAGIC):
        raise SnapshotError(f"load: {name} is not an askwhen snapshot.")
    _, version, length = _LEAD.unpack_from(content)
    if version != FORMAT:
        raise SnapshotError(f"load: {name} has format {version}, and this version of askwhen reads format {FORMAT}.")
    body, digest = content[:-32], content[-32:]
    if hashlib.sha256(body).digest() != digest:
        raise SnapshotError(f"load: {name} is truncated or was altered: its checksum does not match.")
    try:
        text = json.loads(body[_LEAD.size : _LEAD.size + length])
        arrays = _arrays(body, _LEAD.size + length, text["arrays"])
        return dict(text["header"]), arrays
    except (KeyError, TypeError, ValueError) as error:
        raise SnapshotError(f"load: {name} has a header that cannot be read ({error}).") from error


def _arrays(body: bytes, offset: int, listed: list[Any]) -> dict[str, np.ndarray]:
    arrays = {}
    for name, dtype, shape in listed:
        kind = np.dtype(dtype)
        if kind.kind not in _KINDS:
            raise ValueError(f"an array of type {dtype}")
        count = math.prod(shape)
        array = (np.frombuffer(body, kind, count, offset) if count else np.zeros(0, kind)).reshape(shape)
        arrays[name] = array.astype(kind.newbyteorder("="), copy=True)
        offset += count * kind.itemsize
    if offset != len(body):
        raise ValueError("more or fewer bytes than its arrays need")
    return arrays


def _flush_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system allows it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
