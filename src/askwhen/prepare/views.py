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
from ..compiled.steps import Family, apart, step
from ..contracts.learner import LARGEST_COUNT, is_sound
from ..contracts.views import WAVES, Layout
from ..linalg.rows import DenseRows, Rows, SparseRow, SparseRows, beginning, position, size, value
from ..linalg.vectors import (
    EIGHT,
    FOUR,
    LARGEST,
    NO_DIRECTION,
    SOUND,
    TWELVE,
    UNSOUND,
    all_finite,
    all_within,
    inner,
    measure,
)
from .standardise import STANDARD, K, Prepare, PrepareState, absorb_statistics, transform

HELD = 64
_MEMORY = 10_000
_LATE = 20.0
_PRIME, _FACTOR = 2147483647, 48271
"""Constants of the generator that picks the instance to replace: s = 48271 s modulo 2^31 - 1 (Lehmer). It gives the
same numbers in Python and in compiled code."""

SEEN, DRAW = 0, 1


class ViewsState(NamedTuple):
    """``held`` has a row for each number, NaN where nothing is held yet. counts = (instances, the generator's s).

    ``scratch`` holds the numbers, the ranks and z of the instance that was transformed last, and ``raw``, where there
    are several kinds, all features before the words. ``vectors`` has the length of each vector, of which the first
    begins at feature ``begin``. The numbers from ``d`` on are offsets in the row, see
    :class:`askwhen.contracts.views.Layout`; ``words`` is the number of words, and ``unit`` says whether they are scaled
    to length 1.
    """

    first: PrepareState
    second: PrepareState
    held: Any
    mean: Any
    waves: Any
    counts: Any
    scratch: Any
    raw: Any
    vectors: Any
    d: int
    linear: int
    deviation: int
    ranks: int
    direction: int
    one: int
    width: int
    begin: int
    words: int
    unit: bool


def start_views(prepare: Prepare | None, layout: Layout, randomness: np.random.Generator) -> ViewsState:
    """The state before the first round."""
    d = layout.d
    scale = Prepare(scale="none") if prepare is None else prepare
    first = scale.start(d, False)._replace(bias=False)
    ranked = d if layout.direction > layout.ranks else 0
    second = Prepare(bias=False).start(ranked, False)
    waves = math.sqrt(2.0) * randomness.standard_normal((ranked, WAVES))
    counts = np.array([0, randomness.integers(1, _PRIME)], np.int64)
    held, scratch = np.full((ranked, HELD), np.nan), np.zeros((3, d))
    return ViewsState(
        first,
        second,
        held,
        np.zeros(d),
        waves,
        counts,
        scratch,
        np.zeros(layout.features - layout.words if layout.first or layout.words or not d else 0),
        np.array(layout.vectors, np.int64),
        d,
        layout.linear,
        layout.deviation,
        layout.ranks,
        layout.direction,
        layout.one,
        layout.width,
        layout.first,
        layout.words,
        scale.scale != "none",
    )


def held_rows(state: PrepareState | ViewsState | None) -> set[bytes]:
    """The numbers of the raw instances that are held, as bytes; none where instances are prepared one by one."""
    if not isinstance(state, ViewsState):
        return set()
    return {each.tobytes() for each in (*state.held.T, state.scratch[0])}


def let_go(state: PrepareState | ViewsState | None, x: Any) -> None:
    """Remove an instance from those that are held, in place: copies of others take its place."""
    if not isinstance(state, ViewsState):
        return
    x = x[: state.d]
    m = min(int(state.counts[SEEN]), HELD) if len(state.held) else 0
    is_x = (state.held[:, :m] == x[: len(state.held), None]).all(axis=0)
    others = np.flatnonzero(~is_x)
    for i, place in enumerate(np.flatnonzero(is_x)):
        state.held[:, place] = state.held[:, others[i % len(others)]] if len(others) else 0.0
    if (state.scratch[0] == x).all():
        state.scratch[:] = 0.0
        state.raw[:] = 0.0


def statistics_of(state: PrepareState | ViewsState | None) -> PrepareState | None:
    """The running statistics of the raw features, with or without views."""
    return state.first if isinstance(state, ViewsState) else state


