"""The recursion behind every second-order learner and the demo of the switch detector, in primal form.

SEL-2ND, the second-order Perceptron, LASEC, least squares and BBQ differ only in b, c and in which labels they learn.
No matrix is ever inverted. With w = 0 and Q = I/b before the first round::

    g = Qx,  q = x.g,  m = w.x           margin p = m / (1 + q),  uncertainty r = q / (1 + q)
    w += g (y - m) / (1 + q)
    Q -= g g' / (1 + q);  Q += I/c       c = infinity adds nothing

Two representations keep q >= 0 in floating point, for every finite x:

- c = infinity: :class:`RootState` holds S with Q = S S', so q = |S'x|^2 is a sum of squares. The update is Potter's:
  S += beta g f' with f = S'x. With sign -1 the same step removes an instance again.
- c < infinity: :class:`FullState` holds Q itself, exactly symmetric (with z = g / sqrt(1 + q), z_i z_j is the same
  product on both sides of the diagonal; see :mod:`askwhen.linalg.triangles`), and q is clamped at 0. Adding I/c to a
  root would cost O(d^3).

bound is an upper bound of the eigenvalues of Q, from 1/b + k/c or the Frobenius norm of what is stored, whichever is
smaller. An instance with |x|^2 bound > 1e12 is refused: its margins would lose their digits.

References: Cesa-Bianchi, Gentile, Zaniboni 2006, Figure 3; Moroshko, Crammer 2014, Figure 1.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import apart
from ..contracts.learner import UPDATED, epoch, is_sound, learn, learns, quadratic, quadratic_bound, restart, score
from ..linalg.triangles import symmetric_product, take_square
from ..linalg.vectors import SOUND, TOO_LARGE, all_finite, all_within, clear, combine_rows, dot, inner, look

LIMIT = 1e12
"""The largest |x|^2 bound: beyond it, margins would lose more digits than the promised 1e-9."""

_LARGEST_BOUND = 1e120
"""Largest bound of the eigenvalues: 1/b is at most 1e100, and so is what every update adds."""

SLACK = 1.0 + 1e-9
"""Inflates the bound on q, so that no rounding in q can ever contradict it (up to dimensions of 10^6)."""


class RootState(NamedTuple):
    """Q = S S'. f = S'x and g = Qx are scratch; bound is one number; ``queried`` is the update policy."""

    w: Any
    S: Any
    f: Any
    g: Any
    bound: Any
    b: float
    queried: bool


class FullState(NamedTuple):
    """Q itself. g = Qx is scratch; bound is one number; ``queried`` is the update policy."""

    w: Any
    Q: Any
    g: Any
    bound: Any
    b: float
    c: float
    queried: bool


def start(d: int, b: float, c: float, queried: bool) -> RootState | FullState:
    """The state before the first round: w = 0, Q = I/b."""
    b, c = float(b), float(c)  # a numpy number of another size would change the type of the state
    w, g, bound, Q = np.zeros(d), np.zeros(d), np.array([1.0 / b]), np.zeros((d, d))
    if math.isinf(c):
        np.fill_diagonal(Q, 1.0 / math.sqrt(b))
        return RootState(w, Q, np.zeros(d), g, bound, b, queried)
    np.fill_diagonal(Q, 1.0 / b)
    return FullState(w, Q, g, bound, b, c, queried)


@is_sound.of(RootState)
def _is_sound_root(state: RootState) -> Any:
    return all_finite(state.w) and is_root(state.S, state.bound[0])


@is_sound.of(FullState)
def _is_sound_full(state: FullState) -> Any:
    return all_finite(state.w) and is_bounded(state.Q, state.bound[0])


def is_bounded(Q: np.ndarray, bound: float) -> bool:
    """Whether no entry of a matrix from a file exceeds the bound of its eigenvalues, up to rounding."""
    return 0.0 <= bound <= _LARGEST_BOUND and all_within(Q, -2.0 * bound, 2.0 * bound)


def is_root(S: np.ndarray, bound: float) -> bool:
    """Whether no entry of a root S from a file exceeds the root of the bound of the eigenvalues of S S'."""
    return 0.0 <= bound <= _LARGEST_BOUND and all_within(S, -2.0 * math.sqrt(bound), 2.0 * math.sqrt(bound))


@score.of(RootState)
def _score_root(state: Any, x: Any) -> Any:
    m, norm2, status = look(state.w, x)
    if status == SOUND and norm2 * state.bound[0] > LIMIT:
        status = TOO_LARGE
    return m, norm2, status


@score.of(FullState)
def _score_full(state: Any, x: Any) -> Any:
    m, norm2, status = look(state.w, x)
    if status == SOUND and norm2 * state.bound[0] > LIMIT:
        status = TOO_LARGE
    return m, norm2, status


@quadratic.of(RootState)
def _quadratic_root(state: Any, x: Any) -> Any:
    combine_rows(state.S, x, state.f)
    return inner(state.f, state.f)


@quadratic.of(FullState)
def _quadratic_full(state: Any, x: Any) -> Any:
    symmetric_product(state.Q, x, state.g)
    return max(dot(state.g, x), 0.0)


@quadratic_bound.of(RootState)
@quadratic_bound.of(FullState)
def _quadratic_bound(state: Any, norm2: float) -> Any:
    return SLACK * state.bound[0] * norm2


@learns.of(RootState)
@learns.of(FullState)
def _learns(state: Any, mistaken: bool) -> Any:
    return mistaken or state.queried


@learn.of(RootState)
def _learn_root(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    absorb(state, m, q, y, 1.0)
    return UPDATED


@apart
def absorb(state: Any, m: float, q: float, y: float, sign: float) -> None:
    """Add (sign 1) or remove (sign -1) the instance whose f is in the state, in place.

    beta solves (I + beta ff')^2 = I - sign ff'/(1 + sign q), written without cancellation.
    """
    w, S, f, g = state.w, state.S, state.f, state.g
    d = len(w)
    total = 1.0 + sign * q
    for i in range(d):
        g[i] = inner(S[i], f)
    gain = sign * (y - m) / total
    for i in range(d):
        w[i] += gain * g[i]
    root = math.sqrt(total)
    beta = -sign / (root * (1.0 + root))
    trace = 0.0
    for i in range(d):
        row = S[i]
        scaled = beta * g[i]
        for j in range(d):
            row[j] += scaled * f[j]
        trace += inner(row, row)
    state.bound[0] = min(1.0 / state.b, trace)


@learn.of(FullState)
def _learn_full(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    w, Q, g = state.w, state.Q, state.g
    d = len(w)
    gain = (y - m) / (1.0 + q)
    for i in range(d):
        w[i] += gain * g[i]
    shrink = 1.0 / math.sqrt(1.0 + q)
    for i in range(d):
        g[i] *= shrink
    squares = take_square(Q, x, g, 1.0 / state.c)
    state.bound[0] = min(state.bound[0] + 1.0 / state.c, math.sqrt(squares))
    return UPDATED


@epoch.of(RootState)
@epoch.of(FullState)
def _epoch(state: Any) -> Any:
    return math.nan


@restart.of(RootState)
def _restart_root(state: Any) -> None:
    clear(state.w)
    for i in range(len(state.w)):
        clear(state.S[i])
        state.S[i, i] = 1.0 / math.sqrt(state.b)
    state.bound[0] = 1.0 / state.b


@restart.of(FullState)
def _restart_full(state: Any) -> None:
    clear(state.w)
    for i in range(len(state.w)):
        clear(state.Q[i])
        state.Q[i, i] = 1.0 / state.b
    state.bound[0] = 1.0 / state.b
