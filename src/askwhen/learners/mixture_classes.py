"""Mixture for several classes: the same views and drift levels, with matrices that all classes share.

Every asked label is learnt by all classes, as +1 by its own and as -1 by the others. Then Q, q and g depend only on
the instances: an expert has one Q, and a weight vector w_j for each class. A round costs O(D^2 + k D).

==========  ==========================================================
m_ej        w_ej.v of expert e and class j
p_ej        m_ej / (1 + q_e), clipped to [-1, 1]
p_j         the mean of p_ej over the scored experts, by their weights; the largest is predicted, the first among equals
z           half the gap between the two largest p_j, which is used as the margin
loss_e      ((p_ec - the largest p_ej of another class) / 2 - 1)^2 for a label of class c
f_tau,j     N_j / (S + 1/2) for class j: recent labels, +1 for its own and -1 for others; of every class but the first,
            up to nine
==========  ==========================================================

With two classes this is :mod:`askwhen.learners.mixture`, except for the sign. With open classes there are spare slots,
which learn -1 from every label. A new class takes the next spare slot, whose weights are exactly those that the class
would have had if it had been known from the start.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import apart, step
from ..contracts.learner import (
    LARGEST_COUNT,
    UPDATED,
    enter,
    hear,
    is_sound,
    learn,
    leave,
    quadratic,
    restart,
    score,
    weights,
    widen,
)
from ..contracts.views import Layout
from ..linalg.single import form_in_single, product_in_single, take_square_in_single
from ..linalg.vectors import LARGEST, SOUND, TOO_LARGE, UNSOUND, all_within, clear, inner
from ..weights.class_slots import (
    FIRST_SLOTS,
    TINY,
    choose,
    is_labelled,
    is_opened,
    loss_by_gap,
    register_classes,
    repeat_last,
)
from .mixing import is_mixture, register_mixture, shift_weights, weigh_alike
from .view_blocks import FADE, LIMIT, SCORED, blocks_of, is_sound_matrices, levels_of, one_of

RECENT_CLASSES = 9
"""Largest number of classes whose recent labels are features."""

_Q, _LOSS = 0, 1


class ClassBlock(NamedTuple):
    """Experts on one part of the row, from ``start`` on: w by expert and class, Q (lower triangle), g and 1/c."""

    w: Any
    Q: Any
    g: Any
    drift: Any
    start: int
    first: int


class SeveralState(NamedTuple):
    """``m`` by expert and class, ``mean`` = p_j; ``seen`` = (q, loss) by expert; told = (N_j by tau, S).

    ``opened`` is the number of classes so far: all of them, unless classes are open.
    """

    linear: ClassBlock
    curved: ClassBlock
    deviation: ClassBlock
    ranks: ClassBlock
    mix: Any
    scored: Any
    m: Any
    mean: Any
    seen: Any
    single: Any
    told: Any
    best: Any
    opened: Any
    margins: Any
    linear_one: int
    place: int
    multi: bool


register_mixture(SeveralState)
register_classes(SeveralState)


def recent_label_features(k: int) -> int:
    """Number of features for the recent labels of k classes; 0 means open classes."""
    return 2 * (min(k - 1, RECENT_CLASSES) if k > 0 else RECENT_CLASSES)


def start_several(layout: Layout, opened: int, multi: bool = False) -> SeveralState:
    """The state before the first round, for rows of this layout and ``opened`` classes or labels; 0 means open ones."""
    k, numbers = opened or FIRST_SLOTS, recent_label_features(opened) // 2 + 1
    blocks, levels, first = [], levels_of(layout), 0
    for name, (start, stop) in blocks_of(layout).items():
        E, D = len(levels[name]), stop - start
        Q, g = np.tile(np.eye(D, dtype=np.float32), (E, 1, 1)), np.zeros((E, D), np.float32)
        drift = np.array([1.0 / c for c in levels[name]])
        blocks.append(ClassBlock(np.zeros((E, k, D)), Q, g, drift, start, first))
        first += E
    linear, curved, deviation, ranks = blocks
    return SeveralState(
        linear,
        curved,
        deviation,
        ranks,
        np.full(first, 1.0 / first),
        np.ones(first, np.bool_),
        np.zeros((first, k)),
        np.zeros(k),
        np.zeros((2, first)),
        np.zeros(layout.width, np.float32),
        np.zeros((2, numbers)),
        np.zeros(1, np.int64),
        np.array([opened]),
        np.zeros(k),
        one_of(layout),
        layout.told,
        multi,
    )


@apart
def score_classes(block: Any, scored: Any, m: Any, seen: Any, x: Any, single: Any) -> None:
    """Compute m by class, and q, of the scored experts."""
    stop = block.start + block.w.shape[2]
    v, in_single = x[block.start : stop], single[block.start : stop]
    for i in range(len(block.drift)):
        e = block.first + i
        if scored[e]:
            for j in range(m.shape[1]):
                m[e, j] = inner(block.w[i, j], v)
            seen[_Q, e] = max(form_in_single(block.Q[i], in_single), 0.0)


@apart
def ready_classes(block: Any, scored: Any, m: Any, seen: Any, x: Any, single: Any) -> None:
    """Compute g of every expert, and m and q of those that were not scored."""
    stop = block.start + block.w.shape[2]
    v, in_single = x[block.start : stop], single[block.start : stop]
    for i in range(len(block.drift)):
        e, g = block.first + i, block.g[i]
        product_in_single(block.Q[i], in_single, g)
        if not scored[e]:
            q = 0.0
            for j in range(len(g)):
                q += g[j] * v[j]
            seen[_Q, e] = max(q, 0.0)
            for j in range(m.shape[1]):
                m[e, j] = inner(block.w[i, j], v)


@apart
def learn_classes(block: Any, m: Any, seen: Any, c: int, multi: bool) -> None:
    """Let every expert learn the label c, in place, after ``ready_classes``."""
    for i in range(len(block.drift)):
        e = block.first + i
        g, whole = block.g[i], 1.0 + seen[_Q, e]
        for j in range(m.shape[1]):
            gain, w = ((1.0 if is_labelled(c, j, multi) else -1.0) - m[e, j]) / whole, block.w[i, j]
            for f in range(len(w)):
                w[f] += gain * g[f]
        shrink = np.float32(1.0 / math.sqrt(whole))
        for f in range(len(g)):
            g[f] *= shrink
        take_square_in_single(block.Q[i], g, block.drift[i])


@apart
def restart_classes(block: Any) -> None:
    """Forget everything, in place."""
    for i in range(len(block.drift)):
        for j in range(block.w.shape[1]):
            clear(block.w[i, j])
        for f in range(block.w.shape[2]):
            clear(block.Q[i, f])
            block.Q[i, f, f] = 1.0


@step
def clip(p: float) -> Any:
    """The number p, clipped to [-1, 1]."""
    return min(max(p, -1.0), 1.0)


@enter.of(SeveralState)
def _enter(state: Any, x: Any) -> None:
    told = state.told
    T = told.shape[1] - 1
    for tau in range(2):
        for j in range(T):
            x[state.place + tau * T + j] = told[tau, j] / (told[tau, T] + 0.5)


@leave.of(SeveralState)
def _leave(state: Any) -> None:
    for tau in range(2):
        for j in range(state.told.shape[1]):
            state.told[tau, j] *= FADE[tau]


@hear.of(SeveralState)
def _hear(state: Any, y: float, chance: float) -> None:
    told = state.told
    T = told.shape[1] - 1
    for tau in range(2):
        for j in range(T):
            told[tau, j] += 1.0 if is_labelled(int(y), j + 1, state.multi) else -1.0
        told[tau, T] += 1.0


@score.of(SeveralState)
def _score(state: Any, x: Any) -> Any:
    """Compute m and q of the scored experts, p_j of the classes, the best class, and half its gap to the next."""
    linear = state.linear
    z = x[linear.start : linear.start + state.linear_one + 1]
    norm2 = inner(z, z)
    if not norm2 <= LARGEST:
        return 0.0, 0.0, UNSOUND
    if norm2 > LIMIT:
        return 0.0, 0.0, TOO_LARGE
    scored, seen, mix, single, m, mean = state.scored, state.seen, state.mix, state.single, state.m, state.mean
    for j in range(len(x)):
        single[j] = x[j]
    score_classes(linear, scored, m, seen, x, single)
    score_classes(state.curved, scored, m, seen, x, single)
    score_classes(state.deviation, scored, m, seen, x, single)
    score_classes(state.ranks, scored, m, seen, x, single)
    clear(mean)
    q = total = 0.0
    for e in range(len(mix)):
        if scored[e]:
            for j in range(len(mean)):
                mean[j] += mix[e] * clip(m[e, j] / (1.0 + seen[_Q, e]))
            q += mix[e] * seen[_Q, e]
            total += mix[e]
    q /= total
    seen[_LOSS, 0] = q
    gap = choose(mean, state.best, state.opened[0], state.multi) / total
    for j in range(len(mean)):
        mean[j] /= total
    return max(0.5 * gap * (1.0 + q), TINY), norm2, SOUND


@quadratic.of(SeveralState)
def _quadratic(state: Any, x: Any) -> Any:
    return state.seen[_LOSS, 0]


@learn.of(SeveralState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    """Update the weights of the experts, then let every expert learn, in place."""
    scored, seen, single, each, c = state.scored, state.seen, state.single, state.m, int(y)
    ready_classes(state.linear, scored, each, seen, x, single)
    ready_classes(state.curved, scored, each, seen, x, single)
    ready_classes(state.deviation, scored, each, seen, x, single)
    ready_classes(state.ranks, scored, each, seen, x, single)
    weigh_by_gap(state, c)
    learn_classes(state.linear, each, seen, c, state.multi)
    learn_classes(state.curved, each, seen, c, state.multi)
    learn_classes(state.deviation, each, seen, c, state.multi)
    learn_classes(state.ranks, each, seen, c, state.multi)
    return UPDATED


@step
def weigh_by_gap(state: Any, c: int) -> None:
    """Update the weights by the losses of all experts, and choose which of them are scored from now on, in place."""
    seen, mix, m = state.seen, state.mix, state.m
    for e in range(len(mix)):
        for j in range(m.shape[1]):
            state.margins[j] = clip(m[e, j] / (1.0 + seen[_Q, e]))
        seen[_LOSS, e] = loss_by_gap(state.margins, c, state.multi)
    shift_weights(mix, seen[_LOSS])
    top = 0.0
    for e in range(len(mix)):
        top = max(top, mix[e])
    for e in range(len(mix)):
        state.scored[e] = mix[e] >= SCORED * top


@restart.of(SeveralState)
def _restart(state: Any) -> None:
    restart_classes(state.linear)
    restart_classes(state.curved)
    restart_classes(state.deviation)
    restart_classes(state.ranks)
    weigh_alike(state.mix)
    for e in range(len(state.mix)):
        state.scored[e] = True
    for tau in range(2):
        clear(state.told[tau])


@is_sound.of(SeveralState)
def _is_sound(state: SeveralState) -> Any:
    mix, S = state.mix, state.told[:, -1:]
    recent = all_within(S, 0.0, LARGEST_COUNT) and all_within(np.abs(state.told[:, :-1]) - S, -LARGEST, 1e-6)
    scored = np.array_equal(state.scored, mix >= SCORED * mix.max())
    matrices = all(map(is_sound_matrices, (state.linear, state.curved, state.deviation, state.ranks)))
    return is_mixture(mix) and recent and scored and matrices and is_opened(state)


@widen.of(SeveralState)
def _widen(state: SeveralState, slots: int) -> SeveralState:
    wider = {
        name: getattr(state, name)._replace(w=repeat_last(getattr(state, name).w, slots, 1))
        for name in ("linear", "curved", "deviation", "ranks")
    }
    m, mean, margins = repeat_last(state.m, slots, 1), repeat_last(state.mean, slots), np.zeros(slots)
    return state._replace(m=m, mean=mean, margins=margins, **wider)


@weights.of(SeveralState)
def _weights(state: SeveralState) -> Any:
    k = int(state.opened[0])
    found = np.zeros((k, state.ranks.start + state.ranks.w.shape[2]))
    for block in (state.linear, state.curved, state.deviation, state.ranks):
        mix = state.mix[block.first : block.first + len(block.w)]
        found[:, block.start : block.start + block.w.shape[2]] += np.tensordot(mix, block.w[:, :k], 1)
    return found