def width_of(state: PrepareState | ViewsState | None, d: int) -> int:
    """The dimension of what the learner sees of instances with d features."""
    if isinstance(state, ViewsState):
        return state.width + (state.words + 1 if state.words else 0)
    return d + bool(state is not None and state.bias)


def as_always(state: PrepareState | ViewsState | None, rows: Rows) -> Rows:
    """The rows with the usual value of every number that has never varied so far, for a model that only predicts.

    The first other value of such a number is many standard deviations away. In a round the statistics take it up, and
    soon it is a value like any other; a model that only predicts would see it as the first one for ever, and everything
    else in the row would fade beside it.
    """
    statistics = statistics_of(state)
    if statistics is None or statistics.kind != STANDARD or statistics.counts[K] == 0.0:
        return rows
    constant, d = statistics.var == 0.0, len(statistics.var)
    if not constant.any():
        return rows
    if isinstance(rows, DenseRows):
        X = rows.X.copy()
        X[:, :d][:, constant] = statistics.mean[constant]
        return DenseRows(X)
    if not isinstance(state, ViewsState):  # sparse features are never centred
        return rows
    known = np.append(constant, False)[np.minimum(rows.indices, d)]
    data = np.where(known, np.append(statistics.mean, 0.0)[np.minimum(rows.indices, d)], rows.data)
    return rows._replace(data=data)


def is_sparse_after(state: PrepareState | ViewsState | None, sparse: bool) -> bool:
    """Whether prepared instances are sparse: where there are several views, only those with words."""
    return state.words > 0 if isinstance(state, ViewsState) else sparse


def entries_of(state: PrepareState | ViewsState, x: SparseRow) -> int:
    """The number of entries that a sparse instance has once it is prepared."""
    if isinstance(state, ViewsState):
        return state.width + 1 + int(np.count_nonzero(x.indices[x.start : x.stop] >= len(state.raw)))
    return x.stop - x.start + int(state.bias)


