"""Symmetric matrices in single precision, by their lower triangle: half the memory of double, and twice the lanes.

The dimension is a multiple of eight. Rows are taken eight at a time, and the block of 8 x 8 that they have on the
diagonal is stored whole; :mod:`askwhen.linalg.triangles` does the same in double precision.

Symbols: M the matrix, x and z vectors, all in single precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.lanes import added_up, alike, eight, lanes, put
from ..compiled.steps import apart, step

EIGHT = 8
ZERO = np.float32(0.0)


@step
def forms_of_four(M: Any, x: Any, i: int, first: int) -> Any:
    """(left, block): x_i (Mx)_i of four rows from i on, left of the block that begins at ``first``, and within it."""
    r0, r1, r2, r3 = M[i], M[i + 1], M[i + 2], M[i + 3]
    s0 = s1 = s2 = s3 = alike(ZERO)
    for j in range(0, first, EIGHT):
        k = np.uint64(j)
        a = eight(x, k)
        s0 = s0 + eight(r0, k) * a
        s1 = s1 + eight(r1, k) * a
        s2 = s2 + eight(r2, k) * a
        s3 = s3 + eight(r3, k) * a
    x0, x1, x2, x3 = alike(x[i]), alike(x[i + 1]), alike(x[i + 2]), alike(x[i + 3])
    k = np.uint64(first)
    block = ((eight(r0, k) * x0 + eight(r1, k) * x1) + (eight(r2, k) * x2 + eight(r3, k) * x3)) * eight(x, k)
    return (s0 * x0 + s1 * x1) + (s2 * x2 + s3 * x3), block


@apart
def form_in_single(M: Any, x: Any) -> Any:
    """X'Mx."""
    left = block = alike(ZERO)
    for i in range(0, len(x), EIGHT):
        outside, inside = forms_of_four(M, x, i, i)
        left, block = left + outside, block + inside
        outside, inside = forms_of_four(M, x, i + 4, i)
        left, block = left + outside, block + inside
    return 2.0 * float(added_up(left)) + float(added_up(block))


@step
def products_of_four(M: Any, x: Any, i: int, first: int, out: Any) -> Any:
    """Add what four rows from i on give to ``out`` left of their block; return what they give within it, and sums."""
    r0, r1, r2, r3 = M[i], M[i + 1], M[i + 2], M[i + 3]
    x0, x1, x2, x3 = alike(x[i]), alike(x[i + 1]), alike(x[i + 2]), alike(x[i + 3])
    s0 = s1 = s2 = s3 = alike(ZERO)
    for j in range(0, first, EIGHT):
        k = np.uint64(j)
        a, m0, m1, m2, m3 = eight(x, k), eight(r0, k), eight(r1, k), eight(r2, k), eight(r3, k)
        put(out, k, eight(out, k) + ((m0 * x0 + m1 * x1) + (m2 * x2 + m3 * x3)))
        s0 = s0 + m0 * a
        s1 = s1 + m1 * a
        s2 = s2 + m2 * a
        s3 = s3 + m3 * a
    k = np.uint64(first)
    block = (eight(r0, k) * x0 + eight(r1, k) * x1) + (eight(r2, k) * x2 + eight(r3, k) * x3)
    return block, added_up(s0), added_up(s1), added_up(s2), added_up(s3)


@apart
def product_in_single(M: Any, x: Any, out: Any) -> None:
    """Out = Mx, in place."""
    for i in range(0, len(x), EIGHT):
        upper, s0, s1, s2, s3 = products_of_four(M, x, i, i, out)
        lower, s4, s5, s6, s7 = products_of_four(M, x, i + 4, i, out)
        put(out, np.uint64(i), (upper + lower) + lanes(s0, s1, s2, s3, s4, s5, s6, s7))


@step
def take_from_four(M: Any, z: Any, i: int, first: int) -> None:
    """Subtract zz' from four rows from i on, up to the end of the block that begins at ``first``, in place."""
    r0, r1, r2, r3 = M[i], M[i + 1], M[i + 2], M[i + 3]
    z0, z1, z2, z3 = alike(z[i]), alike(z[i + 1]), alike(z[i + 2]), alike(z[i + 3])
    for j in range(0, first + EIGHT, EIGHT):
        k = np.uint64(j)
        a = eight(z, k)
        put(r0, k, eight(r0, k) - z0 * a)
        put(r1, k, eight(r1, k) - z1 * a)
        put(r2, k, eight(r2, k) - z2 * a)
        put(r3, k, eight(r3, k) - z3 * a)


@apart
def take_square_in_single(M: Any, z: Any, step: float) -> None:
    """M -= zz', M += step I, in place."""
    for i in range(0, len(z), EIGHT):
        take_from_four(M, z, i, i)
        take_from_four(M, z, i + 4, i)
    for i in range(len(z)):
        M[i, i] += np.float32(step)
