"""Mixture for instances with many features, mostly text: four experts that learn each feature separately.

Not from a paper. A round costs O(nnz) and memory is O(d), however many labels were asked for. Each feature has one line
of eight numbers: four weights w, two sums of squares G, and 10 - D for two variances D. All are zero before the first
label, so that a feature that never occurs takes no space in a file. Instances have unit norm, and a bias at the end.

==============  ==========================================================
gradient, 2 x   logistic loss by AdaGrad (Duchi, Hazan, Singer 2011), rates .5 and 1: with g = y / (1 + e^(y m)),
                G += (g v)^2, w += rate g v / sqrt(G + 10^-8). p = h / sqrt(1 + h^2), h = m / 4
least squares   with a diagonal matrix: q = sum of D v^2, w += D v (y - m) / (1 + q), D = D / (1 + D v^2).
                p = m / (1 + q), clipped; its loss is that of m, clipped
the same        with drift: every label that touches a feature adds .1 to its D, up to 10
==============  ==========================================================

Weights of experts are as in :mod:`askwhen.learners.mixing`. The mixture's p is the weighted mean of the p_e, and its q
that of the two q_e. A regressor's experts learn (y - y_bar) / s, see :mod:`askwhen.learners.label_scale`; for the
gradients g = y - m, and p = m, clipped.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..compiled.lanes import alike, at, put
from ..compiled.steps import step
from ..contracts.learner import UPDATED, hear, is_sound, learn, quadratic, restart, score, weights
from ..linalg.rows import position, size, value
from ..linalg.vectors import LARGEST, SOUND, TOO_LARGE, all_within, clear, lines_of_zeros, measure
from .label_scale import CENTRE, REACH, clipped, forget_scale, is_sound_scale, loss_of, new_scale, spread_of, take_label
from .mixing import is_mixture, register_mixture, shift_weights, weigh_alike

NAMES = ("gradient, rate .5", "gradient, rate 1", "squares, still", "squares, drifting")
EXPERTS = 4
RATES = (0.5, 1.0)
FIRST_SQUARE = 1e-8
FIRST_VARIANCE = 10.0
DRIFT = 0.1
LIMIT = 1e6
"""The largest |x|^2; longer instances are refused, and must be scaled first."""

_M, _LOSS, _Q = range(3)


class DiagonalState(NamedTuple):
    """lines = (w, w, w, w, G, G, 10 - D, 10 - D) by feature; ``seen`` = (m by expert, losses, (0, 0, q, q))."""

    lines: Any
    mix: Any
    seen: Any
    labels: Any
    regression: bool


register_mixture(DiagonalState)


def start_diagonal(d: int, regression: bool) -> DiagonalState:
    """The state before the first round."""
    mix, seen = np.full(EXPERTS, 1.0 / EXPERTS), np.zeros((3, EXPERTS))
    return DiagonalState(lines_of_zeros(d), mix, seen, new_scale(regression), regression)


@step
def forget_lines(lines: Any) -> None:
    """Forget every feature, in place."""
    for i in range(len(lines)):
        clear(lines[i])


@is_sound.of(DiagonalState)
def _is_sound(state: DiagonalState) -> Any:
    squares, variances = state.lines[:, 4:6], state.lines[:, 6:]
    sound = all_within(squares, 0.0, LARGEST) and all_within(variances, 0.0, FIRST_VARIANCE)
    scale = is_sound_scale(state.labels, state.regression)
    return sound and all_within(state.lines, -LARGEST, LARGEST) and is_mixture(state.mix) and scale


@step
def squash(m: float) -> Any:
    """The margin of a logistic expert, within -1 and 1."""
    h = 0.25 * m
    return h / math.sqrt(1.0 + h * h)


@score.of(DiagonalState)
def _score(state: Any, x: Any) -> Any:
    """Compute all m and q while reading the row once, and the mixture's m."""
    lines, seen = state.lines, state.seen
    norm2, status = measure(x, len(lines))
    if status == SOUND and norm2 > LIMIT:
        status = TOO_LARGE
    if status != SOUND:
        return 0.0, 0.0, status
    m0 = m1 = q0 = q1 = alike(0.0)
    n = size(x)
    for j in range(0, n - n % 2, 2):
        a, b = value(x, j), value(x, j + 1)
        here, there = lines[np.uint64(position(x, j))], lines[np.uint64(position(x, j + 1))]
        m0 = m0 + at(here, 0) * alike(a)
        m1 = m1 + at(there, 0) * alike(b)
        q0 = q0 + at(here, 4) * alike(a * a)
        q1 = q1 + at(there, 4) * alike(b * b)
    if n % 2 == 1:
        a, here = value(x, n - 1), lines[np.uint64(position(x, n - 1))]
        m0 = m0 + at(here, 0) * alike(a)
        q0 = q0 + at(here, 4) * alike(a * a)
    put(seen[_M], 0, m0 + m1)
    taken = q0 + q1
    put(seen[_Q], 0, alike(FIRST_VARIANCE * norm2) - taken)
    for e in range(2, EXPERTS):
        seen[_Q, e] = max(seen[_Q, e], 0.0)
    m = mixed(state)
    return m, norm2, SOUND if abs(m) <= LARGEST else TOO_LARGE


