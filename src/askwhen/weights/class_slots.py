"""The fields and steps that all states for several classes share: margins, the prediction, and the number of classes.

==========  ==========================================================
mean        p_j, an entry for every slot; with open classes, there is always a spare slot
best        the open class with the largest p_j, the first among equals, or -1 where none is open
opened      number of classes so far: all of them, unless classes are open
multi       whether several labels may apply at once: best is then a bit mask with a bit for each label that does, the
            label of a round is such a number too, and z is the smallest |p_j|, that of the most uncertain label
==========  ==========================================================
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..compiled.steps import step
from ..contracts.learner import best_class, open_class, write_margins
from ..linalg.vectors import all_within

FIRST_SLOTS = 4
"""Number of slots that open classes start with; more are added when these are taken."""

MOST_LABELS = 52
"""Largest number of labels that may apply at once: a set of them is a bit mask that a float must hold exactly."""

TINY = 5e-324
"""The gap of a tie, instead of 0: a positive margin means that the predicted class is predicted to be right."""


def register_classes(kind: type) -> None:
    """Register the steps that all states for several classes share."""
    best_class.of(kind)(_best)
    write_margins.of(kind)(_write_margins)
    open_class.of(kind)(_open)


@step
def is_labelled(c: int, j: int, multi: bool) -> Any:
    """Whether the label of a round is class j, or has label j."""
    return (c >> j) & 1 == 1 if multi else j == c


@step
def choose(p: Any, best: Any, k: int, multi: bool) -> Any:
    """Write the prediction to ``best``, in place; return twice its margin."""
    if not multi:
        return find_best(p, best, k)
    found, nearest = 0, math.inf
    for j in range(k):
        if p[j] > 0.0:
            found |= 1 << j
        nearest = min(nearest, abs(p[j]))
    best[0] = found
    return 2.0 * nearest


@step
def loss_by_gap(p: Any, c: int, multi: bool) -> Any:
    """Loss of margins between -1 and 1 for the label c: by the gap to the best other class, or the mean over labels."""
    k = len(p)
    if not multi:
        other = -1.0
        for j in range(k):
            if j != c:
                other = max(other, p[j])
        off = 0.5 * (p[c] - other) - 1.0
        return off * off
    total = 0.0
    for j in range(k):
        off = p[j] - (1.0 if is_labelled(c, j, multi) else -1.0)
        total += off * off
    return total / k


@step
def find_best(p: Any, best: Any, k: int) -> Any:
    """Write the index of the largest of the first k to ``best``, the first among equals; return its gap to the next.

    The next may be a spare slot, that is a class without a label so far; where that one is the largest, the gap is 0.
    """
    best[0] = -1
    if k == 0:
        return 0.0
    first, second, top = 0, p[k] if k < len(p) else -math.inf, p[0]
    for j in range(1, k):
        if p[j] > top:
            second, top, first = max(second, top), p[j], j
        else:
            second = max(second, p[j])
    best[0] = first
    return max(top - second, 0.0)


def is_opened(state: Any) -> bool:
    """Whether the number of classes and the best class of a file are possible."""
    k = int(state.opened[0])
    most = 2**k - 1 if state.multi else max(k - 1, 0)
    return 0 <= k <= len(state.mean) and all_within(state.best, -1, most)


def repeat_last(array: np.ndarray, slots: int, axis: int = 0) -> np.ndarray:
    """The same array with this many slots along an axis; the new ones are copies of the last."""
    more = slots - array.shape[axis]
    return np.concatenate([array, np.repeat(array.take([-1], axis), more, axis)], axis)


def _best(state: Any) -> Any:
    return state.best[0]


def _write_margins(state: Any, record: Any, i: int) -> None:
    for j in range(record.shape[1]):
        record[i, j] = state.mean[j]


def _open(state: Any) -> Any:
    k = state.opened[0]
    if k + 1 >= len(state.mean):
        return -1
    state.opened[0] = k + 1
    return k
