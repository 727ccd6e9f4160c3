"""Instances that a learner or a drift guard keeps, in numbered slots, dense or sparse.

A store never grows inside a compiled step: :data:`fits` says whether a row has room, and :func:`regrow`, called from
Python between rounds, gives a larger copy. Capacity doubles, so growing costs O(1) per kept instance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .compiling import Family
from .linalg import SparseRow


class DenseStore(NamedTuple):
    """Slot s is row s."""

    rows: Any


class SparseStore(NamedTuple):
    """Slot s is the entries bounds[s, 0] to bounds[s, 1] of a pool whose first end[0] entries are taken."""

    data: Any
    indices: Any
    bounds: Any
    end: Any


at = Family("at")
"""at(store, s) -> the row in slot s."""

put = Family("put")
"""put(store, s, x): keep a copy of the row x in slot s, in place; what was there is forgotten."""

fits = Family("fits")
"""fits(store, s, x) -> whether slot s exists and the row x has room."""


@at.of(DenseStore)
def _at_dense(store: Any, s: int) -> Any:
    return store.rows[s]


@at.of(SparseStore)
def _at_sparse(store: Any, s: int) -> Any:
    return SparseRow(store.data, store.indices, store.bounds[s, 0], store.bounds[s, 1])


@put.of(DenseStore)
def _put_dense(store: Any, s: int, x: Any) -> None:
    store.rows[s] = x


@put.of(SparseStore)
def _put_sparse(store: Any, s: int, x: Any) -> None:
    end = store.end[0]
    store.bounds[s, 0] = end
    for j in range(x.start, x.stop):
        store.data[end] = x.data[j]
        store.indices[end] = x.indices[j]
        end += 1
    store.bounds[s, 1] = end
    store.end[0] = end


@fits.of(DenseStore)
def _fits_dense(store: Any, s: int, x: Any) -> Any:
    return s < len(store.rows)


@fits.of(SparseStore)
def _fits_sparse(store: Any, s: int, x: Any) -> Any:
    return s < len(store.bounds) and store.end[0] + (x.stop - x.start) <= len(store.data)


Store = DenseStore | SparseStore


def empty_store(d: int, sparse: bool, capacity: int = 0) -> Store:
    """A store with this many empty slots."""
    if not sparse:
        return DenseStore(np.zeros((capacity, d)))
    return SparseStore(np.zeros(0), np.zeros(0, np.uint32), np.zeros((capacity, 2), np.int64), np.zeros(1, np.int64))


def regrow(store: Store, slots: Any, capacity: int, room: int) -> Store:
    """A copy with ``capacity`` slots that holds the old ``slots`` in order from slot 0, and ``room`` free entries."""
    if isinstance(store, DenseStore):
        rows = np.zeros((capacity, store.rows.shape[1]))
        rows[: len(slots)] = store.rows[slots]
        return DenseStore(rows)
    lengths = store.bounds[slots, 1] - store.bounds[slots, 0]
    taken = int(lengths.sum())
    grown = SparseStore(
        np.zeros(2 * taken + room),
        np.zeros(2 * taken + room, np.uint32),
        np.zeros((capacity, 2), np.int64),
        np.array([taken], np.int64),
    )
    end = 0
    for new, old in enumerate(slots):
        start, stop = store.bounds[old]
        grown.data[end : end + stop - start] = store.data[start:stop]
        grown.indices[end : end + stop - start] = store.indices[start:stop]
        grown.bounds[new] = end, end + stop - start
        end += stop - start
    return grown
