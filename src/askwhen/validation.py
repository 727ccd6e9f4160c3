"""The checks at the door: parameters when they are given, instances and labels before a round.

Steps trust their arguments. Everything here either returns what the steps need or raises one sentence that names the
parameter, what was expected and what came.
"""

from __future__ import annotations

import dataclasses
import datetime
import math
import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp

from .errors import InputError
from .linalg import DenseRows, SparseRow, SparseRows


def name_of(owner: Any) -> str:
    """How an error message calls this object."""
    return owner if isinstance(owner, str) else type(owner).__name__


def short(part: Any) -> str:
    """A learner, rule or drift guard as one would write it: without what is left at its default."""
    given = [
        f"{field.name}={getattr(part, field.name)!r}"
        for field in dataclasses.fields(part)
        if getattr(part, field.name) != field.default
    ]
    return f"{type(part).__name__}({', '.join(given)})"


def check_number(
    owner: Any,
    name: str,
    value: Any,
    expected: str,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    open_low: bool = True,
    open_high: bool = False,
) -> None:
    """Refuse a parameter that is no number between low and high (``open_`` ends excluded)."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        number = _as_float(value)
        above = number > low if open_low else number >= low
        below = number < high if open_high else number <= high
        if above and below:
            return
    raise InputError(f"{name_of(owner)}: {name} must be {expected}, got {value!r}.")


def check_positive(owner: Any, name: str, value: Any) -> None:
    """Refuse a parameter that is no positive finite number."""
    check_number(owner, name, value, "a positive finite number", 0.0, open_high=True)


def check_count(owner: Any, name: str, value: Any) -> None:
    """Refuse a parameter that is no whole number of at least 1, or too large to count rounds with."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not 1 <= int(value) < 2**31:
        raise InputError(f"{name_of(owner)}: {name} must be a whole number from 1 to 2^31 - 1, got {value!r}.")


def check_flag(owner: Any, name: str, value: Any) -> None:
    """Refuse a parameter that is neither True nor False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name_of(owner)}: {name} must be True or False, got {value!r}.")


def check_seed(owner: Any, seed: Any) -> None:
    """Refuse what cannot seed coins; None may."""
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0):
        raise InputError(f"{name_of(owner)}: seed must be a whole number of at least 0, got {seed!r}.")


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.nan


def check_choice(owner: Any, name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse a parameter that is none of the choices."""
    if not isinstance(value, str) or value not in choices:
        listed = " or ".join(repr(choice) for choice in choices)
        raise InputError(f"{name_of(owner)}: {name} must be {listed}, got {value!r}.")


LARGEST_TIME = 1e15
LARGEST_LABEL = 1e100
_NUMBER = f"a number between -{LARGEST_LABEL:g} and {LARGEST_LABEL:g}"

Row = np.ndarray | SparseRow
Rows = DenseRows | SparseRows


def shape_of(rows: Rows) -> tuple[int, int]:
    """How many instances, of which dimension."""
    return rows.X.shape if isinstance(rows, DenseRows) else (len(rows.indptr) - 1, rows.d)


def part_of(rows: Rows, first: int, last: int) -> Rows:
    """A view of the instances from first to last, the last excluded."""
    if isinstance(rows, DenseRows):
        return DenseRows(rows.X[first:last])
    return rows._replace(indptr=np.ascontiguousarray(rows.indptr[first : last + 1], np.int64))


def values_of(row: Row) -> np.ndarray:
    """The stored entries of a row."""
    return row.data[row.start : row.stop] if isinstance(row, SparseRow) else row


def check_instances(owner: str, X: Any, sparse: bool | None = None) -> Rows:
    """Instances in the form that ``sparse`` asks for. Values are checked inside the steps."""
    if not sp.issparse(X):
        X = _as_numbers(owner, "X", X)
    else:
        _check_sparse(owner, "X", X)
    if X.ndim != 2 or 0 in X.shape:
        raise InputError(f"{owner}: X must be a matrix with at least one row and one column, got shape {X.shape}.")
    _check_kind(owner, "X", X.dtype)
    if sparse is False and sp.issparse(X) and X.format == "csr":
        _check_sparse(owner, "X", X, tiny=True)
    if sparse or (sparse is None and sp.issparse(X)):
        return _csr_rows(owner, X.tocsr() if sp.issparse(X) else sp.csr_matrix(X.astype(np.float64)))
    return DenseRows(np.require(X.toarray() if sp.issparse(X) else X, np.float64, ["C", "A"]))


