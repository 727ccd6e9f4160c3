"""Instances as rows: a dense vector or a row of a CSR matrix, and many of either.

Everything that is not arithmetic and differs between dense and sparse instances is in this file.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..compiled.steps import Family, borrow, entry


class SparseRow(NamedTuple):
    """One row of a CSR matrix: entries ``start`` to ``stop`` of its arrays. Indices are unsigned."""

    data: Any
    indices: Any
    start: int
    stop: int

    def copy(self) -> SparseRow:
        """The same row in arrays of its own."""
        data, indices, start, stop = self
        if start > 0 or stop < len(data) or stop < len(indices):
            data, indices = data[start:stop], indices[start:stop]
        return tuple.__new__(SparseRow, (data.copy(), indices.copy(), 0, stop - start))  # half the time of SparseRow()


class DenseRows(NamedTuple):
    """Instances as the rows of a C-contiguous float64 matrix."""

    X: Any


class SparseRows(NamedTuple):
    """Instances as the rows of a CSR matrix with d columns. Indices are unsigned, row pointers int64 inside steps."""

    data: Any
    indices: Any
    indptr: Any
    d: int


row = Family("row")
"""row(rows, i) -> the i-th row."""

count_rows = Family("count_rows")
"""count_rows(rows) -> number of rows."""

size = Family("size")
"""size(x) -> number of entries that the row stores."""

position = Family("position")
"""position(x, j) -> the feature of the row's j-th stored entry."""

value = Family("value")
"""value(x, j) -> the row's j-th stored entry."""

beginning = Family("beginning")
"""beginning(x, width) -> the first features of a row, as a vector; a sparse row must store all of them, zeros too."""

rest = Family("rest")
"""rest(x, first, n) -> the features from ``first`` on, and the index that the first of them has there.

Of a dense row there are n; a sparse one must store all features before them, zeros too."""


@beginning.of(np.ndarray)
def _beginning_dense(x: Any, width: int) -> Any:
    return x[:width]


@beginning.of(SparseRow)
def _beginning_sparse(x: Any, width: int) -> Any:
    return x.data[x.start : min(x.start + width, x.stop)]


@rest.of(np.ndarray)
def _rest_dense(x: Any, first: int, n: int) -> Any:
    return x[first : first + n], 0


@rest.of(SparseRow)
def _rest_sparse(x: Any, first: int, n: int) -> Any:
    return SparseRow(x.data, x.indices, x.start + first, x.stop), first


@row.of(DenseRows)
def _row_dense(rows: Any, i: int) -> Any:
    return rows.X[np.uint64(i)]


@row.of(SparseRows)
def _row_sparse(rows: Any, i: int) -> Any:
    return SparseRow(rows.data, rows.indices, rows.indptr[np.uint64(i)], rows.indptr[np.uint64(i + 1)])


@count_rows.of(DenseRows)
def _count_dense(rows: Any) -> Any:
    return len(rows.X)


@count_rows.of(SparseRows)
def _count_sparse(rows: Any) -> Any:
    return len(rows.indptr) - 1


@size.of(np.ndarray)
def _size_dense(x: Any) -> Any:
    return len(x)


@size.of(SparseRow)
def _size_sparse(x: Any) -> Any:
    return x.stop - x.start


@position.of(np.ndarray)
def _position_dense(x: Any, j: int) -> Any:
    return j


@position.of(SparseRow)
def _position_sparse(x: Any, j: int) -> Any:
    return np.int64(x.indices[np.uint64(x.start + j)])


@value.of(np.ndarray)
def _value_dense(x: Any, j: int) -> Any:
    return x[j]


@value.of(SparseRow)
def _value_sparse(x: Any, j: int) -> Any:
    return x.data[np.uint64(x.start + j)]


@entry
def in_order(x: Any, d: int) -> Any:
    """Whether a sparse row stays within its arrays, and its indices increase and stay below d."""
    x = borrow(x)
    if x.start < 0 or x.start > x.stop or x.stop > min(len(x.data), len(x.indices)):
        return False
    last = np.int64(-1)
    for j in range(x.start, x.stop):
        i = np.int64(x.indices[j])
        if i <= last:
            return False
        last = i
    return last < d


Row = np.ndarray | SparseRow

Rows = DenseRows | SparseRows


def shape_of(rows: Rows) -> tuple[int, int]:
    """Number of instances, and their dimension."""
    return rows.X.shape if isinstance(rows, DenseRows) else (len(rows.indptr) - 1, rows.d)


def matrix_of(rows: Rows) -> Any:
    """The instances as an array, or as a scipy CSR matrix."""
    if isinstance(rows, DenseRows):
        return rows.X
    first, last = int(rows.indptr[0]), int(rows.indptr[-1])
    entries = (rows.data[first:last], rows.indices[first:last].astype(np.int64), rows.indptr - first)
    return sp.csr_matrix(entries, shape_of(rows))


def part_of(rows: Rows, first: int, last: int) -> Rows:
    """A view of the instances from first to last, the last excluded."""
    if isinstance(rows, DenseRows):
        return DenseRows(rows.X[first:last])
    return rows._replace(indptr=np.ascontiguousarray(rows.indptr[first : last + 1], np.int64))


def copy_rows(rows: Rows, to: Rows, n: int) -> None:
    """Write the first n rows to others of the same form that begin alike, in place."""
    if isinstance(rows, DenseRows):
        to.X[:n] = rows.X[:n]  # type: ignore[union-attr]
    else:
        written = int(to.indptr[n])  # type: ignore[union-attr]
        to.data[:written], to.indices[:written] = rows.data[:written], rows.indices[:written]  # type: ignore[union-attr]


def values_of(row: Row) -> np.ndarray:
    """The stored entries of a row."""
    return row.data[row.start : row.stop] if isinstance(row, SparseRow) else row


def example_rows(sparse: bool) -> Rows:
    """Rows of the right types, to look up compiled steps by."""
    if sparse:
        return SparseRows(np.zeros(1), np.zeros(1, np.uint32), np.array([0, 1]), 1)
    return DenseRows(np.zeros((1, 1)))
