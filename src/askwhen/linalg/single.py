"""Symmetric matrices in single precision, by their lower triangle: half the memory of double, and twice the lanes.

The dimension is a multiple of eight. Rows are taken eight at a time, and the block of 8 x 8 that they have on the
diagonal is stored whole; :mod:`askwhen.linalg.triangles` does the same in double precision.

Symbols: M the matrix, x and z vectors, all in single precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.lanes import added_up, alike, beside, eight, lanes, put, sixteen, spread_of_both
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
    return remaining_form(M, x, 0, alike(ZERO), alike(ZERO))


@apart
def form_onwards(M: Any, x: Any, first: int, sums: Any, place: int) -> Any:
    """X'Mx, where ``begin_forms`` has added up the rows of M before ``first`` for the vector at this place."""
    at = 2 * EIGHT * (place - place % 2) + EIGHT * (place % 2)
    return remaining_form(M, x, first, eight(sums, np.uint64(at)), eight(sums, np.uint64(at + 2 * EIGHT)))


@step
def remaining_form(M: Any, x: Any, first: int, left: Any, block: Any) -> Any:
    """X'Mx from row ``first`` of M on, added to the sums of the rows before it."""
    for i in range(first, len(x), EIGHT):
        outside, inside = forms_of_four(M, x, i, i)
        left, block = left + outside, block + inside
        outside, inside = forms_of_four(M, x, i + 4, i)
        left, block = left + outside, block + inside
    return 2.0 * float(added_up(left)) + float(added_up(block))


@step
def put_eight(to: Any, i: int, v: Any, j: int) -> None:
    """Write eight numbers of v in double precision, from place j on, to place i, in place."""
    here, there = np.uint64(i), np.uint64(j)
    for k in range(EIGHT):
        to[here + np.uint64(k)] = v[there + np.uint64(k)]


@step
def twice(v: Any, i: int) -> Any:
    """Eight lanes twice."""
    a = eight(v, np.uint64(i))
    return beside(a, a)


@step
def sums_of_two(M: Any, x: Any, y: Any, i: int, first: int) -> Any:
    """Two rows of M from row i on, up to ``first``, times the four vectors in x and y."""
    r0, r1 = M[i], M[i + 1]
    s0 = s1 = t0 = t1 = beside(alike(ZERO), alike(ZERO))
    for j in range(0, first, EIGHT):
        a, b, m0, m1 = sixteen(x, np.uint64(2 * j)), sixteen(y, np.uint64(2 * j)), twice(r0, j), twice(r1, j)
        s0 = s0 + m0 * a
        s1 = s1 + m1 * a
        t0 = t0 + m0 * b
        t1 = t1 + m1 * b
    return s0, s1, t0, t1


# Eight arguments: it is inlined, so that no lanes pass through memory.
@step
def forms_of_both(M: Any, x: Any, y: Any, i: int, first: int, xs: Any, ys: Any, own: Any) -> Any:
    """As ``forms_of_four``, for the vectors in x and in y: the sums left of the block, and those within it."""
    x0, x1, x2, x3 = xs
    y0, y1, y2, y3 = ys
    s0, s1, t0, t1 = sums_of_two(M, x, y, i, first)
    s2, s3, t2, t3 = sums_of_two(M, x, y, i + 2, first)
    m0, m1, m2, m3 = twice(M[i], first), twice(M[i + 1], first), twice(M[i + 2], first), twice(M[i + 3], first)
    return (
        (s0 * x0 + s1 * x1) + (s2 * x2 + s3 * x3),
        (t0 * y0 + t1 * y1) + (t2 * y2 + t3 * y3),
        ((m0 * x0 + m1 * x1) + (m2 * x2 + m3 * x3)) * own[0],
        ((m0 * y0 + m1 * y1) + (m2 * y2 + m3 * y3)) * own[1],
    )


@apart
def begin_forms(M: Any, x: Any, y: Any, stop: int, sums: Any) -> None:
    """Add up v'Mv over the rows of M before ``stop``, for the two vectors v in x and the two in y, each in its lanes.

    Every lane adds the same numbers in the same order as in ``form_in_single``.
    """
    left_x = left_y = block_x = block_y = beside(alike(ZERO), alike(ZERO))
    for i in range(0, stop, EIGHT):
        a, b = sixteen(x, np.uint64(2 * i)), sixteen(y, np.uint64(2 * i))
        x0, x1, x2, x3, x4, x5, x6, x7 = spread_of_both(a)
        y0, y1, y2, y3, y4, y5, y6, y7 = spread_of_both(b)
        s, t, u, v = forms_of_both(M, x, y, i, i, (x0, x1, x2, x3), (y0, y1, y2, y3), (a, b))
        left_x, left_y, block_x, block_y = left_x + s, left_y + t, block_x + u, block_y + v
        s, t, u, v = forms_of_both(M, x, y, i + 4, i, (x4, x5, x6, x7), (y4, y5, y6, y7), (a, b))
        left_x, left_y, block_x, block_y = left_x + s, left_y + t, block_x + u, block_y + v
    put(sums, np.uint64(0), left_x)
    put(sums, np.uint64(2 * EIGHT), block_x)
    put(sums, np.uint64(4 * EIGHT), left_y)
    put(sums, np.uint64(6 * EIGHT), block_y)


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
    y0, y1, y2, y3 = beside(z0, z0), beside(z1, z1), beside(z2, z2), beside(z3, z3)
    for j in range(0, first, 2 * EIGHT):
        k = np.uint64(j)
        a = sixteen(z, k)
        put(r0, k, sixteen(r0, k) - y0 * a)
        put(r1, k, sixteen(r1, k) - y1 * a)
        put(r2, k, sixteen(r2, k) - y2 * a)
        put(r3, k, sixteen(r3, k) - y3 * a)
    if first % (2 * EIGHT) == 0:
        k = np.uint64(first)
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
