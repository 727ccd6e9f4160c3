"""The second-order recursion in dual form: for every Mercer kernel, and for sparse instances of high dimension.

==========  ==========================================================
X           the k stored instances
kap         K(x_i, x) for each of them; kxx = K(x, x)
beta        coefficients: m = beta.kap
alpha, G    Q = alpha I - X'GX with alpha = 1/b + k/c, so q = alpha kxx - kap'G kap
v           [-G kap; alpha]
==========  ==========================================================

Update: beta = [beta; 0] + v (y - m)/(1 + q); G = [[G, 0], [0, 0]] + v v'/(1 + q); alpha += 1/c. It is the recursion of
:mod:`askwhen.weights.second_order`, which costs O(d^2) a round, in O(k^2). G is symmetric by construction: only its
lower triangle is stored, packed row by row, so that it can grow without moving the old rows. For the linear kernel w
itself is stored alongside beta, and m costs O(nnz).

Removing instance s (a full budget): G -= g g'/G_ss with g its column, beta -= beta_s g/G_ss. For c = infinity G is
(bI + K)^-1 / b, and this is exactly the state of a learner that never saw s. For finite c, what was learnt after s also
depends on when it came; the same step then keeps Q positive, since it only adds to it. (The papers do not evict.)

References: Cesa-Bianchi, Gentile, Zaniboni 2006, section 2; Moroshko, Crammer 2014, section 3.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import apart, step
from ..contracts.learner import (
    UPDATED,
    epoch,
    grow,
    is_sound,
    learn,
    learns,
    quadratic,
    quadratic_bound,
    ready,
    restart,
    score,
)
from ..linalg.vectors import SOUND, TOO_LARGE, add_scaled, all_finite, clear, has_room, inner, look
from .expansion import HELD, Expansion, fill_row, is_linear, keep, new_expansion, place_to_fill
from .instance_store import at
from .kernels import AnyKernel
from .second_order import SLACK

DUAL_LIMIT = 1e6
"""The largest alpha kxx. The quadratic form is a difference of numbers of that size, so that the dual form loses digits
long before the primal one does; beyond this limit, decisions would be affected."""


class DualState(NamedTuple):
    """beta is in ``w.coef``; G is packed; v is scratch; numbers = (alpha, kxx of the instance scored last)."""

    w: Expansion
    G: Any
    v: Any
    numbers: Any
    b: float
    c: float
    queried: bool


def start(
    d: int, sparse: bool, b: float, c: float, queried: bool, kernel: AnyKernel, budget: int | None, evict: str
) -> DualState:
    """The state before the first round: no stored instances, alpha = 1/b."""
    w = new_expansion(d, sparse, kernel, budget, evict)
    return DualState(w, np.zeros(0), np.zeros(0), np.array([1.0 / float(b), 0.0]), float(b), float(c), queried)


@step
def packed_row(G: Any, i: int) -> Any:
    """Row i of the lower triangle, diagonal included."""
    first = i * (i + 1) // 2
    return G[first : first + i + 1]


@apart
def multiply(G: Any, kap: Any, out: Any) -> None:
    """Write G kap to out."""
    for i in range(len(kap)):
        row = packed_row(G, i)
        k = kap[i]
        out[i] = inner(row, kap[: i + 1])
        for j in range(i):
            out[j] += k * row[j]


@apart
def add_outer(G: Any, v: Any, c: float) -> None:
    """G += c v v', in place."""
    for i in range(len(v)):
        row = packed_row(G, i)
        scaled = c * v[i]
        for j in range(i + 1):
            row[j] += scaled * v[j]


@score.of(DualState)
def _score(state: Any, x: Any) -> Any:
    m, kxx, status = look(state.w, x)
    if status == SOUND and kxx * state.numbers[0] > DUAL_LIMIT:
        status = TOO_LARGE
    if status == SOUND:
        state.numbers[1] = kxx
    return m, kxx, status


@quadratic.of(DualState)
def _quadratic(state: Any, x: Any) -> Any:
    return form(state, x)


@step
def form(state: Any, x: Any) -> Any:
    """The quadratic form of the instance scored last."""
    if is_linear(state.w):
        fill_row(state.w, x, state.numbers[1])
    return form_of_row(state.G, state.w.row[: state.w.counts[HELD]], state.numbers)