@is_sound.of(ViewsState)
def _is_sound(state: ViewsState) -> Any:
    held = min(int(state.counts[SEEN]), HELD)
    return (
        is_sound(state.first)
        and is_sound(state.second)
        and all_finite(state.mean, state.waves, state.raw, state.held[:, :held])
        and all_within(state.vectors, 1, state.one)
        and int(state.vectors.sum()) == state.one - state.direction
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
def put_wave(out: Any, k: Any, y: Any) -> None:
    """Write the cosines of four angles from place k on, and their sines, scaled."""
    sine, cosine = half_turn(y)
    put(out, k, alike(_HEIGHT) - alike(2.0 * _HEIGHT) * sine * sine)
    put(out, k + np.uint64(WAVES), alike(2.0 * _HEIGHT) * sine * cosine)


@apart
def curve(waves: Any, v: Any, out: Any) -> None:
    """Write phi(v): 32 cosines, then 32 sines. Half of the angles are added up at once, to keep the processor busy."""
    for k in range(0, WAVES, 16):
        first = np.uint64(k)
        y0 = y1 = y2 = y3 = alike(0.0)
        for j in range(len(v)):
            row, c = waves[j], alike(v[j])
            y0 = y0 + at(row, first) * c
            y1 = y1 + at(row, first + FOUR) * c
            y2 = y2 + at(row, first + EIGHT) * c
            y3 = y3 + at(row, first + TWELVE) * c
        put_wave(out, first, y0)
        put_wave(out, first + FOUR, y1)
        put_wave(out, first + EIGHT, y2)
        put_wave(out, first + TWELVE, y3)


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
    """Convert the part before the words to a dense instance, which gives the same bits as a dense one."""
    raw = state.raw if len(state.raw) > 0 else state.scratch[0]
    _, status = measure(x, len(raw) + state.words)
    if status != SOUND:
        return status
    for j in range(len(raw)):
        raw[j] = 0.0
    n = 0
    while n < size(x) and position(x, n) < len(raw):
        raw[position(x, n)] = value(x, n)
        n += 1
    status = write_views(state, raw, beginning(out, state.width))
    if status == SOUND and state.words > 0:
        write_words(out, x, n, state.width - len(raw), state.width, state.words, state.unit)
    return status


write_words = Family("write_words", forceinline=False)
"""write_words(out, x, n, shift, width, words, unit): write the features of x from entry n on, which are words."""


@write_words.of(np.ndarray)
def _no_words(out: Any, x: Any, n: int, shift: int, width: int, words: int, unit: bool) -> None:
    return


@write_words.of(SparseRow)
def _write_words(out: Any, x: Any, n: int, shift: int, width: int, words: int, unit: bool) -> None:
    """Write the words, scaled to length 1 if ``unit``, and a 1; the indices of everything before are written too."""
    start, norm2 = out.start, 0.0
    for j in range(width):
        out.indices[start + j] = j
    for j in range(n, size(x)):
        norm2 += value(x, j) * value(x, j)
    factor = 1.0 / math.sqrt(norm2) if unit and norm2 > NO_DIRECTION else 1.0
    at = start + width
    for j in range(n, size(x)):
        out.indices[at] = position(x, j) + shift
        out.data[at] = factor * value(x, j)
        at += 1
    out.indices[at] = width + words
    out.data[at] = 1.0


@apart
def write_views(state: Any, x: Any, out: Any) -> Any:
    """Write the row of x, except f, which the learner writes, and words."""
    d, linear, deviation, ranks = state.d, state.linear, state.deviation, state.ranks
    if d > 0:
        numbers = x[:d]
        z = out[linear:deviation]
        status = transform(state.first, numbers, z)
        if status != SOUND:
            return status
        ones_and_zeros(z, d)
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
        if linear > 0:
            curve(state.waves, z[:d], out)
            rank(state.held, numbers, min(state.counts[SEEN], HELD), ranked)
            u = out[ranks + 2 * WAVES : state.direction]
            transform(state.second, ranked, u)
            ones_and_zeros(u, d)
            curve(state.waves, u[:d], out[ranks:])
    return write_directions(state.vectors, x[state.begin :], out[state.direction : state.width])


@apart
def write_directions(lengths: Any, v: Any, out: Any) -> Any:
    """Write every vector of v, scaled to length 1, then a 1 and zeros; return whether the vectors are sound."""
    if len(lengths) == 0:
        return SOUND
    first = 0
    for k in range(len(lengths)):
        part = v[first : first + lengths[k]]
        norm2 = inner(part, part)
        if not norm2 <= LARGEST:
            return UNSOUND
        factor = 1.0 / math.sqrt(norm2) if norm2 > NO_DIRECTION else 0.0
        for j in range(len(part)):
            out[first + j] = factor * part[j]
        first += lengths[k]
    ones_and_zeros(out, first)
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
    state.counts[SEEN] += 1
    if state.d == 0:
        return
    absorb_statistics(state.first, raw)
    n = state.counts[SEEN]
    share = max(1.0 / _LATE, 1.0 / n)
    for j in range(len(z)):
        state.mean[j] += share * (z[j] - state.mean[j])
    if state.linear == 0:
        return
    absorb_statistics(state.second, ranked)
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
    d = width_of(state, len(state.mean))
    if isinstance(rows, DenseRows) or (isinstance(state, ViewsState) and not state.words):
        return DenseRows(np.empty((n, d)))
    indptr = np.asarray(rows.indptr, np.int64) - int(rows.indptr[0])
    if (np.diff(indptr) < 0).any():
        indptr = np.zeros(n + 1, np.int64)  # transform_rows will refuse the first row
    if isinstance(state, ViewsState):
        first, last = int(rows.indptr[0]), int(rows.indptr[-1])
        words = np.append(0, np.cumsum(rows.indices[first:last] >= len(state.raw)))
        indptr = words[indptr] + (state.width + 1) * np.arange(n + 1)
    else:
        indptr = indptr + int(state.bias) * np.arange(n + 1)
    return SparseRows(np.empty(indptr[-1]), np.empty(indptr[-1], np.uint32), indptr, d)
