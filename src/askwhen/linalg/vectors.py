"""Vectors and matrices, dense and sparse, with one order of summation each.

An instance inside a step is a *row*: a C-contiguous float64 vector, or a :class:`SparseRow`. Everything that differs
between dense and sparse is in this file.

Sums of dense products have one order, four lanes wide (:mod:`askwhen.compiled.lanes`), and sums over sparse rows keep
four accumulators: fast without reordering, hence the same bits wherever they are compiled.

Symbols: w weights, x a row, c a number, M a square matrix whose rows are added up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.lanes import added_up, alike, at
from ..compiled.steps import Family, step
from .rows import SparseRow, position, size

SOUND, UNSOUND, TOO_LARGE = 0, 1, 2
"""Status of a row, as returned by :data:`look` and the learners' ``score``."""

LARGEST = 1e200
"""The largest squared norm: beyond it the sums of squares and the margins themselves could overflow."""


ONE, TWO, THREE, FOUR, EIGHT, TWELVE = (np.uint64(i) for i in (1, 2, 3, 4, 8, 12))
"""Offsets that keep an index unsigned: a signed one costs a test for negative values at every access."""


NO_DIRECTION = 1e-280
"""Below this squared norm an instance has no direction in floating point: it counts as zero."""

look = Family("look", on=(0, 1))
"""``look(w, x) -> (w.x, |x|^2, status)``: reads the row once and checks it too, before any weight changes."""

dot = Family("dot", on=(1,))
"""``dot(w, x)`` -> w.x"""

measure = Family("measure")
"""``measure(x, d) -> (|x|^2, SOUND or UNSOUND)``: checks a row of d features, and changes nothing."""

add_scaled = Family("add_scaled", on=(0, 2))
"""``add_scaled(w, c, x)``: w += c x, in place."""

shrink = Family("shrink")
"""``shrink(w, c)``: ``w *= c``, in place."""

clear = Family("clear")
"""``clear(w)``: w = 0, in place."""


def lines_of_zeros(n: int) -> np.ndarray:
    """Lines of eight numbers, each aligned to a cache line: half the misses of lines that cross two."""
    room = np.zeros(8 * n + 7)
    first = -room.ctypes.data // 8 % 8
    return room[first : first + 8 * n].reshape(n, 8)


def all_finite(*arrays: np.ndarray) -> bool:
    """Whether no number in these arrays is NaN or infinite."""
    return all(bool(np.isfinite(array).all()) for array in arrays)


def all_within(array: Any, low: float, high: float) -> bool:
    """Whether all of these numbers are from low to high; NaN is not."""
    return bool(np.greater_equal(array, low).all() and np.less_equal(array, high).all())


def _true(w: Any, x: Any) -> Any:
    return True


as_vector = Family("as_vector")
"""``as_vector(w)`` -> the weight vector, a copy (Python only)."""


@as_vector.of(np.ndarray)
def _copy_vector(w: Any) -> Any:
    return w.copy()


def _nothing(w: Any, i: int) -> None:
    return


def _never(w: Any) -> Any:
    return False


is_zero = Family("is_zero", default=_never)
"""``is_zero(w)`` -> whether w is a sum whose budget has dropped all its terms; never for a vector."""

set_row = Family("set_row", default=_nothing)
"""``set_row(w, i)``: note that row i of the rounds being played is current, if w is a sum of such rows; in place."""

has_room = Family("has_room", default=_true)
"""``has_room(w, x)`` -> whether x can be added to w without further memory or random numbers."""

combine_rows = Family("combine_rows", on=(1,))
"""``combine_rows(M, x, out)``: out = M'x, the rows of M weighted by x, in place."""

spread = Family("spread")
"""``spread(x, scratch)`` -> the row as a dense vector: itself, or written into a scratch vector of zeros."""

unspread = Family("unspread")
"""``unspread(x, scratch)``: set the scratch vector back to zeros, in place."""


@look.of(np.ndarray, np.ndarray)
def _look_dense(w: Any, x: Any) -> Any:
    d = len(w)
    s0 = s1 = n0 = n1 = alike(0.0)
    eights, fours = d - d % 8, d - d % 4
    for i in range(0, eights, 8):
        here, there = np.uint64(i), np.uint64(i + 4)
        a, b = at(x, here), at(x, there)
        s0 = s0 + at(w, here) * a
        s1 = s1 + at(w, there) * b
        n0 = n0 + a * a
        n1 = n1 + b * b
    if fours > eights:
        here = np.uint64(eights)
        a = at(x, here)
        s0 = s0 + at(w, here) * a
        n0 = n0 + a * a
    m, norm2 = added_up(s0 + s1), added_up(n0 + n1)
    for i in range(fours, d):
        m += w[i] * x[i]
        norm2 += x[i] * x[i]
    # NaN fails the comparison too, so one test catches NaN, infinity and what would overflow.
    return m, norm2, SOUND if norm2 <= LARGEST else UNSOUND