@quadratic.of(DiagonalState)
def _quadratic(state: Any, x: Any) -> Any:
    return mixed_form(state)


@step
def mixed_form(state: Any) -> Any:
    """The weighted mean of the two q."""
    mix, q = state.mix, state.seen[_Q]
    return (mix[2] * q[2] + mix[3] * q[3]) / (mix[2] + mix[3])


@step
def mixed(state: Any) -> Any:
    """The mixture's m."""
    mix, m, q, labels = state.mix, state.seen[_M], state.seen[_Q], state.labels
    if state.regression:
        spread = spread_of(labels)
        reach = labels[REACH] / spread
        p = mix[0] * clipped(m[0], reach) + mix[1] * clipped(m[1], reach)
    else:
        spread, reach = 1.0, 1.0
        p = mix[0] * squash(m[0]) + mix[1] * squash(m[1])
    p += mix[2] * clipped(m[2] / (1.0 + q[2]), reach) + mix[3] * clipped(m[3] / (1.0 + q[3]), reach)
    return (labels[CENTRE] + spread * p) * (1.0 + mixed_form(state))


@hear.of(DiagonalState)
def _hear(state: Any, y: float, chance: float) -> None:
    if state.regression:
        take_label(state.labels, y, chance)


@learn.of(DiagonalState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    """Update the weights of the experts, then let every expert learn, in place."""
    lines, labels, seen = state.lines, state.labels, state.seen
    m0, m1, m2, m3 = seen[_M, 0], seen[_M, 1], seen[_M, 2], seen[_M, 3]
    losses = seen[_LOSS]
    if state.regression:
        spread = spread_of(labels)
        reach = labels[REACH] / spread
        y = clipped((y - labels[CENTRE]) / spread, reach)
        losses[0], losses[1] = loss_of(clipped(m0, reach), y, 1.0), loss_of(clipped(m1, reach), y, 1.0)
        g0, g1 = y - m0, y - m1
    else:
        reach = 1.0
        losses[0], losses[1] = loss_of(squash(m0), y, 1.0), loss_of(squash(m1), y, 1.0)
        g0, g1 = y / (1.0 + math.exp(y * m0)), y / (1.0 + math.exp(y * m1))
    losses[2], losses[3] = loss_of(clipped(m2, reach), y, 1.0), loss_of(clipped(m3, reach), y, 1.0)
    shift_weights(state.mix, losses)
    gain2, gain3 = (y - m2) / (1.0 + seen[_Q, 2]), (y - m3) / (1.0 + seen[_Q, 3])
    for j in range(size(x)):
        v = value(x, j)
        if v != 0.0:
            line = lines[np.uint64(position(x, j))]
            line[4] += g0 * v * (g0 * v)
            line[5] += g1 * v * (g1 * v)
            line[0] += RATES[0] * g0 * v / math.sqrt(line[4] + FIRST_SQUARE)
            line[1] += RATES[1] * g1 * v / math.sqrt(line[5] + FIRST_SQUARE)
            still, moving = FIRST_VARIANCE - line[6], FIRST_VARIANCE - line[7]
            line[2] += still * v * gain2
            line[3] += moving * v * gain3
            line[6] = FIRST_VARIANCE - still / (1.0 + still * v * v)
            line[7] = max(FIRST_VARIANCE - moving / (1.0 + moving * v * v) - DRIFT, 0.0)
    return UPDATED


@restart.of(DiagonalState)
def _restart(state: Any) -> None:
    forget_lines(state.lines)
    weigh_alike(state.mix)
    forget_scale(state.labels, state.regression)


@weights.of(DiagonalState)
def _weights(state: DiagonalState) -> Any:
    return state.lines[:, :EXPERTS] @ state.mix