def check_instance(owner: str, x: Any, sparse: bool | None = None) -> tuple[Row, int]:
    """One instance as a row with its dimension, in the form that ``sparse`` asks for."""
    if sp.issparse(x):
        _check_sparse(owner, "x", x, tiny=True)
    else:
        x = _as_numbers(owner, "x", x)
    _check_kind(owner, "x", x.dtype)
    one = x.ndim == 1 or (sp.issparse(x) and x.shape[0] == 1)
    if not one or 0 in x.shape:
        raise InputError(f"{owner}: x must be one instance with at least one feature, got shape {x.shape}.")
    if sparse or (sparse is None and sp.issparse(x)):
        x = x if sp.issparse(x) else x.astype(np.float64)
        rows = canonical(owner, _csr_rows(owner, sp.csr_matrix(x.reshape(1, -1))))
        return SparseRow(rows.data, rows.indices, 0, int(rows.indptr[1])), rows.d
    dense = np.require(x.toarray().reshape(-1) if sp.issparse(x) else x, np.float64, ["C", "A"])
    return dense, len(dense)


def names_of(X: Any) -> tuple[str, ...] | None:
    """The names of the features, where all of them are texts: the columns of a table, the index of a pandas Series."""
    found = getattr(X, "column_names", None)  # Arrow, whose columns are not the names
    if found is None:
        found = getattr(X, "columns", None)
    if found is None and hasattr(X, "iloc"):
        found = X.index
    names = () if found is None else tuple(found)
    return names if names and all(isinstance(name, str) for name in names) else None


