"""The buffer into which ``ask`` and ``tell`` copy their instance, at an address that compiled rounds read from."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compiled.frames import lend, new_frame
from ...compiled.steps import borrow, entry, entry_point
from ...linalg.rows import DenseRows, Row, SparseRow, SparseRows, example_rows, row

_FIRST_CAPACITY = 64


@entry
def copy_in_order(address: Any, x: Any, d: int) -> Any:
    """Copy a sparse row to the rows at an address, whose arrays are long enough, as the first of them.

    Returns whether it stays within its arrays, and its indices increase and stay below d.
    """
    (rows,) = lend(address)
    x = borrow(x)
    n = x.stop - x.start
    if x.start < 0 or n < 0 or x.stop > min(len(x.data), len(x.indices)):
        return False
    data, indices = x.data[x.start : x.stop], x.indices[x.start : x.stop]
    last = np.int64(-1)
    for j in range(n):
        i = np.int64(indices[j])
        if i <= last:
            return False
        rows.data[j] = data[j]
        rows.indices[j] = i
        last = i
    rows.indptr[1] = n
    return last < d


class LiveRow:
    """Memory for one instance of d features; ``address`` is passed to compiled rounds."""

    def __init__(self, d: int, sparse: bool) -> None:
        self._d = d
        dense = np.empty((1, 0 if sparse else d))
        self.row: Any = None if sparse else dense[0]
        self._frame = self._framed(_FIRST_CAPACITY) if sparse else new_frame(DenseRows(dense))[0]
        self.address = self._frame[1]
        self._stored: Any = None  # the sparse instance that is in the buffer, where that is known
        if sparse:
            kind = new_frame(self._rows)[1]
            self._copy = entry_point(copy_in_order, kind, row(example_rows(sparse), 0), d)

    def _framed(self, capacity: int) -> Any:
        self._rows = SparseRows(np.empty(capacity), np.empty(capacity, np.uint32), np.zeros(2, np.int64), self._d)
        return new_frame(self._rows)[0]

    def buffer(self, n: int) -> SparseRow:
        """Memory for a sparse instance of n entries, to be written to."""
        self._stored = None
        if n > len(self._rows.data):
            self._frame = self._framed(2 * n)
            self.address = self._frame[1]
        data, indices, indptr, _ = self._rows
        indptr[1] = n
        return SparseRow(data, indices, 0, n)

    def store(self, x: SparseRow) -> bool:
        """Copy a sparse instance into the buffer, unless its indices must be put in order first: whether it is there.

        ``take`` need not copy it again.
        """
        n = x.stop - x.start
        if n > len(self._rows.data):
            self.buffer(n)
        self._stored = x if self._copy(self.address, x, self._d) else None
        return self._stored is not None

    def take(self, x: Row) -> int:
        """Copy an instance into the buffer, and return the address of the buffer."""
        if self.row is not None:
            self.row[...] = x
        elif x is not self._stored and isinstance(x, SparseRow):
            data, indices, start, stop = x
            here = self.buffer(stop - start)
            here.data[: here.stop], here.indices[: here.stop] = data[start:stop], indices[start:stop]
        return self.address
