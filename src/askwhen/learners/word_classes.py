"""The experts of :mod:`askwhen.learners.word_experts` for several classes.

The variances D of the least-squares experts depend only on the instances, so all classes share them; every class has
its own weights and sums of squares G of the gradients. A row costs O(nnz k), and memory is O(d k).

Symbols: lines[feature, class] = (w, w, w, w, G, G); taken = 10 - D by feature, twice; m and gain by expert and class.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..compiled.steps import step
from ..linalg.rows import position, size, value
from ..linalg.vectors import LARGEST, all_within, clear
from .word_experts import DRIFT, EXPERTS, FIRST_SQUARE, FIRST_VARIANCE, RATES


def is_sound_classes(lines: np.ndarray, taken: np.ndarray) -> bool:
    """Whether the lines of a file are possible."""
    return (
        all_within(lines, -LARGEST, LARGEST)
        and all_within(lines[:, :, 4:], 0.0, LARGEST)
        and all_within(taken, 0.0, FIRST_VARIANCE)
    )


@step
def forget_classes(lines: Any, taken: Any) -> None:
    """Forget every feature, in place."""
    for i in range(len(lines)):
        for j in range(lines.shape[1]):
            clear(lines[i, j])
        clear(taken[i])


@step
def score_word_classes(lines: Any, taken: Any, x: Any, offset: int, m: Any, q: Any) -> None:
    """Write m by expert and class, and q of the last two experts; the features of the row begin at ``offset``."""
    q0 = q1 = 0.0
    for e in range(EXPERTS):
        clear(m[e])
    for i in range(size(x)):
        v, f = value(x, i), np.uint64(position(x, i) - offset)
        taken_here = taken[f]
        q0 += (FIRST_VARIANCE - taken_here[0]) * v * v
        q1 += (FIRST_VARIANCE - taken_here[1]) * v * v
        for j in range(m.shape[1]):
            line = lines[f, j]
            for e in range(EXPERTS):
                m[e, j] += line[e] * v
    q[0] = q[1] = 0.0
    q[2], q[3] = max(q0, 0.0), max(q1, 0.0)


@step
def note_word_gains(gain: Any, m: Any, q: Any, j: int, y: float) -> None:
    """Compute the step of each expert of class j for the label y, in place."""
    for e in range(2):
        gain[e, j] = y / (1.0 + math.exp(y * m[e, j]))
    for e in range(2, EXPERTS):
        gain[e, j] = (y - m[e, j]) / (1.0 + q[e])


@step
def learn_word_classes(lines: Any, taken: Any, x: Any, offset: int, gain: Any) -> None:
    """Let every expert of every class take its step, in place."""
    for i in range(size(x)):
        v, f = value(x, i), np.uint64(position(x, i) - offset)
        if v != 0.0:
            taken_here = taken[f]
            still, moving = FIRST_VARIANCE - taken_here[0], FIRST_VARIANCE - taken_here[1]
            for j in range(gain.shape[1]):
                learn_feature(lines[f, j], gain, j, v, still, moving)
            taken_here[0] = FIRST_VARIANCE - still / (1.0 + still * v * v)
            taken_here[1] = max(FIRST_VARIANCE - moving / (1.0 + moving * v * v) - DRIFT, 0.0)


@step
def learn_feature(line: Any, gain: Any, j: int, v: float, still: float, moving: float) -> None:
    """Let the experts of class j learn from one feature, in place."""
    for e in range(2):
        g = gain[e, j] * v
        line[4 + e] += g * g
        line[e] += RATES[e] * g / math.sqrt(line[4 + e] + FIRST_SQUARE)
    line[2] += still * v * gain[2, j]
    line[3] += moving * v * gain[3, j]