@look.of(np.ndarray, SparseRow)
def _look_sparse(w: Any, x: Any) -> Any:
    """Checks as it goes that the row stays within its arrays, and that its indices increase and stay below d."""
    data, indices = x.data, x.indices
    n, d = x.stop - x.start, len(w)
    if x.start < 0 or n < 0 or x.stop > min(len(indices), len(data)):
        return 0.0, 0.0, UNSOUND
    start, top = np.uint64(x.start), np.int64(d - 1)
    s0 = s1 = s2 = s3 = 0.0
    n0 = n1 = n2 = n3 = 0.0
    last = np.int64(-1)
    messy: Any = False
    whole = n - n % 4
    for j in range(0, whole, 4):
        k = start + np.uint64(j)
        i0, i1 = np.int64(indices[k]), np.int64(indices[k + ONE])
        i2, i3 = np.int64(indices[k + TWO]), np.int64(indices[k + THREE])
        messy |= (i0 <= last) | (i1 <= i0) | (i2 <= i1) | (i3 <= i2)
        if i3 > top:
            return 0.0, 0.0, UNSOUND
        v0, v1, v2, v3 = data[k], data[k + ONE], data[k + TWO], data[k + THREE]
        # min costs nothing and keeps a messy row inside w until the end of the loop reports it.
        s0 += w[np.uint64(min(i0, top))] * v0
        s1 += w[np.uint64(min(i1, top))] * v1
        s2 += w[np.uint64(min(i2, top))] * v2
        s3 += w[np.uint64(i3)] * v3
        n0 += v0 * v0
        n1 += v1 * v1
        n2 += v2 * v2
        n3 += v3 * v3
        last = i3
    for j in range(whole, n):
        k = start + np.uint64(j)
        i0 = np.int64(indices[k])
        messy |= (i0 <= last) | (i0 > top)
        s0 += w[np.uint64(min(i0, top))] * data[k]
        n0 += data[k] * data[k]
        last = i0
    norm2 = (n0 + n1) + (n2 + n3)
    return (s0 + s1) + (s2 + s3), norm2, UNSOUND if messy or not norm2 <= LARGEST else SOUND


@measure.of(np.ndarray)
def _measure_dense(x: Any, d: int) -> Any:
    norm2 = inner(x, x)
    return norm2, SOUND if norm2 <= LARGEST else UNSOUND


@measure.of(SparseRow)
def _measure_sparse(x: Any, d: int) -> Any:
    data, indices = x.data, x.indices
    if x.start < 0 or x.stop < x.start or x.stop > min(len(indices), len(data)):
        return 0.0, UNSOUND
    start, n = np.uint64(x.start), x.stop - x.start
    n0 = n1 = n2 = n3 = 0.0
    last = np.int64(-1)
    messy: Any = False
    whole = n - n % 4
    for j in range(0, whole, 4):
        k = start + np.uint64(j)
        i0, i1 = np.int64(indices[k]), np.int64(indices[k + ONE])
        i2, i3 = np.int64(indices[k + TWO]), np.int64(indices[k + THREE])
        messy |= (i0 <= last) | (i1 <= i0) | (i2 <= i1) | (i3 <= i2)
        v0, v1, v2, v3 = data[k], data[k + ONE], data[k + TWO], data[k + THREE]
        n0 += v0 * v0
        n1 += v1 * v1
        n2 += v2 * v2
        n3 += v3 * v3
        last = i3
    for j in range(whole, n):
        k = start + np.uint64(j)
        i0 = np.int64(indices[k])
        messy |= i0 <= last
        n0 += data[k] * data[k]
        last = i0
    norm2 = (n0 + n1) + (n2 + n3)
    return norm2, UNSOUND if messy or last >= d or not norm2 <= LARGEST else SOUND


@dot.of(np.ndarray)
def _dot_dense(w: Any, x: Any) -> Any:
    return inner(w, x)


