"""Symmetric matrices M, of which dense instances read and write the lower triangle only: half of the memory traffic.

A sparse instance needs whole rows of M, so there both triangles are stored, and the same product is subtracted on both
sides of the diagonal. A sampler's instances are all dense or all sparse.

With dense instances, rows are taken four at a time. The block of 4 x 4 that four rows have on the diagonal is stored
whole, so that every lane of :mod:`askwhen.compiled.lanes` has work; to the right of it nothing is read or written.
Where the dimension is not a multiple of four, the last rows are taken one by one.

Symbols: M the matrix, x a row, z a dense vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.lanes import added_up, alike, at, lanes, put
from ..compiled.steps import Family
from .rows import SparseRow
from .vectors import combine_rows, inner

symmetric_form = Family("symmetric_form", on=(1,), forceinline=False)
"""symmetric_form(M, x) -> x'Mx."""

symmetric_product = Family("symmetric_product", on=(1,), forceinline=False)
"""symmetric_product(M, x, out): out = Mx, in place."""

take_square = Family("take_square", on=(1,), forceinline=False)
"""take_square(M, x, z, step) -> the sum of all squared entries after M -= zz', M += step I, in place; x is any row."""


@symmetric_form.of(np.ndarray)
def _form_dense(M: Any, x: Any) -> Any:
    d = len(x)
    left = block = alike(0.0)
    whole = d - d % 4
    for i in range(0, whole, 4):
        r0, r1, r2, r3 = M[i], M[i + 1], M[i + 2], M[i + 3]
        s0 = s1 = s2 = s3 = alike(0.0)
        for j in range(0, i, 4):
            k = np.uint64(j)
            a = at(x, k)
            s0 = s0 + at(r0, k) * a
            s1 = s1 + at(r1, k) * a
            s2 = s2 + at(r2, k) * a
            s3 = s3 + at(r3, k) * a
        x0, x1, x2, x3 = alike(x[i]), alike(x[i + 1]), alike(x[i + 2]), alike(x[i + 3])
        left = left + ((s0 * x0 + s1 * x1) + (s2 * x2 + s3 * x3))
        k = np.uint64(i)
        block = block + ((at(r0, k) * x0 + at(r1, k) * x1) + (at(r2, k) * x2 + at(r3, k) * x3)) * at(x, k)
    found = 2.0 * added_up(left) + added_up(block)
    for i in range(whole, d):
        row = M[i]
        found += x[i] * (2.0 * inner(row[:i], x[:i]) + row[i] * x[i])
    return found


@symmetric_form.of(SparseRow)
def _form_sparse(M: Any, x: Any) -> Any:
    found = 0.0
    for j in range(x.start, x.stop):
        row = M[x.indices[j]]
        below = 0.0
        for k in range(x.start, j):
            below += row[x.indices[k]] * x.data[k]
        found += x.data[j] * (2.0 * below + row[x.indices[j]] * x.data[j])
    return found


@symmetric_product.of(np.ndarray)
def _product_dense(M: Any, x: Any, out: Any) -> None:
    d = len(x)
    whole = d - d % 4
    for i in range(0, whole, 4):
        r0, r1, r2, r3 = M[i], M[i + 1], M[i + 2], M[i + 3]
        x0, x1, x2, x3 = alike(x[i]), alike(x[i + 1]), alike(x[i + 2]), alike(x[i + 3])
        s0 = s1 = s2 = s3 = alike(0.0)
        for j in range(0, i, 4):
            k = np.uint64(j)
            a, m0, m1, m2, m3 = at(x, k), at(r0, k), at(r1, k), at(r2, k), at(r3, k)
            put(out, k, at(out, k) + ((m0 * x0 + m1 * x1) + (m2 * x2 + m3 * x3)))
            s0 = s0 + m0 * a
            s1 = s1 + m1 * a
            s2 = s2 + m2 * a
            s3 = s3 + m3 * a
        k = np.uint64(i)
        block = (at(r0, k) * x0 + at(r1, k) * x1) + (at(r2, k) * x2 + at(r3, k) * x3)
        put(out, k, block + lanes(added_up(s0), added_up(s1), added_up(s2), added_up(s3)))
    for i in range(whole, d):
        row = M[i]
        for j in range(i):
            out[j] += row[j] * x[i]
        out[i] = inner(row[:i], x[:i]) + row[i] * x[i]


@symmetric_product.of(SparseRow)
def _product_sparse(M: Any, x: Any, out: Any) -> None:
    combine_rows(M, x, out)


@take_square.of(np.ndarray)
def _take_square_dense(M: Any, x: Any, z: Any, step: float) -> Any:
    d = len(z)
    left = block = alike(0.0)
    whole = d - d % 4
    for i in range(0, whole, 4):
        r0, r1, r2, r3 = M[i], M[i + 1], M[i + 2], M[i + 3]
        z0, z1, z2, z3 = alike(z[i]), alike(z[i + 1]), alike(z[i + 2]), alike(z[i + 3])
        for j in range(0, i, 4):
            k = np.uint64(j)
            a = at(z, k)
            m0, m1, m2, m3 = at(r0, k) - z0 * a, at(r1, k) - z1 * a, at(r2, k) - z2 * a, at(r3, k) - z3 * a
            put(r0, k, m0)
            put(r1, k, m1)
            put(r2, k, m2)
            put(r3, k, m3)
            left = left + ((m0 * m0 + m1 * m1) + (m2 * m2 + m3 * m3))
        k = np.uint64(i)
        a = at(z, k)
        m0 = at(r0, k) - z0 * a + lanes(step, 0.0, 0.0, 0.0)
        m1 = at(r1, k) - z1 * a + lanes(0.0, step, 0.0, 0.0)
        m2 = at(r2, k) - z2 * a + lanes(0.0, 0.0, step, 0.0)
        m3 = at(r3, k) - z3 * a + lanes(0.0, 0.0, 0.0, step)
        put(r0, k, m0)
        put(r1, k, m1)
        put(r2, k, m2)
        put(r3, k, m3)
        block = block + ((m0 * m0 + m1 * m1) + (m2 * m2 + m3 * m3))
    squares = 2.0 * added_up(left) + added_up(block)
    for i in range(whole, d):
        row = M[i]
        for j in range(i + 1):
            row[j] -= z[i] * z[j]
        row[i] += step
        squares += 2.0 * inner(row[:i], row[:i]) + row[i] * row[i]
    return squares


@take_square.of(SparseRow)
def _take_square_sparse(M: Any, x: Any, z: Any, step: float) -> Any:
    squares = 0.0
    for i in range(len(z)):
        row = M[i]
        c = z[i]
        for j in range(len(z)):
            row[j] -= c * z[j]
        row[i] += step
        squares += inner(row, row)
    return squares
