"""Sums four lanes wide: the same bits in Python and compiled, and what numpy gives up to rounding."""

import numpy as np
import pytest

from askwhen.compiled.steps import entry
from askwhen.linalg.triangles import symmetric_form, symmetric_product, take_square
from askwhen.linalg.vectors import inner, look, total


@entry
def all_sums(w, x):
    return inner(w, x), look(w, x), total(x)


@entry
def all_squares(M, x, z, out):
    symmetric_product(M, x, out)
    return symmetric_form(M, x), take_square(M, x, z, 0.25)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 33, 64, 67])
def test_sums_have_one_order_and_are_right(d):
    w, x = np.random.default_rng(d).standard_normal((2, d))
    found = all_sums(w, x)
    assert found == all_sums.py_func(w, x)
    m, (m_too, norm2, _), whole = found
    np.testing.assert_allclose([m, m_too, norm2, whole], [w @ x, w @ x, x @ x, x.sum()], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 33])
def test_a_triangle_is_the_whole_matrix(d):
    rng = np.random.default_rng(d)
    x, z = rng.standard_normal((2, d))
    A = rng.standard_normal((d, d))
    A = A + A.T
    M, M_too = np.where(np.tri(d) > 0, A, np.nan), np.where(np.tri(d) > 0, A, np.nan)
    for first in range(0, d - d % 4, 4):  # blocks on the diagonal are whole; nothing else above it is read
        block = slice(first, first + 4)
        M[block, block] = M_too[block, block] = A[block, block]
    out, out_too = np.empty(d), np.empty(d)
    form, squares = all_squares(M, x, z, out)
    assert (form, squares) == all_squares.py_func(M_too, x, z, out_too)
    np.testing.assert_array_equal(out, out_too)
    np.testing.assert_array_equal(M, M_too)
    after = A - np.outer(z, z) + 0.25 * np.eye(d)
    np.testing.assert_allclose(form, x @ A @ x, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(out, A @ x, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(squares, (after**2).sum(), rtol=1e-11)
    np.testing.assert_allclose(np.tril(M), np.tril(after), rtol=1e-12, atol=1e-12)