def check_names(owner: str, X: Any, known: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The names to remember: those known, or those of X where none were; others, or in another order, are refused."""
    found = names_of(X)
    if found is None or found == known:
        return known
    if known is None:
        return found
    place = next((i for i, (a, b) in enumerate(zip(known, found, strict=False)) if a != b), min(len(known), len(found)))
    expected, got = (repr(names[place]) if place < len(names) else "no more" for names in (known, found))
    raise InputError(
        f"{owner}: the features must be those of before in the same order, but feature {place} was {expected} and now "
        f"is {got}; reorder or rename the columns, or give a plain array."
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
    """Whether a row that came from a file is one."""
    values = values_of(row)
    if values.dtype != np.float64 or values.ndim != 1 or not np.isfinite(values).all():
        return False
    if not isinstance(row, SparseRow):
        return len(values) == d
    return row.indices.dtype == np.uint32 and row.indices.shape == values.shape and is_canonical(row, d)


def canonical(owner: str, rows: Any) -> SparseRows:
    """The same rows with indices sorted and duplicates summed, in arrays of their own."""
    matrix = _sound_matrix(owner, rows).copy()
    matrix.has_sorted_indices = False
    matrix.has_canonical_format = False
    matrix.sum_duplicates()
    return _csr_rows(owner, matrix)


def all_canonical(owner: str, rows: Rows) -> Rows:
    """The same rows, themselves where all of them are canonical."""
    if isinstance(rows, DenseRows) or _sound_matrix(owner, rows).has_canonical_format:
        return rows
    return canonical(owner, rows)


def _sound_matrix(owner: str, rows: SparseRows) -> Any:
    """The rows as a scipy matrix whose indices can be followed."""
    indptr = rows.indptr
    stored = min(len(rows.data), len(rows.indices))
    if indptr[0] != 0 or indptr[-1] > stored or (np.diff(indptr) < 0).any():
        raise InputError(f"{owner}: X must be a sound CSR matrix, got row pointers that leave its arrays.")
    used = rows.indices[: indptr[-1]]
    if len(used) and used.max() >= rows.d:
        raise InputError(f"{owner}: X must have column indices below {rows.d}, got {used.max()}.")
    return sp.csr_matrix((rows.data, rows.indices.view(np.int32), indptr), (len(indptr) - 1, rows.d))


def describe_unsound(owner: str, row: Row, where: str) -> InputError:
    """The error for an instance that no learner can take."""
    values = values_of(row)
    bad = values[~np.isfinite(values)]
    if len(bad):
        return InputError(f"{owner}: {where} must hold finite numbers only, got {bad[0]}.")
    return InputError(
        f"{owner}: {where} must have a norm of at most 1e100, got a value of {np.abs(values).max():.3g}; "
        "scale the instances first."
    )


def check_time(owner: str, time: Any) -> float:
    """A point in time as a number: a finite number as it is, a date as its seconds since 1970."""
    return float(check_times(owner, [time], 1, "time")[0])


def check_times(owner: str, times: Any, n: int, name: str = "times") -> np.ndarray:
    """Points in time as numbers, one for each instance, none before the one before."""
    if isinstance(times, np.ma.MaskedArray):
        raise InputError(f"{owner}: {name} must be a plain array, got a masked one; fill it first.")
    array = np.asarray(times)
    if array.dtype == object:
        array = np.array([_moment(time) for time in array.ravel().tolist()]).reshape(array.shape)
    if array.dtype.kind == "M":
        gone = np.isnat(array)
        array = (array - np.datetime64(0, "s")) / np.timedelta64(1, "s")
        array[gone] = np.nan
    elif array.dtype.kind not in "fiu":
        raise InputError(f"{owner}: {name} must be numbers, datetime or datetime64, got {array.ravel()[:1].tolist()}.")
    if array.shape != (n,):
        raise InputError(f"{owner}: {name} must hold one time for each of the {n} instances, got shape {array.shape}.")
    array = np.ascontiguousarray(array, np.float64)
    if not (np.abs(array) <= LARGEST_TIME).all():
        raise InputError(f"{owner}: {name} must be finite and at most {LARGEST_TIME:g} in size.")
    if (np.diff(array) < 0).any():
        late = int(np.argmax(np.diff(array) < 0)) + 1
        raise InputError(f"{owner}: {name} must not go back, but time {late} is before the one before it.")
    return array


def _moment(time: Any) -> Any:
    """A datetime as datetime64, in UTC; anything else as it is."""
    if not isinstance(time, datetime.datetime):
        return time
    return np.datetime64(time if time.tzinfo is None else time.astimezone(datetime.UTC).replace(tzinfo=None))


def check_labels(owner: str, y: Any, n: int, regression: bool) -> np.ndarray:
    """Labels as float64: -1 and +1, or finite numbers for a regressor."""
    labels = _as_numbers(owner, "y", y)
    if labels.dtype == np.bool_:
        raise InputError(f"{owner}: y must hold numbers, got True and False; use np.where(y, 1, -1).")
    if labels.shape != (n,):
        raise InputError(f"{owner}: y must hold {n} labels, one for each row of X, got shape {labels.shape}.")
    labels = np.ascontiguousarray(labels, np.float64)
    wrong = ~(np.abs(labels) <= LARGEST_LABEL) if regression else np.abs(labels) != 1.0
    if wrong.any():
        first = int(np.argmax(wrong))
        expected = f"numbers between -{LARGEST_LABEL:g} and {LARGEST_LABEL:g}" if regression else "-1 and +1 only"
        raise InputError(f"{owner}: y must hold {expected}, got {labels[first]:g} in row {first}.")
    return labels


def dimensions_of(owner: str, y: Any) -> int:
    """How many dimensions the labels have."""
    if sp.issparse(y):
        raise InputError(f"{owner}: y must be a dense array, got a sparse {y.format} matrix; use y.toarray().")
    try:
        return np.ndim(y)
    except ValueError:
        raise InputError(f"{owner}: y must be an array of numbers, got rows of different lengths.") from None


def check_label(owner: str, y: Any, regression: bool) -> float:
    """One label as a float: -1 or +1, or a finite number for a regressor."""
    if (type(y) is int or type(y) is float) and (y == 1 or y == -1):
        return float(y)
    if isinstance(y, numbers.Real) and not isinstance(y, bool):
        label = _as_float(y)
        if label == 1.0 or label == -1.0 or (regression and abs(label) <= LARGEST_LABEL):
            return label
    raise InputError(f"{owner}: y must be {_NUMBER if regression else '-1 or +1'}, got {y!r}.")


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
        raise InputError(f"{owner}: {name} must be a sound sparse matrix, got one with {error}.") from None


def _as_numbers(owner: str, name: str, values: Any) -> np.ndarray:
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(f"{owner}: {name} must be a plain array, got a masked one; fill it first.")
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{owner}: {name} must be an array of numbers, got rows of different lengths.") from None
    _check_kind(owner, name, array.dtype)
    return array


def _check_kind(owner: str, name: str, dtype: np.dtype) -> None:
    if dtype.kind not in "fiub":
        raise InputError(f"{owner}: {name} must hold real numbers, got an array of type {dtype}.")


def _csr_rows(owner: str, matrix: Any) -> SparseRows:
    """The arrays of a CSR matrix; whether they are safe to follow is left for the steps to check."""
    n, d = matrix.shape
    if d > np.iinfo(np.int32).max:
        raise InputError(f"{owner}: X must have fewer than 2^31 columns, got {d}.")
    data = np.require(matrix.data, np.float64, ["C", "A"])
    indices, indptr = matrix.indices, matrix.indptr
    if len(indptr) != n + 1 or indptr[0] != 0:
        raise InputError(f"{owner}: X must be a sound CSR matrix, got row pointers of another length or start.")
    if indices.dtype != np.int32:
        # Out of range stays out of range: -1 and everything too large become the largest index there is.
        inside = (indices >= 0) & (indices < d)
        indices = np.where(inside, indices, np.iinfo(np.uint32).max).astype(np.uint32)
    return SparseRows(data, np.require(indices, None, ["C", "A"]).view(np.uint32), indptr, int(d))