@dot.of(SparseRow)
def _dot_sparse(w: Any, x: Any) -> Any:
    s0 = s1 = s2 = s3 = 0.0
    data, indices, start = x.data, x.indices, np.uint64(x.start)
    n = x.stop - x.start
    whole = n - n % 4
    for j in range(0, whole, 4):
        k = start + np.uint64(j)
        s0 += w[indices[k]] * data[k]
        s1 += w[indices[k + ONE]] * data[k + ONE]
        s2 += w[indices[k + TWO]] * data[k + TWO]
        s3 += w[indices[k + THREE]] * data[k + THREE]
    for j in range(whole, n):
        k = start + np.uint64(j)
        s0 += w[indices[k]] * data[k]
    return (s0 + s1) + (s2 + s3)


@step
def inner(w: Any, v: Any) -> Any:
    """The inner product of two dense vectors."""
    d = len(w)
    s0 = s1 = s2 = s3 = alike(0.0)
    sixteens, fours = d - d % 16, d - d % 4
    for i in range(0, sixteens, 16):
        k = np.uint64(i)
        s0 = s0 + at(w, k) * at(v, k)
        s1 = s1 + at(w, k + FOUR) * at(v, k + FOUR)
        s2 = s2 + at(w, k + EIGHT) * at(v, k + EIGHT)
        s3 = s3 + at(w, k + TWELVE) * at(v, k + TWELVE)
    for i in range(sixteens, fours, 4):
        k = np.uint64(i)
        s0 = s0 + at(w, k) * at(v, k)
    found = added_up((s0 + s1) + (s2 + s3))
    for i in range(fours, d):
        found += w[i] * v[i]
    return found


@add_scaled.of(np.ndarray, np.ndarray)
def _add_scaled_dense(w: Any, c: float, x: Any) -> None:
    for i in range(len(w)):
        w[i] += c * x[i]


@add_scaled.of(np.ndarray, SparseRow)
def _add_scaled_sparse(w: Any, c: float, x: Any) -> None:
    data, indices, start = x.data, x.indices, np.uint64(x.start)
    for j in range(x.stop - x.start):
        k = start + np.uint64(j)
        w[indices[k]] += c * data[k]


@shrink.of(np.ndarray)
def _shrink_vector(w: Any, c: float) -> None:
    for i in range(len(w)):
        w[i] *= c


@clear.of(np.ndarray)
def _clear_vector(w: Any) -> None:
    for i in range(len(w)):
        w[i] = 0.0


@step
def add_four_rows(out: Any, M: Any, i: int, x0: float, x1: float, x2: float, x3: float) -> None:
    """Out += x0 M[i] + x1 M[i + 1] + x2 M[i + 2] + x3 M[i + 3], in place: reads and writes out once for four rows."""
    r0, r1, r2, r3 = M[i], M[i + 1], M[i + 2], M[i + 3]
    for j in range(len(out)):
        out[j] += (x0 * r0[j] + x1 * r1[j]) + (x2 * r2[j] + x3 * r3[j])


@step
def add_row(out: Any, M: Any, i: int, c: float) -> None:
    """Out += c M[i], in place."""
    row = M[i]
    for j in range(len(out)):
        out[j] += c * row[j]


@combine_rows.of(np.ndarray)
def _combine_rows_dense(M: Any, x: Any, out: Any) -> None:
    clear(out)
    d = len(x)
    whole = d - d % 4
    for i in range(0, whole, 4):
        add_four_rows(out, M, i, x[i], x[i + 1], x[i + 2], x[i + 3])
    for i in range(whole, d):
        add_row(out, M, i, x[i])


@combine_rows.of(SparseRow)
def _combine_rows_sparse(M: Any, x: Any, out: Any) -> None:
    clear(out)
    for j in range(x.start, x.stop):
        add_row(out, M, x.indices[j], x.data[j])


@step
def total(v: Any) -> Any:
    """The sum of a dense vector."""
    d = len(v)
    s0 = alike(0.0)
    fours = d - d % 4
    for i in range(0, fours, 4):
        s0 = s0 + at(v, np.uint64(i))
    found = added_up(s0)
    for i in range(fours, d):
        found += v[i]
    return found


@spread.of(np.ndarray)
def _spread_dense(x: Any, scratch: Any) -> Any:
    return x


@spread.of(SparseRow)
def _spread_sparse(x: Any, scratch: Any) -> Any:
    add_scaled(scratch, 1.0, x)
    return scratch


@unspread.of(np.ndarray)
def _unspread_dense(x: Any, scratch: Any) -> None:
    return


@unspread.of(SparseRow)
def _unspread_sparse(x: Any, scratch: Any) -> None:
    for j in range(size(x)):
        scratch[position(x, j)] = 0.0
