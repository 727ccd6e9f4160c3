"""The experts of :mod:`askwhen.learners.word_experts` for several classes.

The variances D of the least-squares experts depend only on the instances, so all classes share them; every class has
its own weights and sums of squares G of the gradients. A row costs O(nnz k). Only features of rows whose label was
learnt have a line, which is made when it is needed: of a vocabulary of 262,144 places most never have one, and a line
takes 48 bytes for each class.

==========  ==========================================================
where       by feature: 0, or 1 more than the place of its line
lines       by line and class: (w, w, w, w, G, G)
taken       by line: 10 - D, twice
used        the number of lines that features have; there is room for more
m, gain     by expert and class
==========  ==========================================================
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..compiled.steps import step
from ..linalg.rows import position, size, value
from ..linalg.vectors import LARGEST, all_within, clear
from .word_experts import DRIFT, EXPERTS, FIRST_SQUARE, FIRST_VARIANCE, RATES

FIRST_ROOM = 64
"""Number of lines that there is room for at first; later there is twice as much as before."""


def new_lines(words: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(lines, taken, where, used) of so many features and classes, before the first label."""
    return np.zeros((0, k, 6)), np.zeros((0, 2)), np.zeros(words, np.int32), np.zeros(1, np.int64)


@step
def has_room_for_words(lines: Any, used: Any, entries: int) -> Any:
    """Whether so many features more can have a line."""
    return used[0] + entries <= len(lines)


def with_room(lines: np.ndarray, taken: np.ndarray, used: np.ndarray, entries: int) -> tuple[np.ndarray, np.ndarray]:
    """``lines`` and ``taken`` with room for so many features more."""
    before, rows = len(lines), max(FIRST_ROOM, 2 * len(lines), int(used[0]) + entries)
    more = np.zeros((rows, *lines.shape[1:])), np.zeros((rows, 2))
    more[0][:before], more[1][:before] = lines, taken
    return more


def mixed_lines(lines: np.ndarray, where: np.ndarray, k: int, mix: np.ndarray) -> np.ndarray:
    """The weights w by class and feature, of the first k classes and of the experts together."""
    found = np.zeros((k, len(where)))
    known = np.flatnonzero(where)
    found[:, known] = (lines[where[known] - 1, :k, :EXPERTS] @ mix).T
    return found


def of_every_feature(lines: np.ndarray, taken: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(lines, taken, where, used) of arrays with a line for every feature, as earlier versions have them."""
    known = np.flatnonzero(lines.any(axis=(1, 2)) | taken.any(axis=1))
    where = np.zeros(len(lines), np.int32)
    where[known] = 1 + np.arange(len(known))
    return lines[known], taken[known], where, np.array([len(known)])


def is_sound_classes(lines: np.ndarray, taken: np.ndarray, where: np.ndarray, used: np.ndarray) -> bool:
    """Whether the lines of a file are possible."""
    n = int(used[0])
    if len(lines) != len(taken) or not 0 <= n <= len(lines) or not all_within(where, 0, n):
        return False
    if not np.array_equal(np.sort(where[where > 0]), 1 + np.arange(n)) or lines[n:].any() or taken[n:].any():
        return False
    return (
        all_within(lines, -LARGEST, LARGEST)
        and all_within(lines[:, :, 4:], 0.0, LARGEST)
        and all_within(taken, 0.0, FIRST_VARIANCE)
    )


@step
def forget_classes(lines: Any, taken: Any, where: Any, used: Any) -> None:
    """Forget every feature, in place."""
    for i in range(used[0]):
        for j in range(lines.shape[1]):
            clear(lines[i, j])
        clear(taken[i])
    for f in range(len(where)):
        where[f] = 0
    used[0] = 0


@step
def score_word_classes(lines: Any, taken: Any, where: Any, x: Any, offset: int, m: Any, q: Any) -> None:
    """Write m by expert and class, and q of the last two experts; the features of the row begin at ``offset``."""
    q0 = q1 = 0.0
    for e in range(EXPERTS):
        clear(m[e])
    for i in range(size(x)):
        v, at = value(x, i), where[np.uint64(position(x, i) - offset)]
        if at == 0:
            q0 += FIRST_VARIANCE * v * v
            q1 += FIRST_VARIANCE * v * v
            continue
        taken_here = taken[at - 1]
        q0 += (FIRST_VARIANCE - taken_here[0]) * v * v
        q1 += (FIRST_VARIANCE - taken_here[1]) * v * v
        for j in range(m.shape[1]):
            line = lines[at - 1, j]
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
def learn_word_classes(lines: Any, taken: Any, where: Any, used: Any, x: Any, offset: int, gain: Any) -> None:
    """Let every expert of every class take its step, in place; there must be room for new lines."""
    for i in range(size(x)):
        v, f = value(x, i), np.uint64(position(x, i) - offset)
        if v != 0.0:
            if where[f] == 0:
                used[0] += 1
                where[f] = used[0]
            at = where[f] - 1
            taken_here = taken[at]
            still, moving = FIRST_VARIANCE - taken_here[0], FIRST_VARIANCE - taken_here[1]
            for j in range(gain.shape[1]):
                learn_feature(lines[at, j], gain, j, v, still, moving)
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
