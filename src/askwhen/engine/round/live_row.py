"""The buffer into which ``ask`` and ``tell`` copy their instance, at an address that compiled rounds read from."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compiled.frames import new_frame
from ...linalg.rows import DenseRows, Row, SparseRow, SparseRows

_FIRST_CAPACITY = 64


class LiveRow:
    """Memory for one instance of d features; ``address`` is passed to compiled rounds."""

    def __init__(self, d: int, sparse: bool) -> None:
        self._d = d
        dense = np.empty((1, 0 if sparse else d))
        self.row: Any = None if sparse else dense[0]
        self._frame = self._framed(_FIRST_CAPACITY) if sparse else new_frame(DenseRows(dense))[0]
        self.address = self._frame[1]

    def _framed(self, capacity: int) -> Any:
        self._rows = SparseRows(np.empty(capacity), np.empty(capacity, np.uint32), np.zeros(2, np.int64), self._d)
        return new_frame(self._rows)[0]

    def buffer(self, n: int) -> SparseRow:
        """Memory for a sparse instance of n entries, to be written to."""
        if n > len(self._rows.data):
            self._frame = self._framed(2 * n)
            self.address = self._frame[1]
        data, indices, indptr, _ = self._rows
        indptr[1] = n
        return SparseRow(data, indices, 0, n)

    def take(self, x: Row) -> int:
        """Copy an instance into the buffer, and return the address of the buffer."""
        if self.row is not None:
            self.row[:] = x
        elif isinstance(x, SparseRow):
            data, indices, start, stop = x
            here = self.buffer(stop - start)
            here.data[: here.stop], here.indices[: here.stop] = data[start:stop], indices[start:stop]
        return self.address