@apart
def form_of_row(G: Any, kap: Any, numbers: Any) -> Any:
    """The quadratic form from the kernel values, reading the lower triangle once."""
    inside = 0.0
    for i in range(len(kap)):
        row = packed_row(G, i)
        inside += kap[i] * (2.0 * inner(row[:i], kap[:i]) + row[i] * kap[i])
    return max(numbers[0] * numbers[1] - inside, 0.0)


@quadratic_bound.of(DualState)
def _quadratic_bound(state: Any, norm2: float) -> Any:
    return SLACK * state.numbers[0] * norm2


@learns.of(DualState)
def _learns(state: Any, mistaken: bool) -> Any:
    return mistaken or state.queried


@learn.of(DualState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    take_in(state, x, m, q, y)
    return UPDATED


@apart
def take_in(state: Any, x: Any, m: float, q: float, y: float) -> None:
    """Learn x, in place; if the budget is full, an instance is removed first."""
    place = place_to_fill(state.w)
    if place < state.w.counts[HELD]:
        take_out(state, place)
        m, _, _ = look(state.w, x)
        q = form(state, x)
    absorb_at(state, place, x, m, q, y)
    keep(state.w, place, x, state.w.coef[place])
    state.numbers[0] += 1.0 / state.c


@apart
def absorb_at(state: Any, place: int, x: Any, m: float, q: float, y: float) -> None:
    """Learn x as the instance at index ``place``, in place; the caller stores x itself."""
    w, G, alpha = state.w, state.G, state.numbers[0]
    held = w.counts[HELD]
    kap, v = w.row[:held], state.v[: max(held, place + 1)]
    multiply(G, kap, v[:held])
    gain = (y - m) / (1.0 + q)
    for i in range(held):
        v[i] = -v[i]
    v[place] = alpha
    for i in range(held):
        w.coef[i] += gain * v[i]
    w.coef[place] = gain * alpha
    if is_linear(w):
        for i in range(held):
            if i != place:
                add_scaled(w.primal, gain * v[i], at(w.store, w.slots[i]))
        add_scaled(w.primal, gain * alpha, x)
    if place == held:
        clear(packed_row(G, place))
    add_outer(G, v, 1.0 / (1.0 + q))


@apart
def take_out(state: Any, s: int) -> None:
    """Remove the instance at index s from G, beta and w, in place; its row of G is zero afterwards."""
    w, G = state.w, state.G
    held = w.counts[HELD]
    g = state.v[:held]
    for i in range(held):
        g[i] = packed_row(G, s)[i] if i <= s else packed_row(G, i)[s]
    share = w.coef[s] / g[s]
    for i in range(held):
        w.coef[i] -= share * g[i]
        if is_linear(w):
            add_scaled(w.primal, -share * g[i], at(w.store, w.slots[i]))
    add_outer(G, g, -1.0 / g[s])
    w.coef[s] = 0.0
    clear(packed_row(G, s))
    for i in range(s + 1, held):
        packed_row(G, i)[s] = 0.0


@epoch.of(DualState)
def _epoch(state: Any) -> Any:
    return math.nan


@restart.of(DualState)
def _restart(state: Any) -> None:
    clear(state.w)
    state.numbers[0] = 1.0 / state.b


@ready.of(DualState)
def _ready(state: Any, x: Any) -> Any:
    rows = place_to_fill(state.w) + 1 if has_room(state.w, x) else 0
    return rows > 0 and rows * (rows + 1) // 2 <= len(state.G)


@is_sound.of(DualState)
def _is_sound(state: Any) -> Any:
    if not is_sound(state.w):
        return False
    held = int(state.w.counts[HELD])
    whole = len(state.v) == len(state.w.slots) and len(state.G) >= held * (held + 1) // 2
    return whole and all_finite(state.G, state.numbers[:1]) and bool(state.numbers[0] > 0.0)


@grow.of(DualState)
def _grow(state: DualState, entries: int, randomness: np.random.Generator) -> DualState:
    w = grow(state.w, entries, randomness)
    rows = min(int(w.counts[HELD]) + 1, len(w.slots))
    G = state.G
    if rows * (rows + 1) // 2 > len(G):
        G = np.zeros(min(max(64, 2 * len(G), rows * (rows + 1) // 2), len(w.slots) * (len(w.slots) + 1) // 2))
        G[: len(state.G)] = state.G
    return state._replace(w=w, G=G, v=np.zeros(len(w.slots)))
