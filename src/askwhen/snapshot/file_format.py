"""The file format of snapshots: a versioned JSON header and arrays. It stores no code, and knows no samplers.

The layout, all integers little-endian::

    8 bytes    the magic "ASKWHEN" and a zero byte
    4 bytes    format version
    8 bytes    length of the header
    header     JSON (UTF-8): {"header": ..., "arrays": [[name, dtype, shape], ...]}
    arrays     one after the other, in the header's order
    32 bytes   SHA-256 of everything before

An array is stored raw, or, where most of it is zero, as the indices and values of its nonzero entries. Its line in the
header then has a fourth entry, their number: that many indices into the flattened array follow (4 bytes each, 8 if it
has more than 2^32 entries), then as many values. A file with such an array has format 2. Other files have format 1,
which older versions can read too.

A file is written under a temporary name next to its target, flushed to the disk and renamed over it, so that a crash at
any moment leaves either the complete old file or the complete new one.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import SnapshotError
from ..system.atomic_file import whole_file
from ..system.memory import memory, readable

MAGIC = b"ASKWHEN\0"
FORMAT = 2
"""The newest format; every older one can be read."""

_LEAD = struct.Struct("<8sIQ")
_KINDS = "fiub"


def write(
    path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, np.ndarray], note: str | None = None
) -> None:
    """Write a snapshot, with an optional note in its header; a crash leaves the old file intact."""
    header = header if note is None else header | {"note": note}
    try:
        path = Path(os.path.realpath(path))
    except TypeError as error:
        raise SnapshotError(f"path must be the name of a file, got {path!r}.", owner="save") from error
    if path.exists() and not path.is_file():
        raise SnapshotError(f"cannot write {path}: it is not a regular file.", owner="save")
    content = pack(header, arrays)
    try:
        with whole_file(path) as file:
            file.write(content)
    except OSError as error:
        raise SnapshotError(f"cannot write {path}: {error.strerror}.", owner="save") from error


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a snapshot: its header, and its arrays as writeable copies."""
    try:
        content = Path(path).read_bytes()
    except TypeError as error:
        raise SnapshotError(f"path must be the name of a file, got {path!r}.", owner="load") from error
    except OSError as error:
        raise SnapshotError(f"cannot read {path}: {error.strerror}.", owner="load") from error
    return unpack(content, os.fspath(path))


def pack(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    """A snapshot as bytes."""
    listed: list[list[Any]] = []
    stored: list[bytes] = []
    for name, given in arrays.items():
        array = np.asarray(given, order="C")
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        line: list[Any] = [name, array.dtype.str, list(array.shape)]
        flat = array.reshape(-1)
        places = _not_zero(flat)
        if 2 * len(places) * (_place(flat.size).itemsize + flat.itemsize) < flat.nbytes:
            line.append(len(places))
            stored.append(places.astype(_place(flat.size)).tobytes())
            flat = flat[places]
        listed.append(line)
        stored.append(flat.tobytes())
    version = 2 if any(len(line) == 4 for line in listed) else 1
    text = json.dumps({"header": header, "arrays": listed}, allow_nan=True).encode()
    content = b"".join([_LEAD.pack(MAGIC, version, len(text)), text, *stored])
    return content + hashlib.sha256(content).digest()


def _not_zero(flat: np.ndarray) -> np.ndarray:
    """Indices of the entries with any bit set, so that -0.0 is stored, and does not become 0.0."""
    if flat.dtype.kind == "f" and flat.itemsize in (2, 4, 8):
        flat = flat.view(f"<u{flat.itemsize}")
    return np.flatnonzero(flat) if flat.dtype.kind in "iub" else np.arange(flat.size)


def _place(size: int) -> np.dtype[Any]:
    """The type of an index into an array of this size."""
    return np.dtype("<u4" if size <= 2**32 else "<u8")


def unpack(content: bytes, name: str = "the snapshot") -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays of a snapshot."""
    if len(content) < _LEAD.size or not content.startswith(MAGIC):
        raise SnapshotError(f"{name} is not an askwhen snapshot.", owner="load")
    _, version, length = _LEAD.unpack_from(content)
    if not 1 <= version <= FORMAT:
        raise SnapshotError(
            f"{name} has format {version}, and this version of askwhen reads formats 1 to {FORMAT}.", owner="load"
        )
    body, digest = content[:-32], content[-32:]
    if hashlib.sha256(body).digest() != digest:
        raise SnapshotError(f"{name} is truncated or was altered: its checksum does not match.", owner="load")
    try:
        text = json.loads(body[_LEAD.size : _LEAD.size + length])
        if not isinstance(text["header"], dict):
            raise TypeError("its header is not a JSON object")
        return text["header"], _arrays(body, _LEAD.size + length, text["arrays"])
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise SnapshotError(f"{name} has a header that cannot be read ({error}).", owner="load") from error


def _arrays(body: bytes, offset: int, listed: list[Any]) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    total = 0
    for name, dtype, shape, *count in listed:
        kind = np.dtype(dtype)
        if kind.kind not in _KINDS or not isinstance(name, str) or name in arrays:
            raise ValueError(f"an array {name!r} of type {dtype}")
        if not all(type(length) is int and length >= 0 for length in (*shape, *count)) or len(count) > 1:
            raise ValueError(f"an array {name!r} of shape {shape}")
        size = math.prod(shape)
        total += size * kind.itemsize
        if total > memory():
            raise ValueError(f"its arrays need {readable(total)}, more memory than there is")
        if count:
            array, offset = _scattered(body, offset, kind, size, *count)
        else:
            array, offset = _raw(body, offset, kind, size)
        if kind.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
            raise ValueError(f"an array {name!r} with something else than True and False")
        arrays[name] = array.reshape(shape)
    if offset != len(body):
        raise ValueError("more or fewer bytes than its arrays need")
    return arrays


def _raw(body: bytes, offset: int, kind: np.dtype[Any], size: int) -> tuple[np.ndarray, int]:
    """The next ``size`` numbers, as a copy, and the offset after them."""
    found = np.frombuffer(body, kind, size, offset) if size else np.zeros(0, kind)
    return found.astype(kind.newbyteorder("="), copy=True), offset + size * kind.itemsize


def _scattered(body: bytes, offset: int, kind: np.dtype[Any], size: int, count: int) -> tuple[np.ndarray, int]:
    """An array that is stored by its nonzero entries, and the offset after it."""
    places, offset = _raw(body, offset, _place(size), count)
    values, offset = _raw(body, offset, kind, count)
    if count and (places[-1] >= size or (places[1:] <= places[:-1]).any()):
        raise ValueError("indices outside of an array or out of order")
    array = np.zeros(size, values.dtype)
    array[places] = values
    return array, offset
