"""Instances as bytes, exactly as they were predicted on, and back."""

from __future__ import annotations

import struct
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import StoreError

_SPARSE = struct.Struct("<cIQ")
_DENSE = b"d"
_LITTLE = sys.byteorder == "little"


def to_bytes(x: Any) -> bytes:
    """Encode an instance: one byte for the layout (dense or sparse), then the numbers, little-endian."""
    if isinstance(x, np.ndarray):
        return _DENSE + (x if _LITTLE else x.astype("<f8")).tobytes()
    indices, data = x.indices.astype("<u4", copy=False), x.data.astype("<f8", copy=False)
    return b"".join([_SPARSE.pack(b"s", len(data), x.shape[1]), indices.tobytes(), data.tobytes()])


def from_bytes(content: bytes | None) -> Any:
    """Decode an instance; refused where its content was erased."""
    if content is None:
        raise StoreError("the content of the instance was erased.", owner="serve")
    if content[:1] == _DENSE:
        return np.frombuffer(content, "<f8", offset=1).astype(np.float64)
    _, n, d = _SPARSE.unpack_from(content)
    at = _SPARSE.size
    indices = np.frombuffer(content, "<u4", n, at).astype(np.int32)
    data = np.frombuffer(content, "<f8", n, at + 4 * n).astype(np.float64)
    return sp.csr_matrix((data, indices, np.array([0, n], np.int32)), (1, d))


def stacked(instances: Sequence[Any]) -> Any:
    """Instances of one layout and width as one matrix."""
    if isinstance(instances[0], np.ndarray):
        return np.stack(instances)
    ends = np.cumsum([0, *(x.indptr[-1] for x in instances)])
    data = np.concatenate([x.data for x in instances])
    indices = np.concatenate([x.indices for x in instances])
    return sp.csr_matrix((data, indices, ends), (len(instances), instances[0].shape[1]))
