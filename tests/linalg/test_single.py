"""Triangles in single precision: forms of four vectors at once have the bits of each form by itself."""

import numpy as np
import pytest

from askwhen.compiled.steps import entry
from askwhen.linalg.single import (
    begin_forms,
    form_in_single,
    form_onwards,
    product_in_single,
    put_eight,
    take_square_in_single,
)


@entry
def all_forms(M, V, lines, stop, sums, found):
    """The form of each vector by itself, and then begun with the others and finished by itself."""
    for k in range(4):
        for j in range(0, V.shape[1], 8):
            put_eight(lines[k // 2], 2 * j + 8 * (k % 2), V[k], j)
    begin_forms(M, lines[0], lines[1], stop, sums)
    for k in range(4):
        v = V[k].astype(np.float32)
        found[0, k], found[1, k] = form_in_single(M, v), form_onwards(M, v, stop, sums, k)


@entry
def product_and_square(M, x, z, out):
    product_in_single(M, x, out)
    take_square_in_single(M, z, 0.25)


def triangle(d, seed):
    """A symmetric matrix, and its triangle with whole blocks of eight on the diagonal; the rest must not be read."""
    A = np.random.default_rng(seed).standard_normal((d, d)).astype(np.float32)
    A = A + A.T
    M = np.where(np.arange(d) // 8 <= np.arange(d)[:, None] // 8, A, np.float32(np.nan))
    return A, M


@pytest.mark.parametrize("d", [8, 16, 40, 72])
def test_four_forms_at_once_have_the_bits_of_one_at_a_time(d):
    A, M = triangle(d, d)
    V = np.random.default_rng(1).standard_normal((4, d))
    for stop in range(0, d + 1, 8):
        V_begun = V.copy()
        lines, sums, found = np.zeros((2, 2 * d), np.float32), np.zeros(64, np.float32), np.zeros((2, 4))
        all_forms(M, V_begun, lines, stop, sums, found)
        np.testing.assert_array_equal(found[0], found[1])
        np.testing.assert_allclose(found[0], np.einsum("ki,ij,kj->k", V, A, V), rtol=1e-4, atol=1e-3)
    lines, sums, plain = np.zeros((2, 2 * d), np.float32), np.zeros(64, np.float32), np.zeros((2, 4))
    all_forms.py_func(M, V, lines, 8, sums, plain)
    np.testing.assert_array_equal(plain, found)


def test_features_behind_the_beginning_may_still_change():
    _, M = triangle(24, 3)
    V = np.random.default_rng(2).standard_normal((4, 24))
    lines, sums, found = np.zeros((2, 48), np.float32), np.zeros(64, np.float32), np.zeros((2, 4))
    lines[:, 32:] = np.nan
    for k in range(4):
        for j in (0, 8):
            put_eight(lines[k // 2], 2 * j + 8 * (k % 2), V[k], j)
    begin_forms(M, lines[0], lines[1], 16, sums)
    for k in range(4):
        v = V[k].astype(np.float32)
        found[:, k] = form_in_single(M, v), form_onwards(M, v, 16, sums, k)
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize("d", [8, 16, 24, 56])
def test_products_and_squares_are_those_of_the_whole_matrix(d):
    A, M = triangle(d, d)
    x, z = np.random.default_rng(5).standard_normal((2, d)).astype(np.float32)
    M_too, out, out_too = M.copy(), np.zeros(d, np.float32), np.zeros(d, np.float32)
    product_and_square(M, x, z, out)
    product_and_square.py_func(M_too, x, z, out_too)
    np.testing.assert_array_equal(out, out_too)
    np.testing.assert_array_equal(M, M_too)
    np.testing.assert_allclose(out, A @ x, rtol=1e-4, atol=1e-4)
    after = A - np.outer(z, z) + 0.25 * np.eye(d, dtype=np.float32)
    np.testing.assert_allclose(np.tril(M), np.tril(after), rtol=1e-5, atol=1e-5)
