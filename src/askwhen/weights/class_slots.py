"""What all states for several classes have in common: the margin of each, what is predicted, and how many are open.

==========  ==========================================================
mean        p_j, an entry for every room; where classes may appear, there is always a room that is not open
best        the open class with the largest p_j, the first among equals, or -1 where none is open
opened      how many classes are open: all of them, unless they appear by and by
multi       whether any of the labels may apply at once: best then has a bit for each label that does, the label of a
            round is such a number too, and z is the smallest |p_j|, that of the label one is least sure of
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
"""For classes that appear by and by; there are more when these are taken."""

MOST_LABELS = 52
"""Of which any may apply at once: as many as a float has bits."""

TINY = 5e-324
"""So that the gap of a tie is positive: the positive side of the rule's boundary stands for "predicted right"."""


def register_classes(kind: type) -> None:
    """Let states of this type answer for their classes."""
    best_class.of(kind)(_best)
    write_margins.of(kind)(_write_margins)
    open_class.of(kind)(_open)


@step
def is_labelled(c: int, j: int, multi: bool) -> Any:
    """Whether the label of a round is class j, or has label j."""
    return (c >> j) & 1 == 1 if multi else j == c


@step
def choose(p: Any, best: Any, k: int, multi: bool) -> Any:
    """Note what is predicted, in place; twice the margin of that."""
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
    """What margins between -1 and 1 cost where c is told: by the gap to the best other class, or label by label."""
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
    """Note which of the first k is the largest, the first among equals, in place; how far it is above the next.

    The next may be a class that was never told; where that one is the largest, nothing is known to be above it.
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
    """Whether what a file says of the classes that are open, and of the best of them, can be."""
    k = int(state.opened[0])
    most = 2**k - 1 if state.multi else max(k - 1, 0)
    return 0 <= k <= len(state.mean) and all_within(state.best, -1, most)


def repeat_last(array: np.ndarray, rooms: int, axis: int = 0) -> np.ndarray:
    """The same array with more rooms along an axis, which hold what the last one holds."""
    more = rooms - array.shape[axis]
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
