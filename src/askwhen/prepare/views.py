"""Preparation of several views of each instance, in one row: see :mod:`askwhen.contracts.views`.

Not from a paper. None of the views needs a label: random frequencies make curved functions linear, the deviation from
the running mean shows recent changes, and ranks do not depend on outliers or on any monotone scale.

==========  ==========================================================
Omega       32 frequencies for each feature, normal with variance 2, drawn once; the same for z and u
M           running mean of z: M += max(1/20, 1/t)(z - M). delta = z - M, and 0 in the first round
held        64 raw instances: instance n replaces a random one with probability 64 / min(n, 10^4)
rank_j      2 (#{held < x_j} + #{held = x_j}/2 + 1/2) / (m + 1) - 1 among the m held, before this one is
u           the ranks, standardised as z is
==========  ==========================================================

Only ``absorb_statistics`` changes the statistics; ``transform`` does not.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..compiled.lanes import alike, at, put
from ..compiled.steps import apart, step
from ..contracts.learner import LARGEST_COUNT, is_sound
from ..contracts.views import WAVES, Layout
from ..linalg.rows import DenseRows, Rows, SparseRow, SparseRows, position, size, value
from ..linalg.vectors import SOUND, all_finite, all_within, look
from .standardise import Prepare, PrepareState, absorb_statistics, transform

HELD = 64
_MEMORY = 10_000
_LATE = 20.0
_PRIME, _FACTOR = 2147483647, 48271
"""Constants of the generator that picks the instance to replace: s = 48271 s modulo 2^31 - 1 (Lehmer). It gives the
same numbers in Python and in compiled code."""

SEEN, DRAW = 0, 1


class ViewsState(NamedTuple):
    """``held`` has a row for each feature, NaN where nothing is held yet. counts = (instances, the generator's s).

    ``scratch`` holds the features, the ranks and z of the instance that was transformed last. The numbers are
    offsets in the row, see :class:`askwhen.contracts.views.Layout`.
    """

    first: PrepareState
    second: PrepareState
    held: Any
    mean: Any
    waves: Any
    counts: Any
    scratch: Any
    d: int
    linear: int
    deviation: int
    ranks: int
    width: int


def start_views(prepare: Prepare | None, layout: Layout, randomness: np.random.Generator) -> ViewsState:
    """The state before the first round."""
    d = layout.d
    scale = Prepare(scale="none") if prepare is None else prepare
    first = scale.start(d, False)._replace(bias=False)
    second = Prepare(bias=False).start(d, False)
    waves = math.sqrt(2.0) * randomness.standard_normal((d, WAVES))
    counts = np.array([0, randomness.integers(1, _PRIME)], np.int64)
    held, scratch = np.full((d, HELD), np.nan), np.zeros((3, d))
    places = (d, layout.linear, layout.deviation, layout.ranks, layout.width)
    return ViewsState(first, second, held, np.zeros(d), waves, counts, scratch, *places)


def held_rows(state: PrepareState | ViewsState | None) -> set[bytes]:
    """The raw instances that are held, as bytes; none where instances are prepared one by one."""
    if not isinstance(state, ViewsState):
        return set()
    return {each.tobytes() for each in (*state.held.T, state.scratch[0])}


def let_go(state: PrepareState | ViewsState | None, x: Any) -> None:
    """Remove an instance from those that are held, in place: copies of others take its place."""
    if not isinstance(state, ViewsState):
        return
    m = min(int(state.counts[SEEN]), HELD)
    is_x = (state.held[:, :m] == x[:, None]).all(axis=0)
    others = np.flatnonzero(~is_x)
    for i, place in enumerate(np.flatnonzero(is_x)):
        state.held[:, place] = state.held[:, others[i % len(others)]] if len(others) else 0.0
    if (state.scratch[0] == x).all():
        state.scratch[:] = 0.0


def statistics_of(state: PrepareState | ViewsState | None) -> PrepareState | None:
    """The running statistics of the raw features, with or without views."""
    return state.first if isinstance(state, ViewsState) else state


def width_of(state: PrepareState | ViewsState | None, d: int) -> int:
    """The dimension of what the learner sees of instances with d features."""
    if isinstance(state, ViewsState):
        return state.width
    return d + bool(state is not None and state.bias)


@is_sound.of(ViewsState)
def _is_sound(state: ViewsState) -> Any:
    held = min(int(state.counts[SEEN]), HELD)
    return (
        is_sound(state.first)
        and is_sound(state.second)
        and all_finite(state.mean, state.waves, state.held[:, :held])
        and bool(np.isnan(state.held[:, held:]).all())
        and all_within(state.counts[SEEN], 0, LARGEST_COUNT)
        and all_within(state.counts[DRAW], 1, _PRIME - 1)
    )


_TURN = 1.0 / (2.0 * math.pi)
_ROUND = 1.5 * 2.0**52
"""Adding and subtracting it rounds a float to the nearest whole number, since no bits are left for the fraction."""

_SINE = tuple((-1.0) ** k / math.factorial(2 * k + 1) for k in range(10))
_COSINE = tuple((-1.0) ** k / math.factorial(2 * k) for k in range(11))
_HEIGHT = math.sqrt(1.0 / WAVES)


@step
def series(square: Any, terms: Any) -> Any:
    """The sum of terms[k] square^k, by Horner's scheme, the smallest term first."""
    found = alike(terms[len(terms) - 1])
    for k in range(2, len(terms) + 1):
        found = found * square + alike(terms[len(terms) - k])
    return found


@step
def half_turn(y: Any) -> Any:
    """(sin, cos) of half the angle y, reduced by whole turns: by Taylor's series, exact up to the last bits."""
    t = y * alike(_TURN)
    h = (t - ((t + alike(_ROUND)) - alike(_ROUND))) * alike(math.pi)
    square = h * h
    return series(square, _SINE) * h, series(square, _COSINE)


@apart
def curve(waves: Any, v: Any, out: Any) -> None:
    """Write phi(v): 32 cosines, then 32 sines."""
    for k in range(0, WAVES, 8):
        here, there = np.uint64(k), np.uint64(k + 4)
        y0 = y1 = alike(0.0)
        for j in range(len(v)):
            row, c = waves[j], alike(v[j])
            y0 = y0 + at(row, here) * c
            y1 = y1 + at(row, there) * c
        sine, cosine = half_turn(y0)
        put(out, here, alike(_HEIGHT) - alike(2.0 * _HEIGHT) * sine * sine)
        put(out, here + np.uint64(WAVES), alike(2.0 * _HEIGHT) * sine * cosine)
        sine, cosine = half_turn(y1)
        put(out, there, alike(_HEIGHT) - alike(2.0 * _HEIGHT) * sine * sine)
        put(out, there + np.uint64(WAVES), alike(2.0 * _HEIGHT) * sine * cosine)


@apart
def rank(held: Any, x: Any, m: int, out: Any) -> None:
    """Write the rank of every feature among the m held values, from -1 to 1."""
    for j in range(len(x)):
        row, here = held[j], x[j]
        below = 0
        for k in range(HELD):  # nothing is below or equal to NaN
            below += (1 if row[k] < here else 0) + (1 if row[k] <= here else 0)
        out[j] = (below + 1.0) / (m + 1.0) - 1.0


@transform.of(ViewsState, np.ndarray)
def _transform_dense(state: Any, x: Any, out: Any) -> Any:
    return write_views(state, x, out)


@transform.of(ViewsState, SparseRow)
def _transform_sparse(state: Any, x: Any, out: Any) -> Any:
    """Convert a sparse instance to a dense one, which gives the same bits as a dense instance."""
    _, _, status = look(state.mean, x)
    if status != SOUND:
        return status
    dense = state.scratch[0]
    for j in range(len(dense)):
        dense[j] = 0.0
    for j in range(size(x)):
        dense[position(x, j)] = value(x, j)
    return write_views(state, dense, out)


@apart
def write_views(state: Any, x: Any, out: Any) -> Any:
    """Write the row of x, except f, which the learner writes."""
    d, linear, deviation, ranks = state.d, state.linear, state.deviation, state.ranks
    z = out[linear:deviation]
    status = transform(state.first, x, z)
    if status != SOUND:
        return status
    ones_and_zeros(z, d)
    curve(state.waves, z[:d], out)
    raw, ranked, centred = state.scratch[0], state.scratch[1], state.scratch[2]
    for j in range(d):
        raw[j], centred[j] = x[j], z[j]
    if ranks > deviation:
        delta = out[deviation:ranks]
        begun = 1.0 if state.counts[SEEN] > 0 else 0.0
        for j in range(d):
            delta[j] = begun * (z[j] - state.mean[j])
        for j in range(d, len(delta)):
            delta[j] = 0.0
    rank(state.held, x, min(state.counts[SEEN], HELD), ranked)
    u = out[ranks + 2 * WAVES :]
    transform(state.second, ranked, u)
    ones_and_zeros(u, d)
    curve(state.waves, u[:d], out[ranks:])
    return SOUND


@step
def ones_and_zeros(stretch: Any, d: int) -> None:
    """Write a 1 after d features, and zeros after that, in place."""
    stretch[d] = 1.0
    for j in range(d + 1, len(stretch)):
        stretch[j] = 0.0


@absorb_statistics.of(ViewsState, np.ndarray)
@absorb_statistics.of(ViewsState, SparseRow)
def _absorb(state: Any, x: Any) -> None:
    raw, ranked, z = state.scratch[0], state.scratch[1], state.scratch[2]
    absorb_statistics(state.first, raw)
    absorb_statistics(state.second, ranked)
    state.counts[SEEN] += 1
    n = state.counts[SEEN]
    share = max(1.0 / _LATE, 1.0 / n)
    for j in range(len(z)):
        state.mean[j] += share * (z[j] - state.mean[j])
    place = n - 1
    if n > HELD:
        state.counts[DRAW] = state.counts[DRAW] * _FACTOR % _PRIME
        place = int(state.counts[DRAW] / _PRIME * min(n, _MEMORY))
    if place < HELD:
        for j in range(len(raw)):
            state.held[j, place] = raw[j]


def empty_output(state: PrepareState | ViewsState, rows: Rows) -> Rows:
    """Uninitialised rows for the result of ``transform_rows``."""
    n = len(rows.X) if isinstance(rows, DenseRows) else len(rows.indptr) - 1
    if isinstance(state, ViewsState):
        return DenseRows(np.empty((n, state.width)))
    d = width_of(state, len(state.mean))
    if isinstance(rows, DenseRows):
        return DenseRows(np.empty((n, d)))
    indptr = np.asarray(rows.indptr, np.int64) - int(rows.indptr[0])
    if (np.diff(indptr) < 0).any():
        indptr = np.zeros(n + 1, np.int64)  # transform_rows will refuse the first row
    indptr = indptr + int(state.bias) * np.arange(n + 1)
    return SparseRows(np.empty(indptr[-1]), np.empty(indptr[-1], np.uint32), indptr, d)
