"""Validation of instances: arrays, tables and sparse matrices become rows for compiled steps, or an ``InputError``."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...errors import INSTANCES, InputError, called
from ...linalg.rows import DenseRows, Row, Rows, SparseRow, SparseRows, values_of


def check_instances(owner: str, X: Any, sparse: bool | None = None) -> Rows:
    """Instances as dense or sparse rows, as ``sparse`` says, or in their own form. The steps check the values."""
    if not sp.issparse(X):
        X = as_numbers(owner, "X", X)
    else:
        _check_sparse(owner, "X", X)
    if X.ndim != 2 or 0 in X.shape:
        raise InputError(
            f"{INSTANCES} must be a matrix with at least one row and one column, got shape {X.shape}.", owner=owner
        )
    _check_kind(owner, "X", X.dtype)
    if sparse is False and sp.issparse(X) and X.format == "csr":
        _check_sparse(owner, "X", X, tiny=True)
    if sparse or (sparse is None and sp.issparse(X)):
        return _csr_rows(owner, X.tocsr() if sp.issparse(X) else sp.csr_matrix(X.astype(np.float64)))
    return DenseRows(np.require(X.toarray() if sp.issparse(X) else X, np.float64, ["C", "A"]))


def check_instance(owner: str, x: Any, sparse: bool | None = None) -> tuple[Row, int]:
    """One instance as a row with its dimension, dense or sparse as ``sparse`` says, or in its own form."""
    if sp.issparse(x):
        _check_sparse(owner, "x", x, tiny=True)
    else:
        x = as_numbers(owner, "x", x)
    _check_kind(owner, "x", x.dtype)
    one = x.ndim == 1 or (sp.issparse(x) and x.shape[0] == 1)
    if not one or 0 in x.shape:
        raise InputError(f"x must be one instance with at least one feature, got shape {x.shape}.", owner=owner)
    if sparse or (sparse is None and sp.issparse(x)):
        x = x if sp.issparse(x) else x.astype(np.float64)
        rows = canonical(owner, _csr_rows(owner, sp.csr_matrix(x.reshape(1, -1))))
        return SparseRow(rows.data, rows.indices, 0, int(rows.indptr[1])), rows.d
    dense = np.require(x.toarray().reshape(-1) if sp.issparse(x) else x, np.float64, ["C", "A"])
    return dense, len(dense)


def names_of(X: Any) -> tuple[str, ...] | None:
    """The names of the features if all are strings: the columns of a table, the index of a pandas Series."""
    found = getattr(X, "column_names", None)  # Arrow, whose columns are not the names
    if found is None:
        found = getattr(X, "columns", None)
    if found is None and hasattr(X, "iloc"):
        found = X.index
    names = () if found is None else tuple(found)
    return names if names and all(isinstance(name, str) for name in names) else None


def check_names(owner: str, X: Any, known: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The names to remember: the known ones, or else those of X; other names, or another order, are refused."""
    found = names_of(X)
    if found is None or found == known:
        return known
    if known is None:
        return found
    place = next((i for i, (a, b) in enumerate(zip(known, found, strict=False)) if a != b), min(len(known), len(found)))
    expected, got = (repr(names[place]) if place < len(names) else "no more" for names in (known, found))
    raise InputError(
        f"the features must be those of before in the same order, but feature {place} was {expected} and now "
        f"is {got}; reorder or rename the columns, or give a plain array.",
        owner=owner,
    )


def is_canonical(row: Row, d: int) -> bool:
    """Whether the indices of a row increase and stay below d; a dense row has none."""
    if not isinstance(row, SparseRow):
        return True
    if not 0 <= row.start <= row.stop <= len(row.data):
        return False
    indices = row.indices[row.start : row.stop].astype(np.int64)
    return bool((np.diff(indices) > 0).all() and (indices < d).all())


def is_instance(row: Row, d: int) -> bool:
    """Whether a row that came from a file is a sound instance of d features."""
    values = values_of(row)
    if values.dtype != np.float64 or values.ndim != 1 or not np.isfinite(values).all():
        return False
    if not isinstance(row, SparseRow):
        return len(values) == d
    return row.indices.dtype == np.uint32 and row.indices.shape == values.shape and is_canonical(row, d)


def canonical(owner: str, rows: Any) -> SparseRows:
    """The same rows with indices sorted and duplicates summed, as copies.

    Most matrices are already in order, so nothing is sorted up front: callers that play rows call this only when a
    step refuses a row that is not in order. Callers that use rows again later sort them first, by ``all_canonical``.
    """
    matrix = _sound_matrix(owner, rows).copy()
    matrix.has_sorted_indices = False
    matrix.has_canonical_format = False
    matrix.sum_duplicates()
    return _csr_rows(owner, matrix)


