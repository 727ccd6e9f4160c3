"""The second-order recursion for several classes that learn every asked label: one Q, and a weight vector per class.

Q, q and g of :mod:`askwhen.weights.second_order` depend only on the instances, so all classes share them: a round
costs O(d^2 + k d) instead of O(k d^2). Class j learns +1 from its own labels and -1 from all others::

    m_j = w_j.x,   w_j += g (y_j - m_j) / (1 + q),   then Q once

These are the operations of one learner for each class, in the same order, so the bits are the same.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import Family, step
from ..contracts.learner import (
    UPDATED,
    epoch,
    is_sound,
    learn,
    learns,
    quadratic,
    quadratic_bound,
    restart,
    score,
    weights,
    widen,
)
from ..linalg.vectors import all_finite, clear, look
from .class_slots import FIRST_SLOTS, TINY, choose, is_labelled, is_opened, register_classes, repeat_last
from .second_order import FullState, RootState


class SharedState(NamedTuple):
    """``one`` has Q, and the weights of a class without labels, with m = own; weights, m and ``mean`` = p by class."""

    one: Any
    weights: Any
    m: Any
    mean: Any
    own: Any
    best: Any
    opened: Any
    multi: bool


def share(one: RootState | FullState, opened: int, multi: bool = False) -> SharedState:
    """The state before the first round, for ``opened`` classes or labels; 0 means open classes."""
    k = opened or FIRST_SLOTS
    best, known = np.zeros(1, np.int64), np.array([opened])
    return SharedState(one, np.zeros((k, len(one.w))), np.zeros(k), np.zeros(k), np.zeros(1), best, known, multi)


@score.of(SharedState)
def _score(state: Any, x: Any) -> Any:
    """All m_j are divided by the same 1 + q, so that the best class is known before q is."""
    own, norm2, status = score(state.one, x)
    state.own[0] = own
    for j in range(len(state.m)):
        state.m[j] = look(state.weights[j], x)[0]
    gap = choose(state.m, state.best, state.opened[0], state.multi)
    return max(0.5 * gap, TINY), norm2, status


def form_of_all(state: Any, x: Any) -> Any:
    """The q that all classes share; writes the margin of every class, in place."""
    q = quadratic(state.one, x)
    for j in range(len(state.m)):
        state.mean[j] = state.m[j] / (1.0 + q)
    return q


def bound_of_all(state: Any, norm2: float) -> Any:
    """The bound of q, which all classes share."""
    return quadratic_bound(state.one, norm2)


def every_label(state: Any, mistaken: bool) -> Any:
    """Always True: the classes can share Q only if all of them learn every asked label."""
    return True


def every_update(state: Any) -> Any:
    """NaN: every update changes all weights."""
    return math.nan


def register_shared(kind: type) -> None:
    """Register the steps of states whose classes share the recursion of ``one``."""
    register_classes(kind)
    quadratic.of(kind)(form_of_all)
    quadratic_bound.of(kind)(bound_of_all)
    learns.of(kind)(every_label)
    epoch.of(kind)(every_update)


register_shared(SharedState)


@step
def move_all(state: Any, q: float, c: int, sign: float) -> None:
    """Add (sign 1) or remove (sign -1) a label of class c in the weights of every class, by g = Qx, in place."""
    g = state.one.g
    for j in range(len(state.m)):
        target = 1.0 if is_labelled(c, j, state.multi) else -1.0
        gain, w = sign * (target - state.m[j]) / (1.0 + sign * q), state.weights[j]
        for i in range(len(w)):
            w[i] += gain * g[i]


learn_after = Family("learn_after")
"""learn_after(one) -> whether g = Qx is available only after ``one`` has learnt."""


@learn_after.of(RootState)
def _after(one: Any) -> Any:
    return True


@learn_after.of(FullState)
def _before(one: Any) -> Any:
    return False


@learn.of(SharedState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    if not learn_after(state.one):
        move_all(state, q, int(y), 1.0)
    learn(state.one, x, norm2, state.own[0], q, -1.0)
    if learn_after(state.one):
        move_all(state, q, int(y), 1.0)
    return UPDATED


@restart.of(SharedState)
def _restart(state: Any) -> None:
    restart(state.one)
    for j in range(len(state.m)):
        clear(state.weights[j])


@widen.of(SharedState)
def _widen(state: SharedState, slots: int) -> SharedState:
    more, m, mean = (repeat_last(array, slots) for array in (state.weights, state.m, state.mean))
    return state._replace(weights=more, m=m, mean=mean)


@is_sound.of(SharedState)
def _is_sound(state: SharedState) -> Any:
    return is_sound(state.one) and all_finite(state.weights) and is_opened(state)


@weights.of(SharedState)
def _weights(state: SharedState) -> Any:
    return state.weights[: int(state.opened[0])].copy()
