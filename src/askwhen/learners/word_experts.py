"""Four experts that learn each feature separately, for wide and sparse features, mostly words.

Not from a paper. A round costs O(nnz) and memory is O(d), however many labels were asked for. Each feature has one line
of eight numbers: four weights w, two sums of squares G, and 10 - D for two variances D. All are zero before the first
label, so that a feature that never occurs takes no space in a file.

==============  ==========================================================
gradient, 2 x   logistic loss by AdaGrad (Duchi, Hazan, Singer 2011), rates .5 and 1: with g = y / (1 + e^(y m)),
                G += (g v)^2, w += rate g v / sqrt(G + 10^-8). p = h / sqrt(1 + h^2), h = m / 4
least squares   with a diagonal matrix: q = sum of D v^2, w += D v (y - m) / (1 + q), D = D / (1 + D v^2).
                p = m / (1 + q), clipped; its loss is that of m, clipped
the same        with drift: every label that touches a feature adds .1 to its D, up to 10
==============  ==========================================================

For numbers the experts learn (y - y_bar) / s, see :mod:`askwhen.learners.label_scale`; for the gradients g = y - m, and
p = m, clipped.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..compiled.lanes import alike, at, put
from ..compiled.steps import step
from ..linalg.rows import position, size, value
from ..linalg.vectors import LARGEST, all_within, clear
from .label_scale import clipped

NAMES = ("gradient, rate .5", "gradient, rate 1", "squares, still", "squares, drifting")
EXPERTS = 4
RATES = (0.5, 1.0)
FIRST_SQUARE = 1e-8
FIRST_VARIANCE = 10.0
DRIFT = 0.1


def is_sound_lines(lines: np.ndarray) -> bool:
    """Whether the lines of a file are possible."""
    squares, variances = lines[:, 4:6], lines[:, 6:]
    sound = all_within(squares, 0.0, LARGEST) and all_within(variances, 0.0, FIRST_VARIANCE)
    return sound and all_within(lines, -LARGEST, LARGEST)


@step
def forget_lines(lines: Any) -> None:
    """Forget every feature, in place."""
    for i in range(len(lines)):
        clear(lines[i])


@step
def squash(m: float) -> Any:
    """The margin of a logistic expert, within -1 and 1."""
    h = 0.25 * m
    return h / math.sqrt(1.0 + h * h)


@step
def score_words(lines: Any, x: Any, offset: int, norm2: float, m: Any, q: Any) -> None:
    """Write m and q of the four experts, in one pass over the row, whose features begin at ``offset``."""
    m0 = m1 = q0 = q1 = alike(0.0)
    n = size(x)
    for j in range(0, n - n % 2, 2):
        a, b = value(x, j), value(x, j + 1)
        here = lines[np.uint64(position(x, j) - offset)]
        there = lines[np.uint64(position(x, j + 1) - offset)]
        m0 = m0 + at(here, 0) * alike(a)
        m1 = m1 + at(there, 0) * alike(b)
        q0 = q0 + at(here, 4) * alike(a * a)
        q1 = q1 + at(there, 4) * alike(b * b)
    if n % 2 == 1:
        a, here = value(x, n - 1), lines[np.uint64(position(x, n - 1) - offset)]
        m0 = m0 + at(here, 0) * alike(a)
        q0 = q0 + at(here, 4) * alike(a * a)
    put(m, 0, m0 + m1)
    taken = q0 + q1
    put(q, 0, alike(FIRST_VARIANCE * norm2) - taken)
    for e in range(2, EXPERTS):
        q[e] = max(q[e], 0.0)


@step
def margin_of_words(e: int, m: float, q: float, reach: float, regression: bool) -> Any:
    """The margin of expert e, within the reach of the labels."""
    if e >= 2:
        return clipped(m / (1.0 + q), reach)
    return clipped(m, reach) if regression else squash(m)


@step
def margin_for_loss_of_words(e: int, m: float, reach: float, regression: bool) -> Any:
    """The margin from which an expert's loss is computed; for least squares it is not divided by 1 + q."""
    return clipped(m, reach) if e >= 2 or regression else squash(m)


@step
def learn_words(lines: Any, x: Any, offset: int, m: Any, q: Any, y: float, regression: bool) -> None:
    """Let all four experts learn a label, in place, after ``score_words`` of the same row."""
    if regression:
        g0, g1 = y - m[0], y - m[1]
    else:
        g0, g1 = y / (1.0 + math.exp(y * m[0])), y / (1.0 + math.exp(y * m[1]))
    gain2, gain3 = (y - m[2]) / (1.0 + q[2]), (y - m[3]) / (1.0 + q[3])
    for j in range(size(x)):
        v = value(x, j)
        if v != 0.0:
            line = lines[np.uint64(position(x, j) - offset)]
            line[4] += g0 * v * (g0 * v)
            line[5] += g1 * v * (g1 * v)
            line[0] += RATES[0] * g0 * v / math.sqrt(line[4] + FIRST_SQUARE)
            line[1] += RATES[1] * g1 * v / math.sqrt(line[5] + FIRST_SQUARE)
            still, moving = FIRST_VARIANCE - line[6], FIRST_VARIANCE - line[7]
            line[2] += still * v * gain2
            line[3] += moving * v * gain3
            line[6] = FIRST_VARIANCE - still / (1.0 + still * v * v)
            line[7] = max(FIRST_VARIANCE - moving / (1.0 + moving * v * v) - DRIFT, 0.0)