def all_canonical(owner: str, rows: Rows) -> Rows:
    """The same rows in canonical form; no copy is made where all of them are."""
    if isinstance(rows, DenseRows) or _sound_matrix(owner, rows).has_canonical_format:
        return rows
    return canonical(owner, rows)


def _sound_matrix(owner: str, rows: SparseRows) -> Any:
    """The rows as a scipy matrix whose indices can be followed."""
    indptr = rows.indptr
    stored = min(len(rows.data), len(rows.indices))
    if indptr[0] != 0 or indptr[-1] > stored or (np.diff(indptr) < 0).any():
        raise InputError(
            f"{INSTANCES} must be a sound CSR matrix, got row pointers that leave its arrays.", owner=owner
        )
    used = rows.indices[: indptr[-1]]
    if len(used) and used.max() >= rows.d:
        raise InputError(f"{INSTANCES} must have column indices below {rows.d}, got {used.max()}.", owner=owner)
    return sp.csr_matrix((rows.data, rows.indices.view(np.int32), indptr), (len(indptr) - 1, rows.d))


def describe_unsound(owner: str, row: Row, where: str) -> InputError:
    """The error for an instance with values that are not finite, or too large."""
    values = values_of(row)
    bad = values[~np.isfinite(values)]
    if len(bad):
        return InputError(f"{where} must hold finite numbers only, got {bad[0]}.", owner=owner, got=float(bad[0]))
    return InputError(
        f"{where} must have a norm of at most 1e100, got a value of {np.abs(values).max():.3g}; "
        "scale the instances first.",
        owner=owner,
    )


def _check_sparse(owner: str, name: str, X: Any, tiny: bool = False) -> None:
    """Refuse a sparse matrix whose arrays contradict its shape, before scipy follows them.

    CSR rows are checked inside the steps, so only a matrix that must be converted is checked here.
    """
    if X.format == "csr" and not tiny:
        return
    try:
        if X.format in ("csr", "csc", "bsr"):
            X.check_format(full_check=True)
        elif X.format == "coo":
            sound = all(((at >= 0) & (at < n)).all() for at, n in zip(X.coords, X.shape, strict=True))
            if not sound:
                raise ValueError("indices outside the shape")
    except ValueError as error:
        raise InputError(f"{called(name)} must be a sound sparse matrix, got one with {error}.", owner=owner) from None


def as_numbers(owner: str, name: str, values: Any) -> np.ndarray:
    """Any array-like of real numbers as an array."""
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(f"{called(name)} must be a plain array, got a masked one; fill it first.", owner=owner)
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(
            f"{called(name)} must be an array of numbers, got rows of different lengths.", owner=owner
        ) from None
    if array.dtype == object:
        return _of_objects(owner, name, array, names_of(values))
    _check_kind(owner, name, array.dtype)
    return array


def _of_objects(owner: str, name: str, array: np.ndarray, names: tuple[str, ...] | None) -> np.ndarray:
    """An array of objects as floats, if all are numbers or booleans, as in a table with mixed column types."""
    for place, value in np.ndenumerate(array):
        if not isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating)):
            column = names[place[-1]] if names is not None and place else None
            where = f"column {column!r} of {called(name)}" if column is not None else called(name)
            raise InputError(f"{where} must hold real numbers, got {repr(value)[:60]}.", owner=owner, column=column)
    return array.astype(np.float64)


def _check_kind(owner: str, name: str, dtype: np.dtype) -> None:
    if dtype.kind not in "fiub":
        raise InputError(f"{called(name)} must hold real numbers, got an array of type {dtype}.", owner=owner)


def _csr_rows(owner: str, matrix: Any) -> SparseRows:
    """The arrays of a CSR matrix; the steps check whether the indices are within bounds."""
    n, d = matrix.shape
    if d > np.iinfo(np.int32).max:
        raise InputError(f"{INSTANCES} must have fewer than 2^31 columns, got {d}.", owner=owner)
    data = np.require(matrix.data, np.float64, ["C", "A"])
    indices, indptr = matrix.indices, matrix.indptr
    if len(indptr) != n + 1 or indptr[0] != 0:
        raise InputError(
            f"{INSTANCES} must be a sound CSR matrix, got row pointers of another length or start.", owner=owner
        )
    if indices.dtype != np.int32:
        # Out of range stays out of range: -1 and everything too large become the largest index there is.
        inside = (indices >= 0) & (indices < d)
        indices = np.where(inside, indices, np.iinfo(np.uint32).max).astype(np.uint32)
    return SparseRows(data, np.require(indices, None, ["C", "A"]).view(np.uint32), indptr, int(d))
