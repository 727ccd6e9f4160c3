"""Storage of the instances of a learner or a drift detector, in numbered slots, dense or sparse.

A store never grows inside a compiled step: :data:`fits` says whether there is enough memory for a row, and
:func:`regrow`, called from Python between rounds, gives a larger copy. Capacity doubles, so growing costs O(1) per
stored instance.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import Family
from ..linalg.rows import SparseRow
from ..linalg.vectors import LARGEST, all_within


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
"""put(store, s, x): copy the row x to slot s, in place, over what was there."""

fits = Family("fits")
"""fits(store, s, x) -> whether slot s exists and there is enough memory for the row x."""


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


def capacity_of(store: Store) -> int:
    """Number of slots of a store."""
    return len(store.rows) if isinstance(store, DenseStore) else len(store.bounds)


def is_whole(store: Store, d: int) -> bool:
    """Whether a store from a file, of instances of dimension d, stays within its arrays."""
    longest = math.sqrt(LARGEST)
    if isinstance(store, DenseStore):
        return all_within(store.rows, -longest, longest)
    first, last = store.bounds.T
    return (
        len(store.data) == len(store.indices)
        and all_within(store.end, 0, len(store.data))
        and all_within(first, 0, len(store.data))
        and bool((first <= last).all())
        and all_within(last, 0, len(store.data))
        and all_within(store.indices, 0, d - 1)
        and all_within(store.data, -longest, longest)
    )


def squares_of(store: Store, slots: Any) -> np.ndarray:
    """The squared norms of the rows in these slots."""
    if isinstance(store, DenseStore):
        rows = store.rows[slots]
        return np.asarray((rows * rows).sum(axis=1))
    return np.array([np.square(store.data[first:last]).sum() for first, last in store.bounds[slots].tolist()])


def regrow(store: Store, slots: Any, capacity: int, free: int) -> Store:
    """A copy with ``capacity`` slots, with the old ``slots`` in order from slot 0, and ``free`` unused entries."""
    taken = 0 if isinstance(store, DenseStore) else int((store.bounds[slots, 1] - store.bounds[slots, 0]).sum())
    return gather([(store, slots)], capacity, taken + free)


def gather(parts: list[tuple[Any, Any]], capacity: int, free: int) -> Store:
    """A new store with the given slots of each store in order from slot 0, and ``free`` unused entries."""
    if isinstance(parts[0][0], DenseStore):
        rows = np.zeros((capacity, parts[0][0].rows.shape[1]))
        np.concatenate([store.rows[slots] for store, slots in parts], out=rows[: sum(len(slots) for _, slots in parts)])
        return DenseStore(rows)
    lengths = np.concatenate([store.bounds[slots, 1] - store.bounds[slots, 0] for store, slots in parts])
    ends = np.cumsum(lengths)
    taken = int(ends[-1]) if len(ends) else 0
    grown = SparseStore(
        np.zeros(taken + free),
        np.zeros(taken + free, np.uint32),
        np.zeros((capacity, 2), np.int64),
        np.array([taken], np.int64),
    )
    grown.bounds[: len(ends)] = np.column_stack([ends - lengths, ends])
    at_entry = 0
    for store, slots in parts:
        starts, stops = store.bounds[slots].T
        count = int((stops - starts).sum())
        shift = starts - (np.cumsum(stops - starts) - (stops - starts))
        entries = np.repeat(shift, stops - starts) + np.arange(count)
        grown.data[at_entry : at_entry + count] = store.data[entries]
        grown.indices[at_entry : at_entry + count] = store.indices[entries]
        at_entry += count
    return grown
