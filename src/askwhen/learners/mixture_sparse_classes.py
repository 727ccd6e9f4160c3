"""Mixture for several classes and instances with many features: :mod:`askwhen.learners.mixture_sparse` for each class.

The variances D of the least-squares experts depend only on the instances, so all classes share them; every class has
its own weights and sums of squares G of the gradients. A round costs O(nnz k), and memory is O(d k). Margins, the
best class, the gap and the losses of experts are as in :mod:`askwhen.learners.mixture_classes`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import step
from ..contracts.learner import UPDATED, is_sound, learn, quadratic, restart, score, weights, widen
from ..linalg.rows import position, size, value
from ..linalg.vectors import LARGEST, SOUND, TOO_LARGE, all_within, clear, measure
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
from .mixture_classes import clip
from .mixture_sparse import DRIFT, EXPERTS, FIRST_SQUARE, FIRST_VARIANCE, LIMIT, RATES, squash

_Q, _LOSS = 0, 1


class SeveralDiagonalState(NamedTuple):
    """lines[feature, class] = (w, w, w, w, G, G); taken = 10 - D by feature, twice; m and gain by expert and class."""

    lines: Any
    taken: Any
    mix: Any
    m: Any
    mean: Any
    seen: Any
    gain: Any
    best: Any
    opened: Any
    margins: Any
    multi: bool


register_mixture(SeveralDiagonalState)
register_classes(SeveralDiagonalState)


def start_several_diagonal(d: int, opened: int, multi: bool = False) -> SeveralDiagonalState:
    """The state before the first round, for ``opened`` classes or labels; 0 means open classes."""
    k = opened or FIRST_SLOTS
    lines, taken, mix = np.zeros((d, k, 6)), np.zeros((d, 2)), np.full(EXPERTS, 1.0 / EXPERTS)
    best = np.zeros(1, np.int64)
    m, gain, seen = np.zeros((EXPERTS, k)), np.zeros((EXPERTS, k)), np.zeros((2, EXPERTS))
    known, margins = np.array([opened]), np.zeros(k)
    return SeveralDiagonalState(lines, taken, mix, m, np.zeros(k), seen, gain, best, known, margins, multi)


@widen.of(SeveralDiagonalState)
def _widen(state: SeveralDiagonalState, slots: int) -> SeveralDiagonalState:
    lines, m, gain = (repeat_last(array, slots, 1) for array in (state.lines, state.m, state.gain))
    margins, mean = np.zeros(slots), repeat_last(state.mean, slots)
    return state._replace(lines=lines, m=m, gain=gain, mean=mean, margins=margins)


@is_sound.of(SeveralDiagonalState)
def _is_sound(state: SeveralDiagonalState) -> Any:
    return (
        all_within(state.lines, -LARGEST, LARGEST)
        and all_within(state.lines[:, :, 4:], 0.0, LARGEST)
        and all_within(state.taken, 0.0, FIRST_VARIANCE)
        and is_mixture(state.mix)
        and is_opened(state)
    )


@step
def margin_of(state: Any, e: int, j: int) -> Any:
    """p_ej, between -1 and 1."""
    m = state.m[e, j]
    return squash(m) if e < 2 else clip(m / (1.0 + state.seen[_Q, e]))


@score.of(SeveralDiagonalState)
def _score(state: Any, x: Any) -> Any:
    lines, seen, m, mean, mix = state.lines, state.seen, state.m, state.mean, state.mix
    norm2, status = measure(x, len(lines))
    if status == SOUND and norm2 > LIMIT:
        status = TOO_LARGE
    if status != SOUND:
        return 0.0, 0.0, status
    q0 = q1 = 0.0
    for e in range(EXPERTS):
        clear(m[e])
    for i in range(size(x)):
        v, f = value(x, i), np.uint64(position(x, i))
        taken = state.taken[f]
        q0 += (FIRST_VARIANCE - taken[0]) * v * v
        q1 += (FIRST_VARIANCE - taken[1]) * v * v
        for j in range(len(mean)):
            line = lines[f, j]
            for e in range(EXPERTS):
                m[e, j] += line[e] * v
    seen[_Q, 2], seen[_Q, 3] = max(q0, 0.0), max(q1, 0.0)
    for j in range(len(mean)):
        p = 0.0
        for e in range(EXPERTS):
            p += mix[e] * margin_of(state, e, j)
        mean[j] = p
    gap = choose(mean, state.best, state.opened[0], state.multi)
    m_ = max(0.5 * gap * (1.0 + _form(state)), TINY)
    return m_, norm2, SOUND if gap <= 2.0 + 1e-9 else TOO_LARGE


@step
def _form(state: Any) -> Any:
    """The weighted mean of the two q."""
    mix, q = state.mix, state.seen[_Q]
    return (mix[2] * q[2] + mix[3] * q[3]) / (mix[2] + mix[3])


@quadratic.of(SeveralDiagonalState)
def _quadratic(state: Any, x: Any) -> Any:
    return _form(state)


@learn.of(SeveralDiagonalState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    """Update the weights of the experts, then let every expert learn, in place."""
    c, k, seen = int(y), len(state.mean), state.seen
    for e in range(EXPERTS):
        for j in range(k):
            state.margins[j] = margin_for_loss(state, e, j)
        seen[_LOSS, e] = loss_by_gap(state.margins, c, state.multi)
    shift_weights(state.mix, seen[_LOSS])
    for j in range(k):
        note_gains(state, j, 1.0 if is_labelled(c, j, state.multi) else -1.0)
    for i in range(size(x)):
        v, f = value(x, i), np.uint64(position(x, i))
        if v != 0.0:
            taken = state.taken[f]
            still, moving = FIRST_VARIANCE - taken[0], FIRST_VARIANCE - taken[1]
            for j in range(k):
                learn_feature(state.lines[f, j], state.gain, j, v, still, moving)
            taken[0] = FIRST_VARIANCE - still / (1.0 + still * v * v)
            taken[1] = max(FIRST_VARIANCE - moving / (1.0 + moving * v * v) - DRIFT, 0.0)
    return UPDATED


@step
def margin_for_loss(state: Any, e: int, j: int) -> Any:
    """The margin from which an expert's loss is computed; for least squares it is not divided by 1 + q."""
    return squash(state.m[e, j]) if e < 2 else clip(state.m[e, j])


@step
def note_gains(state: Any, j: int, y: float) -> None:
    """Compute the step of each expert of class j for the label y, in place."""
    m, gain, q = state.m, state.gain, state.seen[_Q]
    for e in range(2):
        gain[e, j] = y / (1.0 + math.exp(y * m[e, j]))
    for e in range(2, EXPERTS):
        gain[e, j] = (y - m[e, j]) / (1.0 + q[e])


@step
def learn_feature(line: Any, gain: Any, j: int, v: float, still: float, moving: float) -> None:
    """Let the experts of class j learn from one feature, in place."""
    for e in range(2):
        g = gain[e, j] * v
        line[4 + e] += g * g
        line[e] += RATES[e] * g / math.sqrt(line[4 + e] + FIRST_SQUARE)
    line[2] += still * v * gain[2, j]
    line[3] += moving * v * gain[3, j]


@restart.of(SeveralDiagonalState)
def _restart(state: Any) -> None:
    for i in range(len(state.lines)):
        for j in range(len(state.mean)):
            clear(state.lines[i, j])
        clear(state.taken[i])
    weigh_alike(state.mix)


@weights.of(SeveralDiagonalState)
def _weights(state: SeveralDiagonalState) -> Any:
    return (state.lines[:, : int(state.opened[0]), :EXPERTS] @ state.mix).T
